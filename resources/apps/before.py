"""Runs commands one after another, and then is the last of them.

    python before.py prepare --once ';' migrate ';' serve 127.0.0.1 8000

If one fails, the rest is not run.
"""

import os
import subprocess
import sys

BETWEEN = ";"

words = sys.argv[1:]
while BETWEEN in words:
    end = words.index(BETWEEN)
    first, words = words[:end], words[end + 1 :]
    status = subprocess.call(first)
    if status:
        sys.exit(f"error: {first[0]} ended with status {status}")
os.execvp(words[0], words)
