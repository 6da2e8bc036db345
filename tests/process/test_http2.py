"""HTTP/2: the gate and h2load against a server that counts, and servers that do not speak it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from agents import reported
from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from workbench.analysis import histogram
from workbench.load import registry
from workbench.load.base import Client, PointSpec
from workbench.machines.base import Machine
from workbench.servers.catalogue import Catalogue, entry_of
from workbench.servers.certificate import issue
from workbench.workloads.http.http2_gate import Http2Wire, gate
from workbench.workloads.registry import declaration, workload
from workbench.workloads.wire import Fault, Wire

ENTRY = Catalogue.load(extra_dirs=[])["hypercorn"]
CERTIFICATE = issue()


class Counting:
    """A server of HTTP/2 that answers after a moment, and counts its calls by method and status."""

    def __init__(self, status: str = "200", pause_s: float = 0.005) -> None:
        self.calls: list[tuple[str, str, int]] = []
        self._status = status
        self._pause_s = pause_s

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        h2.initiate_connection()
        writer.write(h2.data_to_send())
        asked: dict[int, dict[str, str]] = {}
        bodies: dict[int, int] = {}

        def answer(stream: int) -> None:
            call = asked.pop(stream)
            self.calls.append((call[":method"], call[":authority"], bodies.pop(stream, 0)))
            with contextlib.suppress(ProtocolError):
                headers = [(":status", self._status), ("content-type", "text/plain")]
                h2.send_headers(stream, headers)
                h2.send_data(stream, b"Pong!", end_stream=True)
                writer.write(h2.data_to_send())

        with contextlib.suppress(ConnectionError, ProtocolError):
            while data := await reader.read(65_536):
                for event in h2.receive_data(data):
                    match event:
                        case events.RequestReceived(stream_id=int(stream)):
                            asked[stream] = {str(n): str(v) for n, v in event.headers or ()}
                        case events.DataReceived(stream_id=int(stream), data=bytes(body)):
                            bodies[stream] = bodies.get(stream, 0) + len(body)
                            h2.acknowledge_received_data(event.flow_controlled_length or 0, stream)
                        case events.StreamEnded(stream_id=int(stream)):
                            asyncio.get_running_loop().call_later(self._pause_s, answer, stream)
                writer.write(h2.data_to_send())
        writer.transport.abort()


@contextlib.asynccontextmanager
async def listening(serve: Callable[..., Any], tls: ssl.SSLContext | None) -> AsyncIterator[Wire]:
    serving: set[asyncio.Task[Any]] = set()

    async def noted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.current_task() or asyncio.ensure_future(asyncio.sleep(0)))
        await serve(reader, writer)

    async with await asyncio.start_server(noted, "127.0.0.1", 0, ssl=tls) as server:
        port = server.sockets[0].getsockname()[1]
        trusted = CERTIFICATE.context() if tls else None
        yield Wire("127.0.0.1", port, patience_s=5.0, tls=trusted)
    await asyncio.gather(*serving)


@pytest.fixture
def sealed(tmp_path: Path) -> ssl.SSLContext:
    (tmp_path / "both.pem").write_text(CERTIFICATE.certificate + CERTIFICATE.key)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "both.pem")
    return context


@pytest.mark.parametrize("over_tls", [True, False])
async def test_the_gate_passes_a_server_that_speaks_it(
    sealed: ssl.SSLContext, over_tls: bool
) -> None:
    sealed.set_alpn_protocols(["h2"])
    async with listening(Counting().serve, sealed if over_tls else None) as wire:
        result = await gate(wire, ENTRY)
        assert result.protocols == ["http/2" if over_tls else "h2c"]
        assert "HTTP/2 200" in result.reply and "takes 100 at once" in result.sentences[1]
        # A body beyond the window of a stream, as a plan may have it.
        plan = workload(protocol=result.protocols[0], method="POST", body="x" * 65_536)
        asked = declaration("http/2").own_calls(wire, plan, ENTRY, result, {})
        assert (await asked).protocols == result.protocols


async def test_the_gate_says_why_a_server_does_not_speak_it(sealed: ssl.SSLContext) -> None:
    async def http1(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(24)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65_536)
        writer.close()

    async def said(serve: Callable[..., Any], tls: ssl.SSLContext | None = None) -> str:
        async with listening(serve, tls) as wire:
            with pytest.raises(Fault) as fault:
                await gate(wire, ENTRY)
        return str(fault.value)

    assert "begins with 'HTTP/1.1 400" in await said(http1)
    assert "closed the connection when HTTP/2 began" in await said(closing)
    assert "does not offer HTTP/2" in await said(Counting().serve, sealed)
    assert "answered with 503 instead of 200" in await said(Counting("503").serve)


async def test_h2load_counts_what_the_server_counts(
    machine: Machine, sealed: ssl.SSLContext
) -> None:
    if not shutil.which("h2load"):
        pytest.skip("h2load is not installed")
    sealed.set_alpn_protocols(["h2"])
    server = Counting()
    async with listening(server.serve, sealed) as wire:
        found = registry.load_tool("h2load")
        load = await found.start(
            await registry.equipped(found, [Client(machine, machine.cpus[-1:])])
        )
        spec = PointSpec(
            host=wire.host,
            port=wire.port,
            workload="http2",
            options={"protocol": "http/2", "streams": 3, "method": "PUT", "body": "abc"}
            | {"headers": [["Host", "shop.example"]]},
            mode="closed",
            concurrency=2,
            seconds=0.5,
            tls={"certificate": CERTIFICATE.certificate},
        )
        report = await reported(load, spec)
        await load.close()
    counts, times = report.counts, histogram.percentiles(report.histograms.service)
    assert (counts.errors, report.complaints) == ({}, [])
    # Six calls may be under way when it ends.
    assert 20 < counts.succeeded <= len(server.calls) <= counts.succeeded + 6
    assert set(server.calls) == {("PUT", "shop.example", 3)}
    assert times is not None and times.count == counts.succeeded and times.p50 > 5_000


async def test_a_running_server_is_asked_as_curl_asks_it() -> None:
    if not shutil.which("curl"):
        pytest.skip("curl is not installed")
    async with listening(Counting("201").serve, None) as wire:
        address = f"http://{wire.host}:{wire.port}/items?page=2"
        entry = entry_of(address)
        plan = declaration("h2c").at(workload(protocol="h2c"), entry)
        result, expected = await declaration("h2c").probe(wire, plan, entry, {})
        argv = ["curl", "-s", "--http2-prior-knowledge", "-w", " %{http_version} %{http_code}"]
        run = asyncio.to_thread(subprocess.check_output, [*argv, address], text=True, timeout=20)
        body, version, status = (await run).split()
        assert (version, status, len(body)) == ("2", "201", 5)
        assert expected == {"/items?page=2": {"status": 201, "type": "text/plain", "bytes": 5}}
        assert result.protocols == ["h2c"]


async def test_a_connection_that_the_server_ends_is_said() -> None:
    class Ending(Counting):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asyncio.get_running_loop().call_later(0.05, writer.close)
            await super().serve(reader, writer)

    async with listening(Ending(pause_s=1.0).serve, None) as wire:
        with pytest.raises(Fault, match="closed the connection"):
            await Http2Wire.like(wire).one_by_one(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 2)
