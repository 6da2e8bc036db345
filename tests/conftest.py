"""What holds for all tests."""

from __future__ import annotations

import os


def pytest_configure() -> None:
    """Tables are as wide as in a pipe; the processes of pytest-xdist give them a size."""
    os.environ.pop("COLUMNS", None)
    os.environ.pop("LINES", None)
