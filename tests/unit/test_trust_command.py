"""What the terminal prints for an untrusted host key."""

from __future__ import annotations

from argparse import Namespace

import pytest
from furniture import changed_key, unknown_key

from workbench.commands.machines import how_to_trust, trust_or_show
from workbench.errors import ExitCode


def test_an_unknown_key_is_shown_with_the_command_that_trusts_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    problem = unknown_key()
    command = f"pongbench machines trust dune --fingerprint {problem.fingerprint}"
    assert how_to_trust(problem) == f"To trust it: {command}"
    assert trust_or_show(problem, Namespace(name="dune", fingerprint=None)) == ExitCode.FAILED
    assert capsys.readouterr().out.strip() == command


def test_for_a_changed_key_there_is_no_command_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    problem = changed_key()
    assert "on the machine itself" in how_to_trust(problem)
    assert problem.fingerprint not in how_to_trust(problem)
    assert trust_or_show(problem, Namespace(name="cedar", fingerprint=None)) == ExitCode.FAILED
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"--fingerprint {problem.fingerprint}" not in printed.err
    assert str(problem.file) in printed.err
