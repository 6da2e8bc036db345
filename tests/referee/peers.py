"""Clients that others wrote: h11 on asyncio, curl, wrk; all tell what they saw as `client` does."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
import zlib
from pathlib import Path

import h11

from .client import Calls, Told

HEADERS = 200_000
"""The most bytes of a head that h11 takes here."""


class OverH11(asyncio.Protocol):
    """The calls of one connection, one after the other."""

    def __init__(self, calls: Calls, told: Told) -> None:
        self._calls, self._told, self._left = calls, told, calls.calls
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEADERS)
        self._status = self._length = self._crc = self._came = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def _ask(self) -> None:
        self._began = time.monotonic()
        head, _, body = self._calls.request.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        method, path, _ = first.split(b" ")
        headers = [tuple(line.split(b": ", 1)) for line in lines]
        self._h11.send(h11.Request(method=method, target=path, headers=headers))
        if body:
            self._h11.send(h11.Data(body))
        self._h11.send(h11.EndOfMessage())
        self._status = self._length = self._crc = self._came = 0
        self._transport.write(self._calls.request)

    def data_received(self, data: bytes) -> None:
        self._came += len(data)
        self._h11.receive_data(data)
        self._understand(ended=False)

    def eof_received(self) -> None:
        if not self.done.done():
            self._h11.receive_data(b"")
            self._understand(ended=True)

    def connection_lost(self, error: Exception | None) -> None:
        self._lost("reset" if error else "closed")

    def _understand(self, *, ended: bool) -> None:
        try:
            while not self.done.done():
                event = self._h11.next_event()
                if isinstance(event, h11.Response):
                    self._status = event.status_code
                elif isinstance(event, h11.Data):
                    self._length += len(event.data)
                    self._crc = zlib.crc32(event.data, self._crc)
                elif isinstance(event, h11.EndOfMessage):
                    self._answered()
                elif isinstance(event, h11.ConnectionClosed):
                    self._lost("closed")
                elif event in (h11.NEED_DATA, h11.PAUSED):
                    return
        except h11.RemoteProtocolError:
            self._lost(("cut" if self._came else "closed") if ended else "malformed")

    def _answered(self) -> None:
        if self._h11.trailing_data[0]:
            self._lost("malformed")
            return
        self._told.whole += 1
        self._told.bodies.add((self._status, self._length, self._crc))
        self._told.times_s.append(time.monotonic() - self._began)
        self._left -= 1
        if not self._left or self._h11.their_state is not h11.DONE:
            self._lost("closed")
        else:
            self._h11.start_next_cycle()
            self._ask()

    def _lost(self, why: str) -> None:
        if not self.done.done():
            if self._left:
                self._told.lost[why] += self._left
            self.done.set_result(None)
            self._transport.abort()


def with_h11(calls: Calls) -> Told:
    told = Told()
    places = asyncio.Semaphore(calls.concurrency or calls.connections)

    async def one(number: int) -> None:
        if calls.rate_per_s:
            await asyncio.sleep(number / calls.rate_per_s)
        async with places:
            _, protocol = await asyncio.get_running_loop().create_connection(
                lambda: OverH11(calls, told),
                "127.0.0.1",
                calls.port,
                ssl=calls.tls,
                server_hostname="pongbench" if calls.tls else None,
            )
            try:
                await asyncio.wait_for(asyncio.shield(protocol.done), calls.timeout_s)
            except TimeoutError:
                protocol.connection_lost(None)

    async def every() -> None:
        await asyncio.gather(*map(one, range(calls.connections)))

    cpu = time.thread_time()
    asyncio.run(every())
    told.cpu_s = time.thread_time() - cpu
    return told


CURL = {0: "whole", 18: "cut", 28: "timeout", 52: "closed", 55: "reset", 56: "reset"}
"""What its exit codes mean here."""


def with_curl(calls: Calls, folder: Path, certificate: Path) -> Told:
    """Each connection by a curl of its own, one after the other."""
    head, _, body = calls.request.partition(b"\r\n\r\n")
    path, version = head.split(b"\r\n")[0].decode().split(" ")[1:]
    (folder / "body").write_bytes(body)
    scheme = "https" if calls.tls else "http"
    url = f"{scheme}://pongbench:{calls.port}{path}"
    out = [part for _ in range(calls.calls) for part in ("-o", "/dev/null", url)]
    sent = ["--data-binary", f"@{folder / 'body'}", "-H", "Expect:"] if body else []
    keeps = ["-H", "Connection: keep-alive"] if version == "HTTP/1.0" and calls.calls > 1 else []
    argv = ["curl", "-q", "-s", "--noproxy", "*", "--max-time", str(calls.timeout_s), *sent, *keeps]
    argv += ["--resolve", f"pongbench:{calls.port}:127.0.0.1", "--cacert", str(certificate)]
    argv += [
        f"--http{version[-3:]}",
        "-w",
        "%{exitcode} %{http_code} %{size_download} %{time_total}\n",
    ]
    told = Told()
    for _ in range(calls.connections):
        result = subprocess.run([*argv, *out], capture_output=True, text=True, check=False)
        for line in result.stdout.splitlines():
            code, status, length, took_s = line.split()
            why = CURL.get(int(code), f"curl-{code}")
            if why == "whole":
                told.whole += 1
                told.bodies.add((int(status), int(length), -1))
                told.times_s.append(float(took_s))
            else:
                told.lost[why] += 1
    return told


def with_wrk(calls: Calls) -> Told:
    """For a second; only whether any reply was not whole."""
    path = calls.request.split(b" ", 2)[1].decode()
    url = f"http://127.0.0.1:{calls.port}{path}"
    argv = ["wrk", "-t1", "-c2", "-d1s", "--timeout", f"{calls.timeout_s:.0f}s", url]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    told = Told(whole=int(re.findall(r"(\d+) requests in", said)[0]))
    failed = re.search(r"Socket errors: connect \d+, read (\d+), write (\d+), timeout (\d+)", said)
    for why, count in zip(
        ("reset", "reset", "timeout"), failed.groups() if failed else (), strict=False
    ):
        if int(count):
            told.lost[why] += int(count)
    if bad := re.search(r"Non-2xx or 3xx responses: (\d+)", said):
        told.lost["malformed"] += int(bad[1])
    return told
