"""Starts the sampler, imported or copied to a machine as a folder of any name."""

from __future__ import annotations

import importlib
import os
import sys

if not __package__:
    place, __package__ = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, place)

if __name__ == "__main__":
    importlib.import_module(f"{__package__}.program").main()
