"""One server of the catalogue for every kind of runtime, made and run for real: the first time that
takes minutes, later ones seconds."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from chosen import chosen
from gate_checks import LONGEST_BUILD, passed
from oracle import eventually, processes_with

from workbench.errors import PongbenchError, ProgramFailed
from workbench.machines.local import LocalMachine, open_local
from workbench.machines.profiles import Profile
from workbench.machines.secrets import never_ask
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked, check_all
from workbench.servers.deploy import deploy
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.programs import PROGRAMS, MissingPrograms, Program, Programs
from workbench.servers.runtimes import Job, Runtime
from workbench.servers.runtimes.prepare import make

NONE = Runtime({}, "none")
SHIPPED = Catalogue.load(extra_dirs=[])

KINDS = [
    ("go", "Go "),
    ("node", "Node.js "),
    ("eventmachine", "Ruby "),
    ("erlang-gen-tcp", "Erlang/OTP "),
    ("scalatra", "OpenJDK "),
    ("cogen", "CPython 2.7.18"),
    ("mod-wsgi", "Apache "),
    ("gunicorn-nginx", "nginx "),
    ("aiohttp", "PostgreSQL "),
    ("zeromq-req-rep", "CPython 3."),
]


@pytest.fixture
async def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LocalMachine]:
    """With nothing in its cache."""
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    machine = await open_local(cache_dir=tmp_path / "cache")
    yield machine
    await machine.close()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("id", "runtime"), chosen(KINDS, 3, seed=16))
async def test_a_server_of_every_runtime_runs_and_passes_the_gate(
    kept_machine: LocalMachine, monkeypatch: pytest.MonkeyPatch, id: str, runtime: str
) -> None:
    monkeypatch.setattr(LONGEST_BUILD, 1700.0)
    if id == "scalatra" and not shutil.which("mvn"):
        pytest.skip("a JVM with Maven is too much to fetch for a test")
    record, result = await passed(kept_machine, SHIPPED[id])
    assert runtime in record.runtime
    assert result.processes >= 1 and result.rss_bytes > 1_000_000
    assert not processes_with(f"{kept_machine.run_dir}/servers/")


async def test_nothing_is_unpacked_before_someone_consents(
    bare: LocalMachine, tmp_path: Path
) -> None:
    with pytest.raises(
        MissingPrograms, match=r"^Cogen needs Python 2\.7\. Say --install"
    ) as caught:
        await deploy(bare, SHIPPED["cogen"])
    assert any("libssl1.1" in command for command in caught.value.commands)
    assert not (tmp_path / "cache" / "programs").exists()


async def test_a_missing_program_is_reported_with_the_commands_that_install_it(
    bare: LocalMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = Program("Never", ("usr/bin/pongbench-never",), ("hello",), ("--version",))
    monkeypatch.setitem(PROGRAMS, "never", never)
    with pytest.raises(PongbenchError) as caught:
        await deploy(bare, own(tmp_path, programs="never"))
    message = str(caught.value)
    if not isinstance(caught.value, MissingPrograms):  # no Debian, or its lists were never fetched
        assert "Never is not on localhost" in message
        return
    assert message.startswith("Never is not on localhost. Say --install to fetch it from its")
    assert "apt-get download hello=" in message
    assert not (tmp_path / "cache" / "programs").exists()


async def test_a_servers_build_is_cached_until_its_files_change(
    bare: LocalMachine, tmp_path: Path
) -> None:
    entry = own(tmp_path, commands='[[cp, server.py, "{made}/copy.py"]]')
    texts: list[str] = []

    async def made() -> Path:
        folder = await bare.put(entry.folder, f"servers/mine-{len(texts)}")
        return Path(await make(Job(bare, entry, folder, texts.append), NONE))

    first = await made()
    assert (first / "copy.py").is_file()
    assert await made() == first
    with (entry.folder / "server.yaml").open("a") as file:  # results of a check, for example
        file.write("notes: [It is mine.]\n")
    assert await made() == first
    (entry.folder / "server.py").write_text("print('changed')\n")
    assert await made() != first
    assert texts == ["Compiling Mine"] * 2


async def test_a_compilation_that_never_ends_is_killed_with_its_children(
    bare: LocalMachine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.servers.runtimes.builders.LONGEST_BUILD_S", 1.0)
    monkeypatch.setattr("workbench.servers.runtimes.prepare.LONGEST_BUILD_S", 1.0)
    entry = own(tmp_path, commands='[[sh, "-c", "sleep 987; true"]]')
    with pytest.raises(PongbenchError, match=r"^Compiling Mine .* took longer than 1 s and was en"):
        await deploy(bare, entry)
    assert eventually(lambda: not processes_with("sleep 987"))
    assert not list((tmp_path / "cache").glob("made/*"))


async def test_what_was_compiled_until_a_build_was_cancelled_is_used_by_the_next(
    bare: LocalMachine, tmp_path: Path
) -> None:
    compiling = 'if mkdir $CARGO_TARGET_DIR; then sleep 987; fi; touch \\"$0/whole\\"'
    entry = own(tmp_path, commands=f'[[sh, "-c", "{compiling}", "{{made}}"]]')
    cache = tmp_path / "cache"

    async def made() -> Path:
        folder = await bare.put(entry.folder, f"servers/{entry.id}")
        return Path(await make(Job(bare, entry, folder, lambda _: None), NONE))

    building = asyncio.create_task(made())
    assert await asyncio.to_thread(eventually, lambda: list(cache.glob("building/mine/cargo")))
    building.cancel()
    await asyncio.gather(building, return_exceptions=True)
    assert eventually(lambda: not processes_with("sleep 987"))
    assert not list(cache.glob("made/*"))
    shutil.rmtree(Path(bare.run_dir, f"servers/{entry.id}"))
    assert (await made() / "whole").is_file()
    assert not list(cache.glob("building/mine/cargo"))


async def test_packages_out_of_reach_of_a_compiler_are_reported_without_its_colours(
    bare: LocalMachine, tmp_path: Path
) -> None:
    message = r"\\033[31m[ERROR]\\033[0m Could not transfer artifact a:b from central -> [Help 1]"
    entry = own(tmp_path, commands=f'[[sh, "-c", "printf \'{message}\'; exit 1"]]')
    with pytest.raises(PongbenchError) as caught:
        await deploy(bare, entry)
    assert str(caught.value) == (
        "Mine cannot be compiled on localhost, for packages it needs are out of reach (sh said:"
        " Could not transfer artifact a:b from central); connect localhost to the network once,"
        " the result is then kept."
    )


UNREACHED = "echo npm error request failed, reason: getaddrinfo ENOTFOUND >&2; exit 1"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [(UNREACHED, r"are out of reach \(.*ENOTFOUND"), ("exit 0", "no Bun for this processor")],
)
async def test_npm_is_asked_why_it_left_out_what_is_optional(
    bare: LocalMachine, tmp_path: Path, answer: str, reason: str
) -> None:
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\n[ $1 = ci ] && exit 0\n{answer}\n")
    npm.chmod(0o755)
    bun = SHIPPED["bun"]
    folder = await bare.put(bun.folder, "servers/bun")
    with pytest.raises(PongbenchError, match=rf"^Bun cannot be compiled .* {reason}"):
        programs = Programs({"npm": str(npm)})
        await make(Job(bare, bun, folder, lambda _: None, programs=programs), NONE)


async def test_a_compiler_that_fails_is_quoted(bare: LocalMachine, tmp_path: Path) -> None:
    said = "echo gcc main.c; echo main.c:1: error: no such type; echo make: stopped; exit 1"
    entry = own(tmp_path, commands=f'[[sh, "-c", "{said}"]]')
    with pytest.raises(ProgramFailed) as caught:
        await deploy(bare, entry)
    assert caught.value.sentence == (
        "Mine cannot be compiled on localhost: sh said: main.c:1: error: no such type."
    )
    assert caught.value.output == ["gcc main.c", "main.c:1: error: no such type", "make: stopped"]
    assert str(caught.value).endswith(
        "Last output:\n    gcc main.c\n    main.c:1: error: no such type\n    make: stopped"
    )
    assert not list((tmp_path / "cache").glob("made/*"))
    with pytest.raises(PongbenchError, match=r"localhost: there is no program no-compiler\.$"):
        await deploy(bare, msgspec.structs.replace(entry, make=[["no-compiler"]]))


async def test_servers_that_compile_come_last(bare: LocalMachine, tmp_path: Path) -> None:
    broken = own(tmp_path, commands='[["false"]]')
    done: list[str] = []

    class Progress:
        def doing(self, entry: ServerEntry, text: str) -> None:
            pass

        def done(self, checked: Checked) -> None:
            done.append(checked.entry.id)

    here = Profile("localhost")
    entries = [broken, SHIPPED["friendlyflow"]]
    results = await check_all(entries, Progress(), profile=here, ask=never_ask)
    assert [each.status for each in results] == ["failed", "unavailable"]
    assert done == ["friendlyflow", "mine"]


def own(parent: Path, *, programs: str = "", commands: str = "[]") -> ServerEntry:
    """A server of one's own; `programs` are not checked, as if they were known."""
    folder = parent / "mine"
    folder.mkdir()
    (folder / "server.py").write_text("print('hello')\n")
    (folder / "server.yaml").write_text(
        "name: Mine\nfamily: hello\nruntime: none\nprotocols: [pong]\n"
        f'make: {commands}\ncommand: [sh, server.py, "{{port}}"]\n'
    )
    entry = load_entry(folder)
    return msgspec.structs.replace(entry, programs=[programs]) if programs else entry
