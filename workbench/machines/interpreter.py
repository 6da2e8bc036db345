"""This program's own Python (see `packaging/interpreter.py`), for machines over SSH that have none
that suits: unpacked into the work directory there by sh, tar and gzip, once, and then found like a
Python of the machine."""

from __future__ import annotations

import asyncio
import hashlib
import platform
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import asyncssh

from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines.base import INTERPRETERS
from workbench.machines.bundle import kept, pack
from workbench.machines.shell import WORK_WITHIN_S, Shell, feed, read_all
from workbench.machines.wire import quoted

_WANTED = b"wanted\n"
UNPACK = """
case $0 in "~/"*) d=$HOME/${0#??} ;; *) d=$0 ;; esac
d=$d/$1
test "$(uname -s) $(uname -m)" = "$2" || { echo "this one is for $2"; exit 1; }
if ! test -e "$d/.whole"; then
    mkdir -p "$d.$$" || exit 1
    trap 'rm -rf "$d.$$"' EXIT
    echo wanted
    gzip -dc | tar -xf - -C "$d.$$" || exit 1
    "$d.$$/bin/python3" -I -c "import ssl, ctypes" || exit 1
    rm -rf "$d"
    mv "$d.$$" "$d" || exit 1
fi
echo "$d/bin/python3"
"""
"""Arguments: the work directory, the place below it, system and processor. Says that it wants the
archive, if it does, and then where it is; or what went wrong."""


def carried() -> bool:
    """Whether this program brings a Python that it can send."""
    return bool(getattr(sys, "frozen", False)) and sys.platform == "linux"


async def bring_interpreter(shell: Shell, work_dir: str) -> str:
    """Copy it there, unless it is there. Returns its path. Raises PongbenchError."""
    archive = await archived(paths.SHIPPED)
    name = archive.name.partition(".")[0].removeprefix("interpreter-")
    system = f"{platform.system()} {platform.machine()}"
    words = ["sh", "-c", UNPACK, work_dir, f"{INTERPRETERS}{name}", system]
    try:
        async with shell.program(
            f"bring Pongbench's own Python, {name}", "exec " + shlex.join(words)
        ) as process:
            async with asyncio.timeout(WORK_WITHIN_S):
                said = await process.stdout.readline()
            if said == _WANTED:
                with archive.open("rb") as file:
                    await feed(process, file, WORK_WITHIN_S)
                said = b""
            async with asyncio.timeout(WORK_WITHIN_S):
                said += await read_all(process)
                ended = await process.wait()
    except TimeoutError:
        raise PongbenchError(
            f"'{shell.name}' did not take Pongbench's own Python within {WORK_WITHIN_S:.0f} s."
        ) from None
    except (asyncssh.Error, OSError) as error:
        raise shell.gone(error) from None
    lines = said.decode("utf-8", "replace").strip().splitlines()
    if ended.exit_status == 0 and lines:
        return lines[-1]
    raise PongbenchError(
        f"'{shell.name}' has no Python 3.10 or later, and Pongbench's own does not run there"
        f" ({quoted(lines[-1]) if lines else 'no output'}); install one there."
    )


async def archived(shipped: Path) -> Path:
    """Return the archive of the interpreter below `shipped`, which is made if it is missing."""
    digest = hashlib.sha256()
    for path in _files(shipped):
        digest.update(str(path.relative_to(shipped)).encode() + path.read_bytes())

    def make(archive: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="pongbench-interpreter-") as folder:
            for path in _files(shipped):
                target = Path(folder, path.relative_to(shipped))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
            pack(Path(folder), archive, links=_links(shipped))

    return await kept(f"interpreter-{digest.hexdigest()[:32]}", make)


def _files(shipped: Path) -> list[Path]:
    """The interpreter, the libraries beside it and the standard library; not the packages."""
    found = [shipped / name for name in ("bin/python3", "pyvenv.cfg", "base_library.zip")]
    found += shipped.glob("python3.*/lib-dynload/*.so")
    for path in shipped.glob("lib*.so*"):  # a link leads into a package's own folder
        if not path.is_symlink() and not path.name.startswith("libpython"):
            found.append(path)
    return sorted(found)


def _links(shipped: Path) -> dict[str, str]:
    return {f"lib/{path.name}": str(path.readlink()) for path in shipped.joinpath("lib").iterdir()}
