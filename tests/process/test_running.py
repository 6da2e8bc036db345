"""Servers that are running already, which no one here wrote or started, measured where they are."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import socket
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from oracle import eventually

from workbench.consent import Load, OfRunning, Repeated
from workbench.documents import AnyDocument, Note, PointStop, RunStart, Window
from workbench.errors import BadInput, PongbenchError
from workbench.messages.reasons import reasons_of
from workbench.plan.model import Plan
from workbench.plan.reading import plan_from_data
from workbench.remote.agent.websocket import CLOSE, PING, PONG, accept_of, server_frame
from workbench.run.engine import Consents
from workbench.run.factory import engine_for
from workbench.servers.address import Running


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def accepts(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


@contextlib.contextmanager
def files_served(folder: Path, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Python's own server of files."""
    (folder / "index.html").write_text("hello")
    argv = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(argv, cwd=folder, stdout=quiet, stderr=quiet) as process:
        try:
            assert eventually(lambda: accepts(port))
            yield process
        finally:
            process.terminate()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@contextlib.asynccontextmanager
async def answering(reply: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that answers everything with this, and closes; its address."""
    server = await asyncio.start_server(answer_with(reply), "127.0.0.1", 0, ssl=tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        yield f"http{'s' * bool(tls)}://localhost:{port}/items?page=2"


Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def answer_with(reply: bytes) -> Answer:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply)
            await writer.drain()
        writer.close()

    return answer


def certified(folder: Path, *, days: int) -> tuple[Path, ssl.SSLContext]:
    """A certificate of localhost that ends in so many days, and the context of its server."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=100))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path, private = folder / "certificate.pem", folder / "key.pem"
    path.write_bytes(certificate.public_bytes(Encoding.PEM))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, private)
    return path, context


def plan(address: str, workload: dict[str, object] | None = None, **about: object) -> Plan:
    once = {"protocol": "http/1.1", **(workload or {})}
    return plan_from_data(
        {
            "servers": [{"address": address, **about}],
            "workload": once,
            "rates": [100, 200],
            "seconds": 1,
            "warm_up": None,
            "calibrate": False,
            "looks": 1,
        },
        name="Running",
    )


async def run(plan: Plan, consents: Consents | None = None) -> list[AnyDocument]:
    documents: list[AnyDocument] = []
    await engine_for(plan, documents.append, consents=consents).run()
    return documents


async def refused(plan: Plan) -> str:
    documents: list[AnyDocument] = []
    with pytest.raises((BadInput, PongbenchError)) as caught:
        await engine_for(plan, documents.append).run()
    assert not documents
    return str(caught.value)


async def test_it_is_measured_where_it_is_with_its_processes(tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}/index.html"
    with files_served(tmp_path, port) as process:
        documents = await run(plan(address, name="Files"))
        assert process.poll() is None
    start = next(d for d in documents if isinstance(d, RunStart))
    (record,) = start.servers
    assert (record.id, record.name, record.files) == (address, "Files", {})
    assert str(process.pid) in record.running["process"]
    assert record.running["connects_to"] == "127.0.0.1"
    stops = [d for d in documents if isinstance(d, PointStop)]
    assert [stop.counts.succeeded for stop in stops] == [100, 200]
    assert all(stop.server_rss_bytes and stop.values["cpu_us_per_call"] for stop in stops)
    # A plan of the session asks the same server the same.
    assert plan_from_data(start.plan, name="again").running == {address: Running(name="Files")}


@pytest.mark.parametrize(
    ("when", "again", "complete"),
    [
        (PointStop, True, [True, True]),
        (Window, True, [False, True]),
        (PointStop, False, [True, False]),
    ],
)
async def test_only_points_without_the_server_all_the_time_are_excluded(
    when: type[PointStop | Window], again: bool, complete: list[bool], tmp_path: Path
) -> None:
    port = free_port()
    with contextlib.ExitStack() as first, contextlib.ExitStack() as second:
        process = first.enter_context(files_served(tmp_path, port))
        documents: list[AnyDocument] = []

        def take(document: AnyDocument) -> None:
            documents.append(document)
            if isinstance(document, when) and document.point == 1 and process.poll() is None:
                first.close()
                if again:
                    second.enter_context(files_served(tmp_path, port))

        await engine_for(plan(f"http://127.0.0.1:{port}/"), take).run()
    one, two = stops = [d for d in documents if isinstance(d, PointStop)]
    assert [stop.complete for stop in stops] == complete
    codes = [{each.code for each in reasons_of(stop)} for stop in stops]
    assert ["server-changed" not in each for each in codes] == complete
    (noted,) = (d for d in documents if isinstance(d, Note) and d.topic == "server-changed")
    between = documents.index(one) < documents.index(noted) < documents.index(two)
    assert between == noted.data.get("between", False) == (when is PointStop)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n", "/login"),
        (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "login"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "404"),
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "500"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP"),
    ],
)
async def test_what_would_not_succeed_is_said_before_any_load(reply: bytes, said: str) -> None:
    async with answering(reply) as address:
        text = await refused(plan(address))
    assert said in text


async def test_a_reply_that_the_plan_expects_is_measured() -> None:
    async with answering(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as address:
        documents = await run(plan(address, {"expect_status": 404}))
    assert all(d.counts.succeeded for d in documents if isinstance(d, PointStop))


async def test_where_nothing_answers_it_says_so() -> None:
    assert "connection refused" in await refused(plan(f"http://127.0.0.1:{free_port()}/"))


async def test_a_certificate_is_checked_as_a_browser_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tls = certified(tmp_path, days=100)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))  # One that this computer trusts.
    async with answering(OK, tls) as address:
        documents = await run(plan(address, {"tls": "full"}))
    assert all(d.counts.succeeded for d in documents if isinstance(d, PointStop))
    path, tls = certified(tmp_path, days=-1)
    async with answering(OK, tls) as address:
        assert "expired" in await refused(plan(address, {"tls": "full"}))
        documents = await run(plan(address, {"tls": "full"}, insecure=True))
    assert all(d.counts.succeeded for d in documents if isinstance(d, PointStop))
    (record,) = (d.servers[0] for d in documents if isinstance(d, RunStart))
    assert record.running["insecure"]


async def test_a_websocket_is_measured_over_tls_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tls = certified(tmp_path, days=100)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    heads = set()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """An echo, as far as one of short frames goes."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            named = dict(line.split(": ", 1) for line in head.splitlines()[1:-1])
            heads.add((head.splitlines()[0], named["Host"]))
            accept = accept_of(named["Sec-WebSocket-Key"].encode())
            upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
            writer.write(b"HTTP/1.1 101 Switching Protocols\r\n" + upgrade)
            writer.write(b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            while True:
                first, length = await reader.readexactly(2)
                mask = await reader.readexactly(4)
                data = await reader.readexactly(length & 0x7F)
                payload = bytes(byte ^ mask[n % 4] for n, byte in enumerate(data))
                opcode = PONG if first & 0xF == PING else first & 0xF
                writer.write(server_frame(opcode, payload))
                if opcode == CLOSE:
                    break
        writer.transport.abort()

    async with await asyncio.start_server(echo, "127.0.0.1", 0, ssl=tls) as server:
        address = f"wss://localhost:{server.sockets[0].getsockname()[1]}/chat?room=1"
        workload = {"protocol": "websocket", "connections": 20, "tls": "full", "p99_ms": 5_000}
        data = {"servers": [address], "workload": workload, "rates": [100], "seconds": 1}
        documents = await run(plan_from_data(data | {"warm_up": None, "looks": 1}, name="t"))
    (stop,) = (d for d in documents if isinstance(d, PointStop))
    assert (stop.counts.succeeded, stop.counts.errors) == (120, {})
    authority = address.removeprefix("wss://").partition("/")[0]
    assert heads == {("GET /chat?room=1 HTTP/1.1", authority)}


async def test_a_unix_socket_is_measured(tmp_path: Path) -> None:
    place = tmp_path / "app.sock"
    async with await asyncio.start_unix_server(answer_with(OK), place):
        documents = await run(plan(f"unix:{place}:/items"))
    assert all(d.counts.succeeded for d in documents if isinstance(d, PointStop))


async def test_a_process_that_is_not_there_is_an_error() -> None:
    async with answering(OK) as address:
        assert "4194303" in await refused(plan(address, process="pid:4194303"))


async def test_requests_that_change_something_need_consent() -> None:
    asked = []

    async def no(question: OfRunning) -> bool:
        asked.append(question)
        return False

    post = {"method": "POST", "body": "{}"}
    async with answering(OK) as address:
        with pytest.raises(PongbenchError):
            await run(plan(address, post), Consents(load=no))
    (question,) = asked
    assert isinstance(question, Repeated)
    assert question.requests == ("POST /items?page=2",)
    assert "300" in question.often


async def test_another_host_is_loaded_with_consent_only() -> None:
    asked = []

    async def no(question: OfRunning) -> bool:
        asked.append(question)
        return False

    elsewhere = plan("http://203.0.113.7/")
    with pytest.raises(PongbenchError):
        await run(elsewhere, Consents(load=no))
    assert asked == [Load("203.0.113.7", ("203.0.113.7",), "up to 200 GET/s")]
    again = msgspec.structs.replace(elsewhere, repeats=2)
    with pytest.raises(PongbenchError):
        await run(again)  # Nobody is there to agree, and nothing is remembered.
