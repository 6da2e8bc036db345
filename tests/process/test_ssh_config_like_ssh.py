"""The SSH configuration says the same here as to the installed `ssh`.

The cases are in tests/cases/ssh_config; a configuration that `ssh` refuses is refused here.
"""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from workbench.errors import PongbenchError
from workbench.machines.hostkeyrules import rules_for
from workbench.machines.profiles import Profile
from workbench.machines.sshconfig import Settings, Unread, ask_ssh, local_user

FOLDER = Path(__file__).parents[1] / "cases/ssh_config"
CASES = yaml.safe_load((FOLDER / "cases.yaml").read_text("utf-8"))
SWITCHES = (
    *("identitiesonly", "passwordauthentication", "pubkeyauthentication"),
    "kbdinteractiveauthentication",
)


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ssh` takes homes from passwd alone."""
    monkeypatch.setenv("HOME", pwd.getpwuid(os.getuid()).pw_dir)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path has no spaces, which the cases do not quote."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)


class Configured:
    """A case with its files in a folder."""

    def __init__(self, case: dict[str, Any], folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.file = folder / "config"
        for name, text in case.get("files", {}).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(self.filled(text).encode())
        if "file" in case:
            self.file.write_bytes((FOLDER / case["file"]).read_bytes())
        else:
            self.file.write_bytes(self.filled(case["config"]).encode())
        self.host = case.get("host", "h1")
        self.given = {key: case[key] for key in ("user", "port") if key in case}

    def places(self) -> dict[str, str]:
        home = Path.home()
        above = os.path.relpath(self.folder, home)
        return {
            "{dir}": str(self.folder),
            "{below}": f"~/{above}",
            "{relative}": os.path.relpath(self.folder, home / ".ssh"),
            "{home}": str(home),
            "{me}": local_user(),
        }

    def filled(self, text: str) -> str:
        for name, value in self.places().items():
            text = text.replace(name, value)
        return text

    def by_ssh(self, ssh: str) -> Any:
        return self.understood(lambda: ask_ssh(ssh, self.host, file=str(self.file), **self.given))

    def understood(self, answer: Any) -> Any:
        """What is used of an answer, where it is not the default; "refused" if it cannot be."""
        try:
            said = used(Settings(_hop(self.host), answer()))
        except (Unread, PongbenchError):
            return "refused"
        usual = used(Settings(_hop(self.host), {}))
        return {key: value for key, value in said.items() if value != usual[key]}

    def expected(self) -> Any:
        says = self.case["says"]
        if not (Path.home() / ".ssh").is_dir():
            says = self.case.get("without_ssh_folder", says)
        return yaml.safe_load(self.filled(yaml.safe_dump(says, width=10_000)))


def _hop(host: str) -> Profile:
    return Profile("mine", connector="ssh", address=host)


def used(settings: Settings) -> dict[str, Any]:
    rules = rules_for(settings)
    command = settings.command
    return {
        "host": settings.host,
        "port": settings.port,
        "user": settings.user,
        "keys": [str(file) for file in settings.keys],
        "certificates": [str(file) for file in settings.files("certificatefile")],
        "agent": settings.agent,
        "jump": settings.text("proxyjump"),
        "command": command[-1] if isinstance(command, list) else command,
        "alias": rules.alias,
        "known": [str(file) for file in rules.files],
        "revoked": [str(file) for file in settings.files("revokedhostkeys")],
        "addresses": rules.check_address,
        "key types": list(rules.signatures) if rules.signatures else None,
        "authorities": list(rules.authorities),
        "bits": rules.least_rsa_bits,
        "family": settings.text("addressfamily").lower() or "any",
        "ways": settings.text("preferredauthentications"),
        **{name: settings.text(name) for name in ("ciphers", "macs", "kexalgorithms")},
        **{name: settings.allows(name, otherwise=name != "identitiesonly") for name in SWITCHES},
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_configuration_says_what_it_says_to_ssh(case: dict[str, Any], folder: Path) -> None:
    ssh = shutil.which("ssh")
    if not ssh:
        pytest.skip("no ssh is installed")
    configured = Configured(case, folder)
    assert configured.by_ssh(ssh) == configured.expected()
