"""What a machine without a Python does with the one that an installed program sends."""

from __future__ import annotations

import asyncio
import platform
import subprocess
from pathlib import Path

import pytest

from workbench.machines.bundle import archived
from workbench.machines.ssh import UNPACK, interpreter_of

HERE = f"{platform.system()} {platform.machine()}"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Of a tree like that of an installed program, whose interpreter is a script."""
    shipped = tmp_path / "shipped"
    for name, text in {
        "bin/python3": '#!/bin/sh\necho it runs: "$@" >&2\n',
        "pyvenv.cfg": "include-system-site-packages = false\n",
        "base_library.zip": "",
        "python3.11/lib-dynload/_ssl.so": "",
        "python3.11/dist-packages/gevent.py": "",
        "libssl.so.3": "",
        "libpython3.11.so.1.0": "",
        "lib/.keep": "",
    }.items():
        (shipped / name).parent.mkdir(parents=True, exist_ok=True)
        (shipped / name).write_text(text)
    (shipped / "lib/.keep").unlink()
    (shipped / "lib/python3.11").symlink_to("../python3.11")
    return asyncio.run(archived(interpreter_of(shipped)))


def unpack(
    home: Path, archive: Path, *, system: str = HERE, cut: int | None = None
) -> tuple[int, list[str]]:
    words = ["sh", "-c", UNPACK, "~/work dir", "runtimes/interpreter-1", system]
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    data = archive.read_bytes()[:cut]
    done = subprocess.run(words, input=data, env=env, capture_output=True, check=False)
    return done.returncode, done.stdout.decode().splitlines()


def test_it_is_unpacked_once_tried_and_named(tmp_path: Path, archive: Path) -> None:
    place = tmp_path / "work dir" / "runtimes" / "interpreter-1"
    assert unpack(tmp_path, archive) == (0, ["wanted", f"{place}/bin/python3"])
    assert unpack(tmp_path, archive) == (0, [f"{place}/bin/python3"])
    names = {path.name for path in place.rglob("*")}
    assert {"_ssl.so", "libssl.so.3", ".whole"} < names
    assert not {"gevent.py", "libpython3.11.so.1.0"} & names
    assert (place / "lib/python3.11/lib-dynload").is_dir()


def test_half_an_archive_and_another_system_leave_nothing(tmp_path: Path, archive: Path) -> None:
    status, _ = unpack(tmp_path, archive, cut=200)
    assert status == 1
    status, said = unpack(tmp_path, archive, system="Linux vax")
    assert (status, said) == (1, ["this one is for Linux vax"])
    assert list((tmp_path / "work dir" / "runtimes").iterdir()) == []
