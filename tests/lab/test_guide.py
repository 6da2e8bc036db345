"""The guide to several machines can be followed as it stands, with the addresses of the lab."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.conftest import as_they_were, profile_of
from lab.hosts import Host, Lab
from workbench.cli import main

GUIDE = Path(__file__).parents[2] / "docs/guides/machines.md"


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    with as_they_were(lab.hosts[:2]):
        yield lab.hosts[:2]


def test_the_guide_to_several_machines_can_be_followed(
    hosts: list[Host],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = "".join(re.findall(r"```sh\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL))
    for number, host in enumerate(hosts):
        there = profile_of(host)
        shown = shown.replace(
            f"--address 10.0.0.{5 + number} --user bench",
            f"--address {there.address} --user {there.user} --key {there.key}",
        )
    fingerprint = ""
    for line in shown.splitlines():
        _, *words = shlex.split(line, comments=True)
        asks = words[:2] == ["machines", "trust"] and "--fingerprint" not in words
        words = [fingerprint if word.startswith("SHA256:") else word for word in words]
        assert main(words) == (1 if asks else 0), line
        if asks:
            said = capsys.readouterr()
            (fingerprint,) = set(re.findall(r"--fingerprint (SHA256:[\w+/]+)", said.out + said.err))
