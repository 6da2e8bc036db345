"""This computer as a machine, used as the rest of the program uses it."""

from __future__ import annotations

import asyncio
import os
import resource
import secrets
import shutil
import signal
import socket
import stat
import sys
from pathlib import Path

import pytest
from oracle import PATIENCE_S, eventually, files_below, processes_with
from pids import parent

from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.bundle import pack
from workbench.machines.facts import here
from workbench.machines.local import open_local
from workbench.machines.runner_client import RUNNER, Command, Process


def python(program: str, **options: object) -> Command:
    return Command([sys.executable, "-c", program], **options)  # type: ignore[arg-type]


async def output(process: Process) -> list[bytes]:
    return [line async for line in process.lines()]


async def test_a_program_runs_in_a_small_clean_environment(machine: Machine) -> None:
    program = "import os; print(*os.environ, os.getcwd(), os.environ['TMPDIR'], sep='\\n')"
    process = await machine.start(python(program, env={"MINE": "1"}))
    *names, folder, temporary = await output(process)
    assert b"MINE" in names
    assert b"PYTEST_CURRENT_TEST" not in names
    assert folder.decode() == machine.run_dir
    assert temporary.decode().startswith(machine.run_dir)
    assert await process.wait() == 0


async def test_its_exit_status_or_signal_is_reported(machine: Machine) -> None:
    assert await (await machine.start(python("raise SystemExit(3)"))).wait() == 3
    abort = "import os, signal; os.kill(os.getpid(), signal.SIGABRT)"
    assert await (await machine.start(python(abort))).wait() == -signal.SIGABRT


async def test_its_last_lines_are_kept_for_messages(machine: Machine) -> None:
    process = await machine.start(python("[print(n) for n in range(100)]"))
    await process.wait()
    assert process.tail() == [str(number) for number in range(80, 100)]
    assert len(await output(process)) == 100


async def test_it_can_be_written_to(machine: Machine) -> None:
    process = await machine.start(python("print(ascii(input()))"))
    await process.send("größer\udcff".encode("utf-8", "surrogateescape"))
    assert await output(process) == [ascii("größer\udcff").encode()]


async def test_a_request_for_too_many_descriptors_gets_the_allowed_number(machine: Machine) -> None:
    program = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    process = await machine.start(python(program, nofile=1 << 40))
    (line,) = await output(process)
    soft, hard = map(int, line.split())
    assert soft == hard >= resource.getrlimit(resource.RLIMIT_NOFILE)[1]


async def test_descriptors_and_cores_are_what_was_asked_for(machine: Machine) -> None:
    core = machine.cpus[-1]
    program = (
        "import os, resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0],"
        " *os.sched_getaffinity(0))"
    )
    process = await machine.start(python(program, nofile=1234, cpus=[core]))
    assert await output(process) == [f"1234 {core}".encode()]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (
            Command(["no-such-program"], env={"PATH": "/usr/bin"}),
            "No such file or directory: no-such-program",
        ),
        (Command(["/etc"]), "Permission denied: /etc"),
        (Command(["true"], cwd="nowhere"), "No such file or directory: "),
        (Command(["true"], cpus=[4000]), "core 4000 is not among those this machine allows"),
        (Command(["a\0b"]), "embedded null byte"),
    ],
    ids=["no such program", "no permission", "no such folder", "no such core", "null byte"],
)
async def test_a_failed_start_is_reported_in_one_sentence(
    machine: Machine, command: Command, sentence: str
) -> None:
    with pytest.raises(PongbenchError, match=f"^'localhost' cannot start it: {sentence}"):
        await machine.start(command)
    assert await (await machine.start(Command(["true"]))).wait() == 0


async def test_stop_sends_sigterm_first(machine: Machine) -> None:
    polite = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\n"
        "print('ready', flush=True); time.sleep(600)"
    )
    process = await machine.start(python(polite))
    await anext(process.lines())
    assert await process.stop() == 5


async def test_stop_kills_processes_that_ignore_signals_or_daemonised(machine: Machine) -> None:
    mark = secrets.token_hex(12)
    deaf = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.fork() and os._exit(0)\n"
        "print('ready', flush=True); time.sleep(600)"
    )
    other = await machine.start(Command([sys.executable, "-c", "import time; time.sleep(600)"]))
    process = await machine.start(Command([sys.executable, "-c", deaf, mark]))
    lines = process.lines()
    await anext(lines)
    await anext(lines)
    await asyncio.to_thread(eventually, lambda: len(processes_with(mark)) == 2)
    assert await process.stop(0.1) == -signal.SIGKILL
    assert processes_with(mark) == {}
    assert other.pid in processes_with("time.sleep(600)")


async def test_stop_kills_daemons_of_a_program_that_has_ended(machine: Machine) -> None:
    mark = secrets.token_hex(12)
    daemon = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for descriptor in 0, 1, 2:\n"
        "        os.close(descriptor)\n"
        "    time.sleep(600)"
    )
    process = await machine.start(Command([sys.executable, "-c", daemon, mark]))
    assert await output(process) == []
    assert await process.wait() == 0
    await asyncio.to_thread(eventually, lambda: len(processes_with(mark)) == 1)
    assert await process.stop(0.1) == 0
    assert processes_with(mark) == {}


async def test_stopping_an_ended_program_reports_how_it_ended(machine: Machine) -> None:
    process = await machine.start(python("raise SystemExit(4)"))
    await process.wait()
    assert await process.stop() == 4
    assert await process.stop() == 4


async def test_files_and_trees_are_copied(machine: Machine, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "below").mkdir(parents=True)
    (tree / "below" / "script").write_text("#!/bin/sh\necho it runs\n")
    (tree / "below" / "script").chmod(0o755)
    where = await machine.put(tree, "copied/here")
    assert Path(where).is_relative_to(machine.run_dir)
    process = await machine.start(Command([f"{where}/below/script"]))
    assert await output(process) == [b"it runs"]
    with pytest.raises(PongbenchError, match=r"^Cannot copy .*absent to 'localhost': no such file"):
        await machine.put(tmp_path / "absent", "absent")


async def test_a_partly_removed_upload_is_replaced_completely(
    machine: Machine, tmp_path: Path
) -> None:
    archive = tmp_path / "made.tar.gz"
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "program").write_text("1")
    pack(tmp_path / "tree", archive)
    place = Path(await machine.bring(archive, "made/one"))
    for name in (".whole", "program"):
        (place / name).unlink()
    (place / "left").write_text("")
    assert await machine.bring(archive, "made/one") == str(place)
    assert (place / "program").read_text() == "1"
    assert not (place / "left").exists()
    (tmp_path / "torn.tar.gz").write_bytes(archive.read_bytes()[:60])
    with pytest.raises(PongbenchError, match=r"^Cannot unpack torn.tar.gz on 'localhost': "):
        await machine.bring(tmp_path / "torn.tar.gz", "made/two")
    shutil.rmtree(place.parent)


async def test_it_reports_the_listeners_and_their_backlog(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=7) as listener:
        port = listener.getsockname()[1]
        assert await machine.listening(port) == (0, 7)
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        async with asyncio.timeout(PATIENCE_S):  # the kernel may queue a client after it connected
            while await machine.listening(port) != (3, 7):
                pass
        for client in clients:
            client.close()
    assert await machine.listening(port) is None


async def test_its_clock_is_ours(machine: Machine) -> None:
    offset_us, uncertainty_us = await machine.clock()
    assert abs(offset_us) <= uncertainty_us


async def test_its_facts_are_those_of_this_computer(machine: Machine) -> None:
    facts = await machine.facts()
    assert str(facts["kernel"]).endswith(os.uname().release)
    assert facts["cpus_allowed"] == sorted(os.sched_getaffinity(0))
    assert facts["sysctls"]["net.core.somaxconn"] > 0  # type: ignore[index]
    read = here()
    assert {name: read.get(name) for name in ("kernel", "cpu_count", "sysctls")} == {
        name: facts.get(name) for name in ("kernel", "cpu_count", "sysctls")
    }


async def test_when_the_machine_dies_every_waiter_gets_an_error(tmp_path: Path) -> None:
    machine = await open_local(cache_dir=tmp_path / "cache")
    process = await machine.start(python("import time; print(1, flush=True); time.sleep(600)"))
    lines = process.lines()
    await anext(lines)
    waiting = [
        asyncio.create_task(process.wait()),
        asyncio.create_task(anext(lines)),  # type: ignore[arg-type]
        asyncio.create_task(machine.start(python("input()"))),
    ]
    runners = [
        pid for pid, argv in processes_with(str(RUNNER)).items() if parent(pid) == os.getpid()
    ]
    os.kill(runners[0], signal.SIGKILL)
    await asyncio.wait(waiting[:2])
    for task in waiting[:2]:
        with pytest.raises(PongbenchError, match=r"^The machine 'localhost' is gone: .*\.$"):
            await task
    with pytest.raises(PongbenchError, match="is gone"):
        await machine.start(python("pass"))
    await asyncio.gather(*waiting, return_exceptions=True)
    await machine.close()
    assert files_below(tmp_path / "cache") == []


async def test_an_abandoned_start_is_undone(machine: Machine) -> None:
    mark = secrets.token_hex(12)
    sleeper = Command([sys.executable, "-c", "import time; time.sleep(600)", mark])
    starting = asyncio.create_task(machine.start(sleeper))
    await asyncio.sleep(0)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    await machine.clock()  # by now the runner has started it, and heard that it must go
    await asyncio.to_thread(eventually, lambda: not processes_with(mark))
    assert processes_with(mark) == {}


async def test_a_path_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a directory should be")
    with pytest.raises(PongbenchError, match=r"^Runs cannot be kept in .*blocked.*PONGBENCH_HOME"):
        await open_local(cache_dir=blocked)


async def test_the_run_directory_is_private_and_temporary(tmp_path: Path) -> None:
    machine = await open_local(cache_dir=tmp_path / "cache")
    assert stat.S_IMODE(os.stat(machine.run_dir).st_mode) == 0o700  # noqa: PTH116
    await machine.close()
    assert files_below(tmp_path / "cache") == []
    await machine.close()


FLOOD = """
import os, time
until = time.monotonic() + 20
while time.monotonic() < until:
    os.write(1, b"\\n" * 60_000)
"""


async def test_a_program_that_floods_its_output_costs_others_none_of_theirs(
    machine: Machine,
) -> None:
    flood = await machine.start(python(FLOOD))
    for number in range(20):
        other = await machine.start(Command(["echo", str(number)]))
        assert await output(other) == [str(number).encode()]
    assert flood.dropped
    await flood.stop(0)
