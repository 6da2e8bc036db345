"""Source code that no package registry has.

It is fetched by git, with consent, into the cache of this computer, and copied beside the server's
files as `source`, so machines need no network. What must be compiled has commands for it in `make`.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench import paths
from workbench.errors import PongbenchError
from workbench.fetching import why_unreached
from workbench.servers.checkouts import Unsuitable, unpack
from workbench.servers.entry import ServerEntry, SourceAt
from workbench.servers.programs import MissingPrograms

FETCH_WITHIN_S = 300.0
MOST_BYTES = 64 << 20
"""The largest source that is unpacked."""

_MOVED = (
    r"could not read Username|[Rr]epository .*not found|not found$|does not appear to be a git"
    r"|access denied or repository not exported|error: 40[134]"
)
_NO_COMMIT = r"not our ref|[Cc]ouldn't find remote ref|no such remote ref|unadvertised object"
_UNREACHED = (
    r"Could not resolve host|Failed to connect|Couldn't connect|Connection (refused|timed out)"
    r"|unable to connect|unable to look up|SSL|certificate|CONNECT tunnel|roxy|unreachable"
)


class NeedsSource(PongbenchError):
    """The user has to supply the source, because it cannot be had from here."""


class Unfetched(MissingPrograms):
    """The source can be fetched, given consent."""


def place(source: SourceAt) -> Path:
    """Return the folder for a source that the user supplies."""
    return paths.data_dir() / "sources" / source.name


def at_hand(entry: ServerEntry) -> Path | None:
    """Return the source on this computer: in the server's own folder, supplied by the user, or
    fetched before; None: there is none."""
    if entry.source_at is None:
        return None
    folders = (entry.folder / "source", place(entry.source_at), _kept(entry.source_at))
    return next((folder for folder in folders if folder.is_dir()), None)


def complete(entry: ServerEntry) -> bool:
    """Return whether it can run, and no source of it has yet to be fetched or built."""
    return not entry.unavailable and (entry.source_at is None or at_hand(entry) is not None)


async def provide(
    entry: ServerEntry, *, install: bool, notify: Callable[[str], None], also: Sequence[str] = ()
) -> Path | None:
    """Return the source on this computer, fetched if there is none; None: the entry needs none.

    `install`: whether it may be fetched; `also`: what else that consent would fetch. Raises
    Unfetched without that consent, PongbenchError when it cannot be provided.
    """
    source = entry.source_at
    if source is None:
        return None
    folder = at_hand(entry)
    if folder is None:
        if not install:
            raise Unfetched(
                f"{entry.name} needs its source code (licence: {source.licence}).",
                f"{source.git} (commit {source.short})",
                [
                    f"git fetch {source.git} {source.short}",
                    *also,
                    *(f"confined: {' '.join(argv)}" for argv in entry.make),
                ],
                "into Pongbench's cache",
            )
        notify(f"Fetching the source of {entry.name} (licence: {source.licence})")
        folder = await asyncio.to_thread(fetched, entry.name, source)
    if source.sha256:
        found = await asyncio.to_thread(digest, folder)
        if found != source.sha256:
            raise PongbenchError(
                f"The source of {entry.name} in {folder} has the SHA-256 {found}, not"
                f" {source.sha256} as commit {source.short} has; remove that folder."
            )
    return folder


def digest(folder: Path) -> str:
    """Return the SHA-256 of an archive of a tree that depends on paths and contents only: a tar of
    its files by path, without times, owners, modes, compiled Python, and git's own folder."""
    found = hashlib.sha256()
    for name, path in _files(folder):
        data = path.read_bytes()
        member = tarfile.TarInfo(name)
        member.size = len(data)
        found.update(member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        found.update(data + bytes(-len(data) % tarfile.BLOCKSIZE))
    found.update(bytes(2 * tarfile.BLOCKSIZE))
    return found.hexdigest()


def _files(folder: Path) -> list[tuple[str, Path]]:
    found = []
    for path in folder.rglob("*"):
        inside = path.relative_to(folder)
        skipped = {".git", "__pycache__"}.intersection(inside.parts) or path.suffix == ".pyc"
        if not skipped and path.is_file():
            found.append((inside.as_posix(), path))
    return sorted(found)


def _kept(source: SourceAt) -> Path:
    return paths.cache_dir() / "sources" / source.name


def fetched(name: str, source: SourceAt) -> Path:
    """Return the source of `name`, which is fetched if it is not there. Raises PongbenchError."""
    there = (place(source), _kept(source))
    return next((folder for folder in there if folder.is_dir()), None) or _fetch(name, source)


def _fetch(name: str, source: SourceAt) -> Path:
    """Fetch and unpack the tree of a commit into the cache; nothing is left there on failure."""
    git = shutil.which("git")
    if git is None:
        raise NeedsSource(
            f"git, which fetches {source.git}, is not on this computer; install it, or"
            f" {_instead(name, source)}."
        )
    kept = _kept(source)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=kept.parent) as work:
            repository, tree = f"{work}/repository", Path(work, "tree")
            _git(git, name, source, "init", "--quiet", "--bare", "--template=", repository)
            at = f"--git-dir={repository}"
            options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
            _git(git, name, source, at, "fetch", *options, "--", source.git, source.commit)

            def read(*arguments: str, given: bytes = b"") -> bytes:
                return _git(git, name, source, at, *arguments, given=given)

            unpack(read, source.commit, tree, most_bytes=MOST_BYTES)
            if source.sha256 and (found := digest(tree)) != source.sha256:
                raise PongbenchError(
                    f"What was fetched for {name} from {source.git} has the SHA-256 {found}, not"
                    f" {source.sha256}; nothing of it was kept."
                )
            try:
                tree.rename(kept)
            except OSError:
                if not kept.is_dir():  # Otherwise another fetch was faster.
                    raise
    except Unsuitable as error:
        raise PongbenchError(
            f"The source of {name} at {source.git} has {error}, which is not unpacked."
        ) from None
    except OSError as error:
        problem = f"{error.strerror}: {error.filename}"
        raise PongbenchError(f"There is no place for the source of {name}: {problem}.") from None
    return kept


def _git(git: str, name: str, source: SourceAt, *arguments: str, given: bytes = b"") -> bytes:
    """Run git with no configuration, hook, prompt, submodule or transport but the address's own."""
    scheme = source.git.partition(":")[0]
    settings = (
        "protocol.allow=never",
        f"protocol.{scheme}.allow=always",
        f"core.hooksPath={os.devnull}",
        "credential.helper=",
        "submodule.recurse=false",
        "gc.auto=0",
        "http.lowSpeedLimit=100",
        "http.lowSpeedTime=30",
    )
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env = {
        **kept,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
    argv = [git, *(part for each in settings for part in ("-c", each)), *arguments]
    try:
        done = subprocess.run(
            argv,
            capture_output=True,
            input=given,
            env=env,
            timeout=FETCH_WITHIN_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NeedsSource(
            f"{source.git} sent nothing in {FETCH_WITHIN_S:.0f} s; {_instead(name, source)}."
        ) from None
    if done.returncode:
        raise _problem(name, source, done.stderr.decode("utf-8", "replace"))
    return done.stdout


def _problem(name: str, source: SourceAt, output: str) -> PongbenchError:
    lines = output.strip().splitlines() or ["no output"]
    last = lines[-1].removeprefix("fatal: ").rstrip(".")[:200]
    instead = _instead(name, source)
    if re.search(_UNREACHED, output):
        cause = re.sub(r"fatal: unable to access '[^']*': ", "", output)
        detail = why_unreached(cause, instead, what=source.git)
        return NeedsSource(f"The source of {name} cannot be fetched: {detail}.")
    if re.search(_NO_COMMIT, output):
        return NeedsSource(f"{source.git} no longer has commit {source.short}; {instead}.")
    if re.search(_MOVED, output, re.MULTILINE):
        return NeedsSource(f"There is no public repository at {source.git}; {instead}.")
    return PongbenchError(f"git cannot fetch the source of {name} from {source.git}: {last}.")


def _instead(name: str, source: SourceAt) -> str:
    return f"to run {name} without fetching, put commit {source.short} into {place(source)}"
