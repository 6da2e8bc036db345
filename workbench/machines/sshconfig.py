"""What the configuration of OpenSSH says about a host: `ssh -G` is asked, so all its rules hold."""

from __future__ import annotations

import contextlib
import getpass
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from workbench import paths
from workbench.errors import PongbenchError, why
from workbench.machines.profiles import Profile

Answer: TypeAlias = dict[str, list[str]]
"""Values by keyword in lower case, as `ssh -G` prints them; what is not set is absent."""

SYSTEM_CONFIG = paths.ssh_of_system() / "ssh_config"
ASK_WITHIN_S = 10.0
_DEFAULT_KEYS = ("id_ed25519", "id_ecdsa", "id_rsa")
_OURS_TO_CHOOSE = {
    *("hostkeyalgorithms", "casignaturealgorithms", "ciphers", "macs", "kexalgorithms"),
    *("identityfile", "userknownhostsfile"),
    *(["globalknownhostsfile"] if sys.platform == "win32" else []),  # It begins with a variable.
}
"""Lists that `ssh -G` prints when they are not set, too."""
_AT_HOME = {"userknownhostsfile", "identityagent"}
"""Paths that `ssh -G` prints with the home in place of ~."""


class Unread(Exception):
    """A configuration that is invalid or not understood; the text says where and why."""


class Settings:
    """The settings for one host, from an answer of `ssh -G`."""

    def __init__(self, hop: Profile, answer: Answer) -> None:
        self.hop = hop
        self.answer = answer
        self.host = answer.get("hostname", [hop.address])[0]
        self.port = int(answer.get("port", [str(hop.port or 22)])[0])
        self.user = answer.get("user", [hop.user])[0] or local_user()

    def text(self, keyword: str) -> str:
        """Return a setting's only value; empty: none is set."""
        found = self.answer.get(keyword, [""])[0]
        return "" if found.lower() == "none" else found

    def allows(self, keyword: str, *, otherwise: bool = True) -> bool:
        found = self.text(keyword).lower()
        return found not in ("no", "false") if found else otherwise

    def files(self, keyword: str, otherwise: Sequence[Path] = ()) -> list[Path]:
        """Return the files a keyword names. Raises PongbenchError for a token that is not known."""
        if keyword not in self.answer:
            return list(otherwise)
        named = [text for text in self.answer[keyword] if text.lower() != "none"]
        return [paths.expanded(self._expanded(text)) for text in named]

    @property
    def keys(self) -> list[Path]:
        """The private keys to try, existing or not."""
        folder = paths.expanded("~/.ssh")
        return self.files("identityfile", [folder / name for name in _DEFAULT_KEYS])

    @property
    def agent(self) -> str | None:
        """The agent's socket; empty: none, None: that of the environment."""
        if "identityagent" not in self.answer:
            return None
        text = self.text("identityagent")
        if text == "SSH_AUTH_SOCK":
            return None
        if text.startswith("$") and not text.startswith("${"):
            return os.environ.get(text[1:], "")
        return str(paths.expanded(self._expanded(text))) if text else ""

    @property
    def command(self) -> list[str] | str | None:
        """The command that connects in place of a socket."""
        text = self.text("proxycommand")
        if not text:
            return None
        if self.allows("proxyusefdpass", otherwise=False):
            raise self.refused("ProxyUseFdpass is not supported")
        known = {"%h": self.host, "%n": self.hop.address, "%p": str(self.port), "%r": self.user}
        command = self._filled(text, known)
        if os.name == "nt":
            return command
        # asyncssh takes what a command complains of for data of the host, and the end of its
        # complaints for that of the connection.
        apart = 'exec 3>&2 2>/dev/null; exec "$0" -c "$1"'
        shell = os.environ.get("SHELL") or "/bin/sh"
        return ["/bin/sh", "-c", apart, shell, f"exec {command}"]

    def refused(self, problem: str) -> PongbenchError:
        return PongbenchError(
            f"The SSH configuration for '{self.hop.name}' cannot be used: {problem.rstrip('.')};"
            " correct it, or set `ssh_config: false` in the profile to leave it out.",
            code="ssh-config",
        )

    def _expanded(self, text: str) -> str:
        local = socket.gethostname()
        known = {
            "%d": str(paths.home()),
            "%h": self.host,
            "%i": str(os.getuid()) if hasattr(os, "getuid") else "",
            "%k": self.text("hostkeyalias") or self.hop.address,
            "%L": local.partition(".")[0],
            "%l": local,
            "%n": self.hop.address,
            "%p": str(self.port),
            "%r": self.user,
            "%u": local_user(),
        }

        def variable(found: re.Match[str]) -> str:
            if found[1] not in os.environ:
                raise self.refused(f"the variable {found[1]} in {text!r} is not set")
            return os.environ[found[1]].replace("%", "%%")

        return self._filled(re.sub(r"\$\{(\w+)\}", variable, text), known)

    def _filled(self, text: str, known: dict[str, str]) -> str:
        def token(found: re.Match[str]) -> str:
            if found[0] == "%%":
                return "%"
            if found[0] not in known:
                raise self.refused(f"{text!r} has the token {found[0]}, which is not supported")
            return known[found[0]]

        return re.sub("%.?", token, text)


def settings_for(hop: Profile) -> Settings:
    """Return the settings for a host. Only a connection asks for them: `Match exec` runs programs.
    Raises PongbenchError with what `ssh` says about a configuration that it does not accept."""
    if not hop.ssh_config:
        return Settings(hop, {})
    try:
        return Settings(hop, _asked(hop))
    except Unread as problem:
        raise Settings(hop, {}).refused(str(problem)) from None


def _asked(hop: Profile) -> Answer:
    ours = paths.home()
    own, ssh, home = ours / ".ssh/config", shutil.which("ssh"), _home_of_ssh()
    if not ssh or not home:
        if os.access(own, os.F_OK):
            lacks = "does not know this user" if ssh else "is not installed"
            raise Unread(f"`ssh`, which reads {own}, {lacks}")
        return {}
    ask = partial(ask_ssh, ssh, hop.address, user=hop.user, port=hop.port)
    if os.path.realpath(home) == os.path.realpath(ours):
        return ask()
    with tempfile.NamedTemporaryFile("w") as file:
        file.writelines(f'Include "{glob.escape(str(each))}"\n' for each in (own, SYSTEM_CONFIG))
        file.flush()
        answer = ask(file=file.name)
    for keyword in _AT_HOME & answer.keys():
        answer[keyword] = [
            f"{ours}{path.removeprefix(home)}" if path.startswith(f"{home}/") else path
            for path in answer[keyword]
        ]
    return answer


def _home_of_ssh() -> str:
    """Return the home that `ssh` takes, from passwd alone; empty: that does not know the user."""
    if sys.platform == "win32":
        return str(paths.home())
    import pwd  # noqa: PLC0415  not on Windows

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def local_user() -> str:
    """Return the name of the user who runs this program. Raises PongbenchError if there is none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise PongbenchError(
            "The user who runs this has no name on this system; give `user` in the profile, or set"
            " the variable USER."
        ) from None


def ask_ssh(ssh: str, address: str, *, user: str = "", port: int = 0, file: str = "") -> Answer:
    """Return what `ssh -G` says about a host. `file`: the only one that is read. Raises Unread."""
    argv = [ssh, "-T", "-G", *(["-F", file] if file else []), *(["-l", user] if user else [])]
    answer = _parsed(_output([*argv, *(["-p", str(port)] if port else []), "--", address]))
    usual = _usual(ssh)
    return {
        keyword: values
        for keyword, values in answer.items()
        if keyword not in _OURS_TO_CHOOSE or values != usual.get(keyword)
    }


@cache
def _usual(ssh: str) -> Answer:
    return _parsed(_output([ssh, "-T", "-G", "-F", "none", "--", "localhost"]))


def _output(argv: list[str]) -> str:
    """Run a program and return what it prints. Raises Unread."""
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,
            )
        except OSError as error:
            raise Unread(f"{argv[0]} does not start ({why(error)})") from None
        try:
            printed, _ = process.communicate(timeout=ASK_WITHIN_S)
        except subprocess.TimeoutExpired:
            raise Unread(
                f"`ssh -G` took more than {ASK_WITHIN_S:.0f} s; a program of Match exec or a name"
                " server does not answer"
            ) from None
        finally:
            if process.poll() is None:  # It ends with what it started.
                with contextlib.suppress(ProcessLookupError):
                    if sys.platform == "win32":
                        process.kill()
                    else:
                        os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode:
            complaints.seek(0)
            lines = complaints.read().decode(errors="replace").splitlines()
            told = [line for line in lines if line and "terminating, " not in line]
            raise Unread("; ".join(told[:3]) or f"`ssh -G` ended with {process.returncode}")
    return os.fsdecode(printed)


def _parsed(text: str) -> Answer:
    answer: Answer = {}
    for line in text.splitlines():
        keyword, _, value = line.partition(" ")
        known = answer.setdefault(keyword.lower(), [])
        if keyword in ("userknownhostsfile", "globalknownhostsfile"):
            known += _paths(value)
        else:
            known.append(value)
    return answer


def _paths(text: str) -> list[str]:
    """Split paths. `ssh -G` does not quote spaces, but a path begins at the root or a home."""
    found: list[str] = []
    for word in text.split(" "):
        if not found or word.lower() == "none" or re.match(r"[/~$%]|[A-Za-z]:", word):
            found.append(word)
        else:
            found[-1] += f" {word}"
    return found
