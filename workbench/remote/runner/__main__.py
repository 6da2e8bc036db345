"""Starts the runner from its folder. Its modules are found there and nowhere else."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__init__.py")
    spec = importlib.util.spec_from_file_location("runner", package)
    assert spec
    sys.modules["runner"] = importlib.util.module_from_spec(spec)
    importlib.import_module("runner.main").main()
