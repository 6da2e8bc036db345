"""How the log describes a command run on a machine."""

from __future__ import annotations

from workbench.machines.base import described
from workbench.machines.runner_client import Command


def test_a_command_is_shown_as_it_would_be_typed() -> None:
    assert described(Command(["python3", "server.py", "--name", "two words"])) == (
        "python3 server.py --name 'two words'"
    )


def test_an_inline_program_is_logged_by_its_first_line() -> None:
    assert described(Command(["python3", "-c", "\nimport os\nos._exit(0)\n"])) == (
        "python3 -c 'import os…'"
    )


def test_the_beginning_of_a_long_list_is_shown() -> None:
    assert described(Command(["free", *map(str, range(100))])).endswith(" 22 … and 77 more")
