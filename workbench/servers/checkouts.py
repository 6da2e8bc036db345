"""Trees of commits, unpacked without a checkout, and a repository of the user, which is only read.

Nothing is written into the user's folder or its `.git`: no worktree, no index, no state of a
bisection.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from workbench.errors import BadInput, PongbenchError

Git: TypeAlias = Callable[..., bytes]
"""Runs git with these arguments and `given` as its input; returns its output."""

WITHIN_S = 120.0
MOST_BYTES = 512 << 20
"""Of a version of a service: its files are in memory at once."""


class Unsuitable(Exception):
    """What a tree has that is not unpacked."""


def unpack(git: Git, tree: str, folder: Path, *, most_bytes: int = 0, links: bool = False) -> None:
    """Write the files of a tree (a commit) into a folder. Submodules are left out, and symbolic
    links unless `links`. `most_bytes` 0: any size. Raises Unsuitable and OSError."""
    blobs = list(_blobs(git("ls-tree", "-r", "-l", "-z", "--full-tree", tree), most_bytes, links))
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


def _blobs(listed: bytes, most_bytes: int, links: bool) -> Iterator[tuple[PurePosixPath, str, str]]:
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
        if odd or "\\" in str(path):
            raise Unsuitable(repr(str(path)))
        if most_bytes and total > most_bytes:
            raise Unsuitable(f"more than {most_bytes >> 20} MiB")
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
        try:
            unpack(self._git, tree, folder, most_bytes=MOST_BYTES, links=True)
        except Unsuitable as error:
            raise PongbenchError(
                f"Commit {commit[:12]} has {error}, which is not unpacked."
            ) from None

    def copy_here(self, folder: Path) -> None:
        """Write the files of the folder as they are, without those that git ignores."""
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in dict.fromkeys(filter(None, os.fsdecode(listed).split("\0"))):
            path = self.folder / name
            if path.is_symlink() or path.is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, folder / name, follow_symlinks=False)

    def between(self, good: Collection[str], bad: str) -> list[str]:
        """Return the commits of which one is the first bad one, those that divide them best first,
        as `git bisect` orders them."""
        lines = self._git("rev-list", "--bisect-all", bad, "--not", *good).decode().splitlines()
        return [line.split()[0] for line in lines]

    def _git(self, *arguments: str, given: bytes = b"") -> bytes:
        """Raises PongbenchError with the last line that it said."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        try:
            done = subprocess.run(
                [self._program, "-C", str(self.folder), *arguments],
                input=given,
                capture_output=True,
                env={**env, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"},
                timeout=WITHIN_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise PongbenchError(f"git {arguments[0]} took longer than {WITHIN_S:.0f} s.") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no output"]
            reason = re.sub(r"^(fatal|error): ", "", said[0])
            raise PongbenchError(f"{reason.rstrip('.')}.")
        return done.stdout
