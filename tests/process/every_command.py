"""Runs commands of `pongbench`, one after another, and writes how each ended, as JSON: its exit
code, or the traceback of what nobody caught. Arguments: the file for that, the commands as JSON."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

from app.__main__ import main

result, commands = sys.argv[1:]
ended: list[int | str] = []
for words in json.loads(commands):
    try:
        # As the kernel passed them: bytes, in whatever encoding.
        ended.append(
            int(
                main(
                    [
                        word.encode("latin-1").decode(
                            sys.getfilesystemencoding(), "surrogateescape"
                        )
                        for word in words
                    ]
                )
            )
        )
    except SystemExit as end:
        ended.append(int(end.code or 0))
    except BaseException:
        ended.append(traceback.format_exc())
sys.stdout.flush()
Path(result).write_text(json.dumps(ended), encoding="utf-8")
