"""What a workstation with Windows sends to machines and prints, tested on Linux."""

from __future__ import annotations

import asyncio
import io
import socket
import struct
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PureWindowsPath
from typing import IO, Any

import pytest

from workbench.machines import ssh
from workbench.machines.base import Platform
from workbench.machines.bundle import Bundle, archived
from workbench.servers.catalogue import Catalogue
from workbench.servers.runtimes import python
from workbench.terminal import guard
from workbench.workloads.wire import Wire

THERE = Platform("3.11.2", "x86_64", "glibc", "2.36")


def members(archive: IO[bytes]) -> dict[str, tuple[int, bytes]]:
    """Modes and contents, of links their targets."""
    found = {}
    with tarfile.open(fileobj=archive) as tar:
        for each in tar:
            file = tar.extractfile(each) if each.isreg() else None
            found[each.name] = (each.mode, file.read() if file else each.linkname.encode())
    return found


async def test_a_bundle_states_its_modes_links_and_line_ends(home: Path, tmp_path: Path) -> None:
    source = tmp_path / "agent.py"
    source.write_bytes(b"a = 1\n")
    source.chmod(0o600)
    bundle = Bundle(
        "python",
        THERE,
        "",
        packages="lib/site-packages",
        sources={"remote/agent.py": source},
        texts={"pyvenv.cfg": "home = /usr/bin\nversion = 3\n"},
        links={"bin/python": "/usr/bin/python3"},
    )
    archive = await archived(bundle)
    with archive.open("rb") as file:
        found = members(file)
    assert found["remote/agent.py"] == (0o644, b"a = 1\n")
    assert found["pyvenv.cfg"] == (0o644, b"home = /usr/bin\nversion = 3\n")
    assert found["bin/python"][1] == b"/usr/bin/python3"


def test_programs_of_a_server_may_be_executed_where_files_have_no_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server").mkdir()
    for name, content in {"run.sh": "#!/bin/sh\n", "app.py": "a = 1\n"}.items():
        (tmp_path / "server" / name).write_text(content)
    monkeypatch.setattr(sys, "platform", "win32")
    packed = io.BytesIO()
    ssh.pack(tmp_path / "server", "here", packed)
    modes = {name: mode for name, (mode, _) in members(packed).items()}
    assert modes == {"here": 0o755, "here/run.sh": 0o755, "here/app.py": 0o644}


class Receiver(ssh.SshMachine):
    """Keeps what it is asked to unpack, and where."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    run_dir = "/tmp/run"  # type: ignore[assignment]
    cache_dir = "/var/cache"  # type: ignore[assignment]
    python = ("/opt/python/bin/python3",)  # type: ignore[assignment]
    platform = THERE  # type: ignore[assignment]

    async def _receive(self, what: str, archive: IO[bytes], folder: str, place: str) -> None:
        self.asked.append((folder, list(members(archive))))


async def test_paths_of_a_machine_keep_their_slashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server.py").write_text("")
    machine, entry = Receiver(), Catalogue.load()["tornado"]
    as_here = python.place(machine, entry)
    for module in (ssh, python):
        monkeypatch.setattr(module, "Path", PureWindowsPath)
    await machine.put(tmp_path / "server.py", "servers/own-1/server.py")
    assert machine.asked == [("servers/own-1", ["server.py"])]
    assert python.place(machine, entry) == as_here


@pytest.mark.parametrize("said", ["≥ 4,700/s", "Für Kollegen"])
def test_redirected_output_is_utf8_whatever_the_code_page(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp850", newline="\r\n"))
    guard()
    print(said, flush=True)
    assert raw.getvalue() == f"{said}\n".encode()


@contextmanager
def impatient_server() -> Iterator[int]:
    """It greets, and closes with the request unread."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)

        async def serve() -> None:
            loop = asyncio.get_running_loop()
            connection, _ = await loop.sock_accept(listening)
            await asyncio.sleep(0)
            await loop.sock_sendall(connection, b"HTTP/1.0 200 OK\r\n\r\nPong!")
            # Unread data make it a reset; this one does not wait for them.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 0, 0))
            connection.close()

        task = asyncio.get_running_loop().create_task(serve())
        yield listening.getsockname()[1]
        task.cancel()


async def test_a_reply_is_read_where_a_reset_discards_what_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop: Any = asyncio.get_running_loop()
    send: Callable[[socket.socket, bytes], Any] = loop.sock_sendall

    async def as_windows(sock: socket.socket, data: bytes) -> None:
        await send(sock, data)
        if data.startswith(b"GET"):
            for _ in range(50):
                await asyncio.sleep(0.001)
            while True:  # what was not taken by now is gone
                try:
                    if not sock.recv(65_536):
                        return
                except OSError:
                    return

    monkeypatch.setattr(loop, "sock_sendall", as_windows)
    with impatient_server() as port:
        end = await Wire("127.0.0.1", port).whole(b"GET / HTTP/1.0\r\n\r\n")
    assert end.reply.body == b"Pong!"
