"""A hostile replacement for one of our programs on a machine: prints what a case specifies.

`script` makes one; standard library only. What it says (`items`):
    TEXT               a line
    {raw: TEXT}        without a newline
    {times: N, of: TEXT}   so often, without newlines but those in it
    {forever: TEXT}    the same until nobody listens any more
    {bytes: HEX}       a line of bytes
    {exit: STATUS}     end here
    {deaf: true}       no more is read or said
In texts, @nonce@ and @id@ stand for what it was told.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

READY = (
    '- {"ev": "ready", "run": "/nowhere", "python": "/usr/bin/python3", "version": "3.11.2",'
    ' "cpus": [0]}'
)
HELLO = '{"ev": "hello"}'

_PROGRAM = """\
import json, os, sys, time

CASE = json.loads({case!r})
known = {{"nonce": sys.argv[1] if len(sys.argv) > 1 else "", "id": ""}}


def write(data):
    while data:
        data = data[os.write(1, data):]


def fill(text):
    for name, value in known.items():
        text = text.replace("@" + name + "@", value)
    return text.encode()


def say(items):
    for item in items:
        if isinstance(item, str):
            write(fill(item) + b"\\n")
        elif "raw" in item:
            write(fill(item["raw"]))
        elif "times" in item:
            write(fill(item["of"]) * item["times"])
        elif "forever" in item:
            text = fill(item["forever"])
            while True:
                write(text * (1 + 65536 // len(text)))
        elif "bytes" in item:
            write(bytes.fromhex(item["bytes"]) + b"\\n")
        elif "exit" in item:
            os._exit(item["exit"])
        elif "deaf" in item:
            time.sleep(600)


def lines():
    rest = b""
    while chunk := os.read(0, 65536):
        *whole, rest = (rest + chunk).split(b"\\n")
        yield from map(json.loads, filter(None, whole))


try:
    says, on = CASE["says"], CASE.get("on", {{}})
    heard = lines()
    if CASE["door"] == "runner":
        known["nonce"] = next(heard)["nonce"]
    say(says)
    for command in heard:
        op = command.get("op", "watch")
        known["id"] = str(command.get("id", command.get("n", "")))
        if op in on:
            say(on[op])
        elif op == "ping":
            pong = {{"ev": "pong", "n": command["n"], "monotonic_us": time.monotonic_ns() // 1000}}
            say(["- " + json.dumps(pong)])
        elif op == "point":
            say([json.dumps({{"ev": "armed", "id": command["id"], "worker": 0}})])
        elif op == "bye":
            break
except BrokenPipeError:
    pass
"""


def script(folder: Path, door: str, case: dict[str, Any]) -> Path:
    """A single file for a Python without options."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{door}.py"
    data = json.dumps({**case, "door": door})
    data = data.replace("@ready@", json.dumps(READY)[1:-1]).replace(
        "@hello@", json.dumps(HELLO)[1:-1]
    )
    path.write_text(_PROGRAM.format(case=data))
    return path
