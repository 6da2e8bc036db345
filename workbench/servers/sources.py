"""Source code that no package registry has.

It is fetched by git, with consent, into the cache of this computer, and copied beside the server's
files as `source`, so machines need no network. What must be compiled has commands for it in `make`.
"""

from __future__ import annotations

import asyncio
import difflib
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from workbench import paths
from workbench.errors import BadInput, PongbenchError
from workbench.fetching import why_unreached
from workbench.servers.entry import ServerEntry, SourceAt
from workbench.servers.programs import MissingPrograms

FETCH_WITHIN_S = 300.0
MOST_BYTES = 64 << 20
"""The largest source that is unpacked."""

_GONE = (
    r"could not read Username|[Rr]epository .*not found|not found$|does not appear to be a git"
    r"|access denied or repository not exported|error: 40[134]"
    r"|not our ref|[Cc]ouldn't find remote ref|no such remote ref|unadvertised object"
)
"""What git says of a repository or a commit that is not there."""
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


def _there(source: SourceAt) -> list[Path]:
    """Return where it may be: as the user supplied it, and as it was fetched."""
    return [place(source), paths.cache_dir() / "sources" / source.name]


def at_hand(entry: ServerEntry) -> Path | None:
    """Return the source in the server's folder, supplied by the user, or fetched; None: none is."""
    if entry.source_at is None:
        return None
    folders = (entry.folder / "source", *_there(entry.source_at))
    return next((folder for folder in folders if folder.is_dir()), None)


def complete(entry: ServerEntry) -> bool:
    """Return whether it can run, and no source of it has yet to be fetched or built."""
    return not entry.unavailable and (entry.source_at is None or at_hand(entry) is not None)


async def provide(
    entry: ServerEntry, *, install: bool, notify: Callable[[str], None], also: Sequence[str] = ()
) -> Path | None:
    """Return the source on this computer, fetched if there is none; None: the entry needs none.
    `install`: whether it may be fetched; `also`: what else that consent would fetch. Raises
    Unfetched without that consent, PongbenchError when it cannot be provided."""
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
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    ours = {
        inside.as_posix(): path
        for inside, path in files.items()
        if not {".git", "__pycache__"}.intersection(inside.parts) and path.suffix != ".pyc"
    }
    for name, path in sorted(ours.items()):
        data = path.read_bytes()
        member = tarfile.TarInfo(name)
        member.size = len(data)
        found.update(member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"))
        found.update(data + bytes(-len(data) % tarfile.BLOCKSIZE))
    found.update(bytes(2 * tarfile.BLOCKSIZE))
    return found.hexdigest()


def fetched(name: str, source: SourceAt) -> Path:
    """Return the source of `name`, which is fetched if it is not there. Raises PongbenchError."""
    there = (folder for folder in _there(source) if folder.is_dir())
    return next(there, None) or _fetch(name, source)


def _fetch(name: str, source: SourceAt) -> Path:
    """Fetch and unpack the tree of a commit into the cache; nothing is left there on failure."""
    git = shutil.which("git")
    if git is None:
        raise NeedsSource(
            f"git, which fetches {source.git}, is not on this computer; install it, or"
            f" {_instead(name, source)}."
        )
    kept = _there(source)[1]
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=kept.parent) as work:
            repository, tree = f"{work}/repository", Path(work, "tree")
            run = functools.partial(_git, git, name, source)
            run("init", "--quiet", "--bare", "--template=", repository)
            read = functools.partial(run, f"--git-dir={repository}")
            options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
            read("fetch", *options, "--", source.git, source.commit)
            called = f"The source of {name} at {source.git}"
            unpack(read, source.commit, tree, called=called, most_bytes=MOST_BYTES)
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
    env = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
    argv = [git, *(part for each in settings for part in ("-c", each)), *arguments]
    try:
        done = _ran(argv, env, given, FETCH_WITHIN_S)
    except subprocess.TimeoutExpired:
        raise NeedsSource(
            f"{source.git} sent nothing in {FETCH_WITHIN_S:.0f} s; {_instead(name, source)}."
        ) from None
    if done.returncode:
        output, instead = done.stderr.decode("utf-8", "replace"), _instead(name, source)
        lines = output.strip().splitlines() or ["no output"]
        detail = f"{source.git}: {lines[-1].removeprefix('fatal: ').rstrip('.')[:200]}; {instead}"
        if re.search(_UNREACHED, output):
            cause = re.sub(r"fatal: unable to access '[^']*': ", "", output)
            detail = why_unreached(cause, instead, what=source.git)
        absent = re.search(f"{_UNREACHED}|{_GONE}", output, re.MULTILINE)
        kind = NeedsSource if absent else PongbenchError
        raise kind(f"The source of {name} cannot be fetched: {detail}.")
    return done.stdout


def _ran(
    argv: Sequence[str], env: Mapping[str, str], given: bytes, within_s: float
) -> subprocess.CompletedProcess[bytes]:
    """Run git, without the user's settings for it in the environment."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env = {**kept, "LC_ALL": "C", **env}
    return subprocess.run(
        argv, input=given, capture_output=True, env=env, timeout=within_s, check=False
    )


def _instead(name: str, source: SourceAt) -> str:
    return f"to run {name} without fetching, put commit {source.short} into {place(source)}"


Git: TypeAlias = Callable[..., bytes]
"""Runs git with these arguments and `given` as its input; returns its output."""

WITHIN_S = 120.0
MOST_OF_A_VERSION = 512 << 20
"""Of a service, in bytes: its files are in memory at once."""


def unpack(
    git: Git, tree: str, folder: Path, *, called: str, most_bytes: int, links: bool = False
) -> None:
    """Write the files of a tree (a commit) into a folder. Submodules are left out, and symbolic
    links unless `links`. Raises PongbenchError for what is not unpacked of what is so `called`, and
    OSError."""
    listed = git("ls-tree", "-r", "-l", "-z", "--full-tree", tree)
    blobs = list(_blobs(listed, called, most_bytes, links))
    names = "".join(f"{blob}\n" for _, _, blob in blobs)
    data, at = git("cat-file", "--batch", given=names.encode()), 0
    folder.mkdir(parents=True, exist_ok=True)
    for path, mode, _ in blobs:
        # "<object> blob <size>\n<content>\n"
        begin = data.index(b"\n", at) + 1
        at = begin + int(data[at:begin].split()[2])
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if mode == "120000":
            target.symlink_to(os.fsdecode(data[begin:at]))
        else:
            target.write_bytes(data[begin:at])
            target.chmod(0o755 if mode == "100755" else 0o644)
        at += 1


def _blobs(
    listed: bytes, called: str, most_bytes: int, links: bool
) -> Iterator[tuple[PurePosixPath, str, str]]:
    """Return path, mode and object of each file."""
    total = 0
    for line in filter(None, listed.split(b"\0")):
        about, _, raw = line.partition(b"\t")
        mode, kind, blob, size = about.decode("ascii", "replace").split()
        path = PurePosixPath(raw.decode("utf-8", "surrogateescape"))
        if kind != "blob" or (mode == "120000" and not links):
            continue
        total += int(size)
        odd = path.is_absolute() or {"..", ".git"} & {part.lower() for part in path.parts}
        if odd or "\\" in str(path) or total > most_bytes:
            what = f"more than {most_bytes >> 20} MiB" if total > most_bytes else repr(str(path))
            raise PongbenchError(f"{called} has {what}, which is not unpacked.")
        yield path, mode, blob


class Repository:
    """The git repository that a folder of the user lies in."""

    def __init__(self, folder: Path) -> None:
        """Raises BadInput if there is none."""
        self.folder = folder.absolute()
        if not folder.is_dir():
            raise BadInput(f"There is no folder {folder}; give that of your project.")
        self._program = shutil.which("git") or ""
        if not self._program:
            raise PongbenchError("git is not on this computer; install it.")
        try:
            inside = self._git("rev-parse", "--show-prefix").decode("utf-8", "surrogateescape")
        except PongbenchError as error:
            reason = str(error).rstrip(".")
            raise BadInput(
                f"{folder} is in no git repository that can be read ({reason}); versions are"
                " commits of one."
            ) from None
        self._inside = inside.strip().rstrip("/")

    def commit(self, ref: str) -> str:
        """Return the hash of a branch, a tag or a commit. Raises BadInput."""
        try:
            found = self._git(
                "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
            )
        except PongbenchError:
            names = self._git("for-each-ref", "--format=%(refname:short)").decode().split()
            close = difflib.get_close_matches(ref, names, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else f"`git -C {self.folder} branch -a`."
            raise BadInput(f"There is no branch, tag or commit {ref!r}. {hint}") from None
        return found.decode().strip()

    def subject(self, commit: str) -> str:
        """Return the first line of its message."""
        return self._git("log", "-1", "--format=%s", commit).decode("utf-8", "replace").strip()

    def unpack(self, commit: str, folder: Path) -> None:
        """Write the files of this project at a commit. Raises PongbenchError."""
        tree = f"{commit}:{self._inside}" if self._inside else commit
        called = f"Commit {commit[:12]}"
        most = MOST_OF_A_VERSION
        unpack(self._git, tree, folder, called=called, most_bytes=most, links=True)

    def copy_here(self, folder: Path) -> None:
        """Write the files of the folder as they are, without those that git ignores."""
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in dict.fromkeys(filter(None, os.fsdecode(listed).split("\0"))):
            path = self.folder / name
            if path.is_symlink() or path.is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, folder / name, follow_symlinks=False)

    def between(self, good: Collection[str], bad: str) -> list[str]:
        """Return the commits of which one is the first bad one, as `git bisect` orders them."""
        lines = self._git("rev-list", "--bisect-all", bad, "--not", *good).decode().splitlines()
        return [line.split()[0] for line in lines]

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        """Raises PongbenchError with the last line that it said."""
        env = {"GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
        try:
            argv = [self._program, "-C", str(self.folder), *arguments]
            done = _ran(argv, env, given, WITHIN_S)
        except subprocess.TimeoutExpired:
            raise PongbenchError(f"git {arguments[0]} took longer than {WITHIN_S:.0f} s.") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no output"]
            reason = re.sub(r"^(fatal|error): ", "", said[0])
            raise PongbenchError(f"{reason.rstrip('.')}.")
        return done.stdout
