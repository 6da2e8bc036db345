"""Runtimes built for real, from wheels made here, so without a network."""

import asyncio
import http.server
import os
import re
import shutil
import threading
from pathlib import Path

import pytest
from gate_checks import patient_gate
from oracle import eventually, files_below, processes_with
from wheels import PING_PONG, make_wheel

from workbench.errors import PongbenchError
from workbench.machines.local import LocalMachine, open_local
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.runtimes import Job, Runtime, heritage
from workbench.servers.runtimes.python import prepare


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place packages come from."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    make_wheel(folder, "ping_pong", "1.2.3", PING_PONG)
    make_wheel(folder, "hollow", "1.0", "import nothing_of_this_name\n")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def own(name: str) -> ServerEntry:
    return load_entry(Path(__file__).parent / "servers" / name)


async def build(machine: LocalMachine, entry: ServerEntry) -> Runtime:
    folder = await machine.put(entry.folder, f"servers/{entry.id}")
    return await prepare(Job(machine, entry, folder, lambda _: None))


def runtimes(cache: Path) -> list[Path]:
    return sorted((cache / "runtimes").glob("*"))


async def test_a_runtime_is_built_once_and_reused(wheels: Path, cache: Path) -> None:
    machine = await open_local(cache_dir=cache)
    first = await build(machine, own("uses-a-package"))
    await machine.close()
    assert first.built
    assert first.packages == {"ping-pong": "1.2.3"}

    shutil.rmtree(wheels)
    machine = await open_local(cache_dir=cache)
    second = await build(machine, own("uses-a-package"))
    await machine.close()
    assert not second.built
    assert second.placeholders == first.placeholders
    assert len(runtimes(cache)) == 1


async def test_a_server_runs_on_its_runtime_in_the_cache(wheels: Path, cache: Path) -> None:
    machine = await open_local(cache_dir=cache)
    deployment = await deploy(machine, own("uses-a-package"))
    assert deployment.version == "Ping.Pong 1.2.3"
    assert (await patient_gate(deployment)).passed
    await machine.close()
    (runtime,) = runtimes(cache)
    config = (runtime / "pyvenv.cfg").read_text()
    assert "include-system-site-packages = false" in config
    assert files_below(cache / "runs") == []


async def test_two_programs_may_build_one_runtime_at_once(wheels: Path, cache: Path) -> None:
    machines = await asyncio.gather(*(open_local(cache_dir=cache) for _ in range(3)))
    built = await asyncio.gather(*(build(each, own("uses-a-package")) for each in machines))
    await asyncio.gather(*(machine.close() for machine in machines))
    assert len({runtime.placeholders["python"] for runtime in built}) == 1
    assert sum(runtime.built for runtime in built) == 1
    assert len(runtimes(cache)) == 1


async def test_a_damaged_runtime_is_replaced(wheels: Path, cache: Path) -> None:
    machine = await open_local(cache_dir=cache)
    await build(machine, own("uses-a-package"))
    (runtime,) = runtimes(cache)
    (runtime / "bin" / "python").unlink()
    again = await build(machine, own("uses-a-package"))
    assert again.built
    assert os.access(again.placeholders["python"], os.X_OK)
    await machine.close()
    assert len(runtimes(cache)) == 1


async def test_an_ended_build_leaves_nothing(
    wheels: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = tmp_path / "uv"
    never.write_text('#!/bin/sh\nmkdir -p "$6" && touch "$6/begun" && exec sleep 600\n')
    never.chmod(0o700)
    monkeypatch.setattr("workbench.servers.runtimes.python.uv_binary", lambda: str(never))
    machine = await open_local(cache_dir=cache)
    building = asyncio.create_task(build(machine, own("uses-a-package")))
    begun = await asyncio.to_thread(eventually, lambda: list(cache.rglob("begun")))
    assert begun
    building.cancel()
    await asyncio.gather(building, return_exceptions=True)
    assert not processes_with(str(never))
    await machine.close()
    assert files_below(cache) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (
            "needs-the-impossible",
            r"pongbench-no-such-package\S* cannot be installed for the runtime of"
            r" needs-the-impossible on localhost: .*pongbench-no-such-package.*\.",
        ),
        (
            "hollow",
            r"What is installed for the runtime of hollow on localhost does not work:"
            r" ModuleNotFoundError: No module named 'nothing_of_this_name'; every package it needs"
            r" must be listed in requirements\.txt, as uv pip compile writes it\.",
        ),
    ],
)
async def test_a_requirement_that_cannot_be_used_is_named_in_one_sentence(
    wheels: Path, cache: Path, name: str, sentence: str
) -> None:
    machine = await open_local(cache_dir=cache)
    with pytest.raises(PongbenchError, match=f"^{sentence}$"):
        await build(machine, own(name))
    await machine.close()
    assert runtimes(cache) == []


async def test_without_a_network_it_says_how_to_go_on(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    machine = await open_local(cache_dir=cache)
    with pytest.raises(PongbenchError, match=r"^ping-pong cannot be fetched .* UV_FIND_LINKS"):
        await build(machine, own("uses-a-package"))
    await machine.close()


async def test_a_package_with_another_hash_is_refused_in_one_sentence(
    wheels: Path, cache: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(own("uses-a-package").folder, tmp_path / "other")
    pin = f"ping_pong==1.2.3 \\\n    --hash=sha256:{'0' * 64}\n"
    (folder / "requirements.txt").write_text(pin)
    machine = await open_local(cache_dir=cache)
    with pytest.raises(PongbenchError) as caught:
        await build(machine, load_entry(folder))
    await machine.close()
    assert str(caught.value) == (
        "ping-pong==1.2.3 cannot be installed for the runtime of uses-a-package on localhost: its"
        " file in the package index has another hash than requirements.txt gives."
    )
    assert runtimes(cache) == []


class Another(http.server.BaseHTTPRequestHandler):
    """A mirror whose files are not those of Debian."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"another")

    def log_message(self, *arguments: object) -> None: ...


async def test_an_old_python_that_cannot_be_had_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Another) as mirror:
        threading.Thread(target=mirror.serve_forever, daemon=True).start()
        other = f"http://127.0.0.1:{mirror.server_port}/"
        found = []
        machine = await open_local(cache_dir=cache)
        for mirrors in (("http://127.0.0.1:9/",), ("http://127.0.0.1:9/", other)):
            monkeypatch.setattr(heritage, "MIRRORS", mirrors)
            with pytest.raises(PongbenchError) as caught:
                await deploy(machine, Catalogue.load(extra_dirs=[])["cogen"], install=True)
            found.append(str(caught.value))
        await machine.close()
        mirror.shutdown()
    assert found[0] == (
        "python2.7 of Debian 11 cannot be fetched: 127.0.0.1:9 is out of reach, for it refused the"
        " connection; connect this computer to the network once, the package is then kept."
    )
    assert re.fullmatch(
        rf"python2\.7 of Debian 11 cannot be fetched: {other}\S+\.deb has another SHA-256; it was"
        r" not kept\.",
        found[1],
    )
    assert files_below(cache) == []
