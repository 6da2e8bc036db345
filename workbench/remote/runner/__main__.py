"""Starts the runner from its folder."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    place, name = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    sys.path[0] = place
    importlib.import_module(f"{name}.main").main()
