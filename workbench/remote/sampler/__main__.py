"""Starts the sampler, copied to a machine as a folder of any name."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    place, name = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    sys.path[0] = place
    importlib.import_module(f"{name}.program").main()
