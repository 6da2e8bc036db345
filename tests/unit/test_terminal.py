"""Foreign text cannot control the terminal, whichever command prints it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import io
import logging
import os
import pty
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from canary import SONG, canary, heard

from tests import synthetic
from tests.recording import record_session
from workbench import paths
from workbench.analysis.summary import summarise
from workbench.cli import main
from workbench.commands import asking
from workbench.commands.console import ConsoleView
from workbench.errors import BadInput
from workbench.machines.secrets import Question
from workbench.presentable import presentable
from workbench.results.render.terminal import print_summary
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry_reading import load_entry
from workbench.terminal import Terminal, guard, to_stderr

ROOT = Path(__file__).resolve().parents[2]
OURS = r"\r?\x1b\[[0-9;?]*[a-zA-Z]"
"""Colours, and where the next line goes."""


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def song(tmp_path: Path) -> str:
    path = tmp_path / "song.pong.yaml"
    return str(record_session(path, canary()))


COMMANDS = {
    "summary": ["summary", "FILE"],
    "summary --json": ["summary", "--json", "FILE"],
    "compare": ["compare", "FILE", "FILE"],
    "compare --json": ["compare", "--json", "FILE", "FILE"],
    "compare --csv": ["compare", "--csv", "FILE", "FILE"],
    "compare, no such server": ["compare", "FILE", "--server", SONG],
    "replay": ["replay", "--speed", "max", "FILE"],
    "replay --json": ["replay", "--json", "FILE"],
    "report": ["report", "FILE", "-o", "FILE.csv"],
    "run, a session again": ["run", "--preview", "FILE"],
    "no such file": ["summary", f"{SONG}.yaml"],
    "no such plan": ["run", SONG],
    "no such server": ["catalogue", "show", SONG],
    "no such machine": ["machines", "show", SONG],
    "no such option": ["summary", "FILE", f"--{SONG}"],
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_session_full_of_hostile_text_is_escaped_in_the_terminal(
    words: list[str], song: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from app.export import command  # noqa: PLC0415 - one command is the app's

    report = {"report": lambda: command.add_report}
    main([word.replace("FILE", song) for word in words], more=report)
    printed = capsys.readouterr()
    assert printed.out + printed.err
    assert heard(printed.out + printed.err) == []


@pytest.mark.parametrize("shown", [ConsoleView, print_summary])
def test_hostile_text_is_escaped_in_colours_and_live_tables(
    shown: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    # As they come in a run, not yet recorded and read.
    console = Terminal(force_terminal=True, width=120, _environ={"TERM": "xterm"})
    documents = canary()
    if shown is ConsoleView:
        with ConsoleView(console) as view:
            for document in documents:
                view(document)
            view.notify(SONG)
    else:
        print_summary(summarise(map(presentable, documents)), console)
    printed = capsys.readouterr().out
    assert "\x1b[" in printed
    assert "\\u001b[31m" in printed
    assert "\x1b[31m" not in printed
    assert heard(printed, ours=OURS) == []
    # Neither is what rich would take for its own.
    assert "[bold]rich[/bold]" in printed


def sing(entry: dict[str, Any], accepted: Callable[[dict[str, Any]], bool]) -> int:
    """Fill every free text of an entry with the song; return how many there were."""

    def places(value: Any) -> Iterator[tuple[Any, Any]]:
        each = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in list(each):
            if isinstance(inner, str):
                yield value, key
            elif isinstance(inner, dict | list):
                yield from places(inner)

    sung = 0
    for holder, key in places(entry):
        before = holder[key]
        holder[key] = f"{before}{SONG}"
        if accepted(entry):
            sung += 1
        else:
            holder[key] = before
    return sung


@pytest.mark.parametrize("like", ["tornado", "circuits-2009", "django-orm", "go"])
def test_a_users_own_server_is_escaped_in_the_terminal(
    like: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    origin = Catalogue.load()[like]
    folder = paths.data_dir() / "servers" / "song"
    folder.mkdir(parents=True)
    for file in origin.folder.iterdir():
        if file.is_file():
            (folder / file.name).write_bytes(file.read_bytes())
    entry = yaml.safe_load((folder / "server.yaml").read_text())

    def accepted(entry: dict[str, Any]) -> bool:
        (folder / "server.yaml").write_text(yaml.safe_dump(entry))
        with contextlib.suppress(BadInput):
            load_entry(folder)
            return True
        return False

    assert sing(entry, accepted) > 5
    assert accepted(entry)
    # In the folder, also where servers share the file: there it takes precedence.
    (folder / origin.source).write_text(f"{origin.source_path.read_text()}\n# {SONG}\n")
    for words in (["catalogue"], ["catalogue", "show", "song"], ["catalogue", "list"]):
        assert main(words) == 0
    refused = copy.deepcopy(entry) | {SONG: SONG}
    assert not accepted(refused)
    assert main(["catalogue"]) == 0
    printed = capsys.readouterr()
    assert "\\u001b[31m" in printed.out
    assert heard(printed.out + printed.err) == []


def test_texts_from_machines_are_escaped_in_the_terminal(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "config" / "profiles"
    folder.mkdir(parents=True)
    profile = {"name": "box", "connector": "ssh", "address": "10.0.0.1", "description": SONG}
    (folder / "box.yaml").write_text(yaml.safe_dump(profile | {"key": SONG, "python": SONG}))
    (folder / "broken.yaml").write_text(yaml.safe_dump({"name": "broken", SONG: SONG}))
    for words in (["machines"], ["machines", "show", "box"], ["machines", "show", "broken"]):
        main(words)
    printed = capsys.readouterr()
    assert "\\u001b[31m" in printed.out
    assert heard(printed.out + printed.err) == []


@pytest.fixture
def hangs_up() -> Iterator[int]:
    """The port of something that says it is SSH, and before anybody has logged in its song."""
    listener = socket.create_server(("127.0.0.1", 0))
    reason = SONG.encode()
    payload = struct.pack(">BII", 1, 2, len(reason)) + reason + struct.pack(">I", 0)
    padding = 8 - (len(payload) + 5) % 8 + 8
    packet = struct.pack(">IB", len(payload) + padding + 1, padding) + payload + bytes(padding)

    def serve() -> None:
        visitor, _ = listener.accept()
        with visitor:
            visitor.sendall(b"SSH-2.0-canary\r\n" + packet)
            while visitor.recv(4096):
                pass

    served = threading.Thread(target=serve)
    served.start()
    yield listener.getsockname()[1]
    served.join()
    listener.close()


def test_a_machine_that_hangs_up_sends_nothing_to_the_terminal_unescaped(
    hangs_up: int, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--address", "127.0.0.1", "--port", str(hangs_up), "--user", "me"]
    assert main(["machines", "add", "box", *words]) == 0
    assert main(["machines", "trust", "box"]) == 1
    printed = capsys.readouterr().err
    assert "\\u001b[31m" in printed
    assert heard(printed) == []


async def test_a_prompt_from_a_machine_is_escaped_in_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setattr(asking, "TERMINAL", os.ttyname(theirs))
    try:
        asked = asyncio.ensure_future(
            asking.ask_at_terminal()(Question("box", "password", "me@box", SONG))
        )
        shown = (await asyncio.to_thread(os.read, ours, 4096)).decode()
        os.write(ours, b"secret\n")
        assert await asked == "secret"
    finally:
        os.close(ours)
        os.close(theirs)
    assert "\\u001b[31m" in shown
    assert heard(shown) == []


def test_uncaught_errors_and_the_log_are_escaped_in_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(logging, "lastResort", logging.lastResort)
    guard()
    try:
        raise BadInput(SONG)
    except BadInput as error:
        sys.excepthook(BadInput, error, error.__traceback__)
    assert logging.lastResort
    logging.lastResort.handle(
        logging.LogRecord("asyncssh", logging.WARNING, "", 0, "%s", (SONG,), None)
    )
    printed = capsys.readouterr().err
    assert printed.count("\\u001b[31m") == 2
    assert heard(printed) == []


def test_a_command_in_a_message_is_the_one_that_works_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "a clone" / "pongbench"
    made.parent.mkdir()
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(made)])
    to_stderr("It does not begin with '# pongbench session'.")
    assert "'# pongbench session'" in capsys.readouterr().err
    sentence = "Run `pongbench catalogue check x`; it is in /opt/pongbench data."
    to_stderr(sentence)
    assert f"Run `'{made}' catalogue check x`; it is in /opt/pongbench data." in (
        capsys.readouterr().err
    )
    monkeypatch.chdir(tmp_path)
    to_stderr(sentence)
    assert "Run `'a clone/pongbench' catalogue" in capsys.readouterr().err
    monkeypatch.setenv("PATH", str(made.parent))
    to_stderr(sentence)
    assert "Run `pongbench catalogue" in capsys.readouterr().err


def test_a_brief_view_has_a_line_for_each_server() -> None:
    out = io.StringIO()
    with ConsoleView(Terminal(file=out, width=200), brief=True) as view:
        for document in synthetic.session(3, 12):
            view(document)
    lines = out.getvalue().splitlines()
    assert sum(": sustains " in line for line in lines) == 3
    assert len(lines) <= 3 + 3
