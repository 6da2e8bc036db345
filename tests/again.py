"""Run pytest, and what failed once more by itself.

Tests that drive real servers disturb one another, and a machine's neighbours disturb them all. What
fails again, alone, has failed. What then passes is listed, so that nobody overlooks that it is
fragile. More than a few failures have another cause, and are not tried again.

    python -m tests.again [pytest's arguments]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 4
"""At most this many failed tests are run again."""
LAST_FAILED = Path(__file__).parents[1] / ".pytest_cache/v/cache/lastfailed"


def failed() -> set[str]:
    try:
        return set(json.loads(LAST_FAILED.read_text()))
    except FileNotFoundError:
        return set()


def pytest(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def main(arguments: list[str]) -> int:
    LAST_FAILED.unlink(missing_ok=True)
    status = pytest(arguments)
    fragile = failed()
    if status != 1 or not 0 < len(fragile) <= MOST:
        return status
    print("\nOnce more, alone:", *sorted(fragile), sep="\n  ", flush=True)
    status = pytest(["-n", "0", "-m", "", *sorted(fragile)])
    if status == 0:
        print("\nFailed beside other tests and passed alone:", *sorted(fragile), sep="\n  ")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
