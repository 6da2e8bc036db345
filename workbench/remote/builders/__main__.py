"""Starts a task, in a folder of any name."""

from __future__ import annotations

import importlib
import os
import sys

if __name__ == "__main__":
    place, name = os.path.split(os.path.dirname(os.path.abspath(__file__)))
    # In place of the folder itself, whose modules are found as those of the package.
    sys.path[0] = place
    importlib.import_module(name).main(*sys.argv[1:])
