"""Programs of the system for servers, as `resources/programs.yaml` lists them: nginx, Go, Ruby.

Installed ones are used. The packages of missing ones are fetched from the host's own distribution
and unpacked into a folder of ours, which needs no root and changes nothing else; with consent, for
which an error lists the commands that would be run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from workbench import paths
from workbench.config.yaml import convert, load_yaml
from workbench.errors import PongbenchError
from workbench.formatting import counted, size


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program: where Debian installs it, and how it prints its version."""

    title: str
    files: tuple[str, ...]
    """Patterns below `/`; the last match counts."""
    packages: tuple[str, ...] = ()
    """Debian packages that contain it."""
    version: tuple[str, ...] = ()
    """Arguments with which it prints its version; empty: the version of the first package."""
    lone: tuple[str, ...] = ()
    """Packages fetched without those they depend on; `packages` has what is needed of these."""
    wheel: str = ""
    """A requirement of the Python Package Index that contains it, in place of `packages`."""
    git: str = ""
    """The repository of its source, where nobody packages it, with `commit` and `licence`."""
    commit: str = ""
    licence: str = ""
    make: tuple[tuple[str, ...], ...] = ()
    """The commands that compile it beside the folder `source`; {made} gets the result."""
    brought: tuple[str, ...] = ()
    """Packages that suffice where nothing is compiled; empty: `packages`."""
    unpacked: tuple[str, ...] = ()
    """Patterns below the folder it was unpacked into; empty: `files`."""
    pattern: str = r"(\d+(?:\.\d+)+)"
    """Of the version in what it prints."""
    status: int = 0
    """Exit status when it prints its version."""
    oldest: str = ""
    """The oldest version that can be used; empty: any."""
    by_hand: str = ""
    """How to install one without packages; of one with packages, which releases have them."""
    relocated: tuple[str, ...] = ()
    """Scripts with paths of their parts below /usr, by patterns below the folder it was unpacked
    into: they are given the paths there."""
    env: dict[str, tuple[str, ...]] = {}
    """When unpacked: variables that list folders, by patterns below that folder."""

    def too_old(self, version: str) -> bool:
        """Whether it is older than `oldest`."""
        return bool(self.oldest) and numbers(version) < numbers(self.oldest)

    @property
    def install(self) -> str:
        """The command that installs it on Debian; empty: it is no package there."""
        packages = self.lone or self.packages
        if not packages:
            return ""
        releases = f" ({self.by_hand})" if self.by_hand else ""
        return f"apt install {' '.join(packages)}{releases}"


def numbers(version: str) -> list[int]:
    """Return [1, 22] of "1.22", to be compared."""
    return [int(each) for each in re.findall(r"\d+", version)]


_LISTED = paths.RESOURCES / "programs.yaml"
PROGRAMS = convert(
    load_yaml(_LISTED, what="programs"), dict[str, Program], name=str(_LISTED), what="programs"
)
"""By the names that servers, load tools and commands use."""

if TYPE_CHECKING:
    ProgramName: TypeAlias = str
else:
    ProgramName = Literal[tuple(PROGRAMS)]


@dataclass(frozen=True)
class Programs:
    """Programs found on a machine."""

    paths: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables they need to run from where they are."""

    def described(self) -> list[str]:
        """Return names with versions: ["nginx 1.22.1"]."""
        return [f"{PROGRAMS[name].title} {self.versions[name]}".strip() for name in self.paths]


def of_packages(number: int, size_bytes: int) -> str:
    """Return what would be fetched: "3 packages, 41 MB"."""
    return f"{counted(str(number), ' packages')}, {size(size_bytes)}"


class MissingPrograms(PongbenchError):
    """Programs missing on a machine; `commands` would provide them, given consent. `missing`: "Go
    is not on h1." `source`: "its distribution (3 packages, 41 MB)". `place`: of the programs."""

    def __init__(
        self,
        missing: str,
        source: str,
        commands: Sequence[str],
        place: str = "where it changes nothing else",
        install: str = "",
    ) -> None:
        """`install`: the command that installs it for all users; empty: there is none."""
        listed = "".join(f"\n    {command}" for command in commands)
        by_hand = f"\nOr install it there: {install}" if install else ""
        super().__init__(
            f"{missing} Say --install to fetch it from {source} and unpack it {place}:{listed}"
            f"{by_hand}"
        )
        self.offer = f"{missing} It can be fetched from {source} and unpacked {place}."
        self.commands = list(commands)
        self._parts = missing, source, place, install

    def then(self, command: str) -> MissingPrograms:
        """Return the same with one more command at the end."""
        missing, source, place, install = self._parts
        return MissingPrograms(missing, source, [*self.commands, command], place, install)
