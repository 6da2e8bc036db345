"""Small wheels made on the spot, so that runtimes are built without a network."""

from __future__ import annotations

import zipfile
from pathlib import Path


def make_wheel(folder: Path, name: str, version: str, code: str) -> Path:
    """A wheel with one module `name` of this code."""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for inside, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(inside, text)
    return path


PING_PONG = """
import contextlib
import socket


def serve(port):
    with socket.create_server(("127.0.0.1", port), backlog=512) as listener:
        while True:
            client, _ = listener.accept()
            with client, contextlib.suppress(OSError):
                client.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nPong!\\r\\n")
"""
