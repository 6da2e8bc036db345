"""Loads a locustfile, and says what is wrong with it:  main(file, *tags, master)"""

from __future__ import annotations

import json
import os
import sys

from . import detach


def main(path: str, tags: str, exclude_tags: str, master: str) -> int:
    """Print {"problem": sentence, "classes": names} as the only line."""
    answer = os.dup(1)
    detach()  # A locustfile may print.
    from .locustfile import Refused, load  # noqa: PLC0415  after that

    said: dict[str, object] = {"problem": "", "classes": []}
    try:
        shapes = bool(json.loads(master))
        environment = load(path, json.loads(tags), json.loads(exclude_tags), shapes=shapes)
        said["classes"] = [each.__name__ for each in environment.user_classes]
    except Refused as refused:
        said["problem"] = str(refused)
    os.write(answer, json.dumps(said).encode() + b"\n")
    os._exit(0)  # Its threads, if any, are of no use.


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
