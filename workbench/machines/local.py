"""This computer as a machine: the same runner, without SSH."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import shutil
import sys
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

from workbench import paths
from workbench.closing import to_the_end
from workbench.errors import PongbenchError, why
from workbench.machines.base import Machine
from workbench.machines.runner_client import CLOSE_WITHIN_S, LEASE_S, RUNNER, Link
from workbench.machines.wire import Ready
from workbench.remote import REMOTE

OWN_PYTHON = [paths.PYTHON, "-I", "-S", "-u"]
ERRANDS = REMOTE / "errands.py"
JANITOR_WITHIN_S = 15.0
BUFFER = 1 << 20

log = logging.getLogger(__name__)


async def open_local(
    *, cache_dir: Path | None = None, name: str = "localhost", lease_s: float = LEASE_S
) -> LocalMachine:
    """Open this computer; leftovers of crashed runs are removed first. Raises PongbenchError when
    the run directory cannot be made or the system is not Linux."""
    if sentence := refusal():
        raise PongbenchError(sentence)
    cache = (cache_dir or paths.cache_dir()).resolve()
    _see_usable(cache)
    await run_janitor(cache)
    process = await asyncio.create_subprocess_exec(
        *(*OWN_PYTHON, str(RUNNER)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C in a terminal is for the workbench only.
        limit=BUFFER,
    )
    assert process.stdin and process.stdout
    link = Link(name, process.stdout, process.stdin)
    try:
        introduction = await link.open(str(cache), lease_s=lease_s)
    except BaseException:
        await to_the_end(_end(link, process))
        raise
    return LocalMachine(link, cache, introduction, process)


async def _end(link: Link, process: asyncio.subprocess.Process) -> None:
    await link.close()
    await reap(process)


def refusal() -> str:
    """Return why this computer runs neither servers nor load, in a sentence; empty: it does."""
    if sys.platform == "linux":
        return ""
    return (
        "Servers and load generators run on Linux only; use a machine over SSH instead of this"
        " computer."
    )


def _see_usable(cache: Path) -> None:
    """Raises PongbenchError for a folder that cannot hold runs."""
    another = "set PONGBENCH_HOME to another folder"
    try:
        str(cache).encode()
        cache.mkdir(parents=True, exist_ok=True)
    except UnicodeEncodeError:
        raise PongbenchError(
            f"Runs cannot be kept in {cache}, whose path is not UTF-8; {another}."
        ) from None
    except OSError as error:
        raise PongbenchError(f"Runs cannot be kept in {cache}: {why(error)}; {another}.") from None


class LocalMachine(Machine):
    is_local = True

    def __init__(
        self, link: Link, cache: Path, introduction: Ready, process: asyncio.subprocess.Process
    ) -> None:
        super().__init__(link, str(cache), introduction)
        self.python = OWN_PYTHON
        self._cache = cache
        self._process = process

    async def bring(self, archive: Path, name: str) -> str:
        place = self._cache / name
        if not (place / ".whole").exists():
            try:
                await asyncio.to_thread(unpack, archive, Path(self.run_dir), place)
            except (OSError, tarfile.TarError, EOFError) as error:
                cause = why(error) if isinstance(error, OSError) else error
                raise PongbenchError(
                    f"Cannot unpack {archive.name} on '{self.name}': {cause}."
                ) from None
        return str(place)

    @contextlib.asynccontextmanager
    async def route_to(self, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
        yield host, port

    leading_here = route_to

    async def put(self, source: Path, target: str) -> str:
        to = Path(self.run_dir, target)
        try:
            await asyncio.to_thread(copy, source, to)
        except OSError as error:
            if self._link.failure:  # Its run directory went with it.
                raise self._link.failure from None
            where = f": {error.filename}" if error.filename else ""
            raise PongbenchError(
                f"Cannot copy {source} to '{self.name}': {why(error)}{where}."
            ) from None
        finally:
            if self._link.failure:  # The copy may have outlived the run.
                await asyncio.to_thread(shutil.rmtree, self.run_dir, ignore_errors=True)
        return str(to)

    async def _close(self) -> None:
        await _end(self._link, self._process)
        if not self._link.ended_itself:
            await run_janitor(self._cache)


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, target, symlinks=True, ignore=ignore, dirs_exist_ok=True)
    else:
        # Renamed into place: another program may be starting from the same file.
        part = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
        shutil.copy2(source, part)
        part.replace(target)


def unpack(archive: Path, work: Path, place: Path) -> None:
    from workbench.remote.errands import put_in_place  # noqa: PLC0415  for Linux only

    made = work / f"tmp/{secrets.token_hex(8)}"
    with tarfile.open(archive) as tar:
        # Python 3.11 has filters from 3.11.4 on; earlier versions ignore this.
        tar.extraction_filter = getattr(tarfile, "tar_filter", None)
        tar.extractall(made)
    put_in_place(str(made), str(place))


async def reap(process: asyncio.subprocess.Process) -> None:
    """Wait for the guardian; if it hangs, kill it, which makes the runner end everything."""
    try:
        async with asyncio.timeout(CLOSE_WITHIN_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def run_janitor(cache: Path) -> None:
    """Remove leftovers of crashed runs; see `remote.errands`."""
    process = await asyncio.create_subprocess_exec(
        *(*OWN_PYTHON, str(ERRANDS), "", "clean", str(cache)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(JANITOR_WITHIN_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        await reap(process)
        raise
    if process.returncode:
        last = output.decode("utf-8", "replace").strip().splitlines()[-1:]
        log.warning("Leftovers of crashed runs could not be removed: %s", "".join(last))
