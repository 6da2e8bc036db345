"""Servers deployed for real on this machine: shipped ones and faulty ones of a user."""

import asyncio
import os
import re
import shutil
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from gate_checks import patient_gate
from oracle import PATIENCE_S, eventually, processes_with

from workbench.errors import BadInput, PongbenchError
from workbench.machines.local import LocalMachine, open_local
from workbench.servers.catalogue import Catalogue
from workbench.servers.certificate import issue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.gate import GateResult, gate
from workbench.workloads.registry import able
from workbench.workloads.wire import Wire

SHIPPED = Catalogue.load(extra_dirs=[])
SOCKETS = ("asyncio-streams", "gevent", "epoll-2w")
"""Enough to try what all entries share; `make catalogue-check` tries every one."""


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all, so that each runtime is built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
async def machine(cache: Path) -> AsyncIterator[LocalMachine]:
    machine = await open_local(cache_dir=cache)
    yield machine
    await machine.close()


def own(name: str) -> ServerEntry:
    return load_entry(Path(__file__).parent / "servers" / name)


async def try_gate(
    machine: LocalMachine, name: str, impatience_s: float = PATIENCE_S, patience_s: float = 5.0
) -> GateResult:
    """What the gate finds about one of our own servers."""
    deployment = await deploy(machine, own(name))
    try:
        return await gate(deployment, patience_s=patience_s, impatience_s=impatience_s)
    finally:
        await deployment.stop()


async def failure(machine: LocalMachine, name: str, ready_within_s: float = 30.0) -> str:
    """Why one of our own servers cannot be deployed, on port N; that nothing of it is left
    running."""
    entry = msgspec.structs.replace(own(name), ready_within_s=ready_within_s)
    with pytest.raises(PongbenchError) as caught:
        await deploy(machine, entry)
    assert eventually(lambda: not processes_with(f"{machine.run_dir}/servers/"))
    return re.sub(r"port \d+", "port N", str(caught.value))


def copies(machine: LocalMachine, server: str) -> list[Path]:
    return list(Path(machine.run_dir, "servers").glob(f"{server}-*"))


@pytest.mark.parametrize("id", SOCKETS)
async def test_a_shipped_server_runs_passes_the_gate_and_leaves_nothing(
    machine: LocalMachine, id: str
) -> None:
    entry = SHIPPED[id]
    texts: list[str] = []
    deployment = await deploy(machine, entry, backlog=333, nofile=4096, notify=texts.append)
    assert deployment.backlog == 333
    (limits,) = await machine.read([f"/proc/{deployment.pid}/limits"])
    assert re.search(r"^Max open files +4096 ", limits or "", re.MULTILINE)

    result = await patient_gate(deployment)
    assert result.passed, result.sentences
    assert result.reply == "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!"
    assert (result.bytes_on_wire, result.header_bytes, result.surplus_bytes) == (45, 38, 2)
    assert result.closes_first == "server" == entry.closes_first
    assert able(result) == ["pong"]
    assert result.processes >= entry.processes

    record = deployment.record()
    assert record.runtime.startswith("CPython 3.")
    assert record.version == pinned_version(entry)
    assert record.gate["header_bytes"] == 38
    assert set(record.files) >= {"server.yaml", "server.py"}
    assert texts[-1] == f"Starting {entry.name} on port {deployment.port}"

    assert deployment.alive()
    await deployment.stop()
    assert not deployment.alive()
    assert await machine.listening(deployment.port) is None
    assert not processes_with(f"{machine.run_dir}/servers/")


def pinned_version(entry: ServerEntry) -> str:
    if not entry.requirements_path:
        return "standard library"
    pins = entry.requirements_path.read_text().split()
    return next(pin for pin in pins if pin.startswith(f"{entry.framework}==")).replace("==", " ")


async def test_a_server_runs_on_the_cores_it_is_given(machine: LocalMachine) -> None:
    core = machine.cpus[-1]
    deployment = await deploy(machine, own("slow"), cpus=[core])
    assert os.sched_getaffinity(deployment.pid) == {core}
    await deployment.stop()


async def test_two_deployments_of_one_server_run_side_by_side(machine: LocalMachine) -> None:
    first, second = await asyncio.gather(*(deploy(machine, own("slow")) for _ in range(2)))
    assert first.port != second.port
    assert (await patient_gate(first)).passed
    await first.stop()
    assert (await patient_gate(second)).passed
    await second.stop()


async def test_a_slow_server_passes(machine: LocalMachine) -> None:
    assert (await try_gate(machine, "slow")).passed


async def test_a_reply_in_two_segments_is_reported_because_it_waits_for_the_client(
    machine: LocalMachine,
) -> None:
    result = await try_gate(machine, "keeps-alive")
    assert result.kept_call_us >= 35_000
    reported = "waits with the last for the client to acknowledge the first" in result.sentences[-1]
    # On a busy machine it takes longer than that alone would.
    assert reported or result.kept_call_us > 60_000


async def test_http_support_is_judged_by_behaviour(machine: LocalMachine) -> None:
    result = await try_gate(machine, "keeps-alive")
    assert result.passed, result.sentences
    assert result.protocols == ["http/1.0", "http/1.1"]
    assert (result.keep_alive, result.pipelining, result.closes_first) == (True, 3, "server")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("wrong-body", "It answered 'Pang!' instead of 'Pong!'."),
        ("not-found", "It answered with 404 instead of 200."),
        ("no-http", "Its reply is no HTTP, it begins with '220 mail.example ESM'."),
        ("half-reply", "It closed after 3 of 5 body bytes."),
        ("mute", "It did not answer within 2 s."),
        ("stalls", "It fell silent for 2 s after 41 bytes of its reply."),
        ("never-closes", "It did not close the connection after its reply."),
        (
            "says-keep-alive",
            "It closed the connection after 1 of 10 calls, so it does not keep connections alive;"
            " write `protocols: [http/1.0]` in its server.yaml.",
        ),
    ],
)
async def test_the_gate_reports_what_a_faulty_server_did(
    machine: LocalMachine, name: str, sentence: str
) -> None:
    patience_s = 2.0 if name in ("mute", "stalls", "never-closes") else 5.0
    result = await try_gate(machine, name, impatience_s=1.0, patience_s=patience_s)
    assert not result.passed
    assert result.sentences == [sentence]


async def test_a_server_that_does_not_speak_tls_is_reported(machine: LocalMachine) -> None:
    for ready in ("tcp", "http"):
        entry = msgspec.structs.replace(own("not-found"), tls=[], ready=ready)
        deployment = await deploy(machine, entry, certificate=issue())
        result = await gate(deployment)
        await deployment.stop()
        assert not result.passed
        assert result.sentences[0].startswith("Its TLS handshake failed (")


async def test_a_server_that_waits_for_the_end_of_tls_before_it_closes_has_closed(
    tmp_path: Path,
) -> None:
    sealed = issue()
    for name, text in (("certificate", sealed.certificate), ("key", sealed.key)):
        (tmp_path / name).write_text(text)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate", tmp_path / "key")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!")
        writer.close()  # asyncio waits for the client's own end of TLS, for 30 s.

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        wire = Wire("127.0.0.1", port, patience_s=20.0, tls=sealed.context())
        end = await wire.whole(b"GET / HTTP/1.0\r\n\r\n")
    assert (end.how, end.reply.body) == ("closed", b"Pong!")


async def test_the_gate_reports_a_server_that_exited_in_the_meantime(machine: LocalMachine) -> None:
    result = await try_gate(machine, "tires")
    assert not result.passed
    assert result.sentences[-1] == "It ended with status 0 meanwhile."


async def test_the_gate_reports_a_server_that_a_leaving_client_crashes(
    machine: LocalMachine,
) -> None:
    result = await try_gate(machine, "dies-with-its-client")
    assert not result.passed
    before, after = result.sentences
    assert before.startswith("It did not survive a client that reset its connection: It ")
    assert after.startswith("It ended with status 1 meanwhile; the last it said was 'Con")


async def test_a_server_that_dies_at_once_is_reported_with_its_last_lines(
    machine: LocalMachine,
) -> None:
    assert await failure(machine, "dies-at-once") == (
        "dies-at-once on localhost ended with status 1 before it listened on port N."
        " Last output:\n    reading pong.conf\n    pong.conf: no such file"
    )


async def test_a_server_that_goes_to_the_background_is_told_to_stay_in_the_foreground(
    machine: LocalMachine,
) -> None:
    assert await failure(machine, "daemonizes") == (
        "daemonizes on localhost ended with status 0 before it listened on port N"
        " (it has to stay in the foreground), without any output."
    )


async def test_a_server_that_never_gets_ready_is_killed_and_reported(machine: LocalMachine) -> None:
    assert await failure(machine, "never-ready", ready_within_s=3.0) == (
        "never-ready on localhost did not accept connections on port N within 3 s."
        " Last output:\n    waiting for a database that is not there"
    )


async def test_a_server_that_accepts_before_its_workers_are_there_is_waited_for(
    machine: LocalMachine,
) -> None:
    assert await failure(machine, "hires-late", ready_within_s=3.0) == (
        "hires-late on localhost did not answer a call on port N within 3 s, without any output."
    )

    def hire(text: str) -> None:
        if text.startswith("Starting"):
            for folder in Path(machine.run_dir, "servers").glob("hires-late-*"):
                folder.joinpath("hired").touch()

    deployment = await deploy(machine, own("hires-late"), notify=hire)
    assert (await patient_gate(deployment)).passed
    await deployment.stop()


async def test_a_server_is_ready_when_all_its_processes_are_idle(machine: LocalMachine) -> None:
    deployment = await deploy(machine, own("still-starting"))
    there = await machine.read([f"/proc/{deployment.pid}/cwd/rested"])
    await deployment.stop()
    assert there == [""]


async def test_a_server_that_cannot_bind_is_reported_like_a_port_in_use(
    machine: LocalMachine,
) -> None:
    message = await failure(machine, "port-taken")
    assert re.match(r"port-taken cannot listen on port N of localhost \(address already", message)


async def test_a_server_that_ignores_sigterm_is_killed_with_its_children(
    machine: LocalMachine,
) -> None:
    deployment = await deploy(machine, own("ignores-sigterm"))
    mark = f"{machine.run_dir}/tools/"
    assert eventually(lambda: len(processes_of(deployment)) == 2)
    await deployment.stop()
    assert processes_of(deployment) == []
    assert not processes_with(mark)


def processes_of(deployment: Deployment) -> list[int]:
    """The processes that run its program, whatever their parent."""
    command = f"server.py {deployment.port}"
    return [pid for pid, argv in processes_with("server.py").items() if command in argv]


@pytest.mark.parametrize("leads_to", ["nowhere", "../elsewhere", "{absolute}", "itself"])
async def test_a_link_that_leads_nowhere_on_a_machine_is_refused_in_one_sentence(
    machine: LocalMachine, tmp_path: Path, leads_to: str
) -> None:
    folder = shutil.copytree(own("slow").folder, tmp_path / "linked")
    (tmp_path / "elsewhere").mkdir()
    link = folder / "itself"
    link.symlink_to(leads_to.format(absolute=folder / "server.py"))
    with pytest.raises(BadInput) as caught:
        await deploy(machine, load_entry(folder))
    assert str(link) in str(caught.value) and str(link.readlink()) in str(caught.value)


async def test_links_within_its_folder_are_copied_with_a_server(
    machine: LocalMachine, tmp_path: Path
) -> None:
    folder = shutil.copytree(own("slow").folder, tmp_path / "linked")
    (folder / "more").mkdir()
    (folder / "more" / "up").symlink_to("..")
    (folder / "other.py").symlink_to("server.py")
    deployment = await deploy(machine, load_entry(folder))
    await deployment.stop()
    (copied,) = copies(machine, "linked")
    assert (copied / "more" / "up" / "other.py").samefile(copied / "server.py")


async def test_what_cannot_be_copied_is_named_in_one_sentence(
    machine: LocalMachine, tmp_path: Path
) -> None:
    folder = shutil.copytree(own("slow").folder, tmp_path / "piped")
    os.mkfifo(folder / "pipe")
    with pytest.raises(PongbenchError) as caught:
        await deploy(machine, load_entry(folder))
    assert "pipe` is a named pipe" in str(caught.value) and "[" not in str(caught.value)


async def test_an_unavailable_server_says_why(machine: LocalMachine, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    (folder / "server.yaml").write_text(
        "name: Gone\nfamily: socket\n"
        "unavailable: {reason: No registry has it., tried: '2026-11-20', instead: gevent}\n"
    )
    with pytest.raises(PongbenchError, match=r"^Gone cannot be run: No registry has it\.$"):
        await deploy(machine, load_entry(folder))
