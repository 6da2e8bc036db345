"""The command line: what it prints where, and how it ends."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from app.__main__ import main
from tests import synthetic
from workbench.commands.console import ConsoleView
from workbench.documents import AnyDocument, PointStop
from workbench.sessions import Recorder
from workbench.sessions.format import encode


def recorded(documents: list[AnyDocument], path: Path) -> Path:
    recorder = Recorder(path)
    for document in documents:
        recorder(document)
    recorder.close()
    return path


@pytest.fixture
def documents() -> list[AnyDocument]:
    return synthetic.session(2, 4)


@pytest.fixture
def file(documents: list[AnyDocument], tmp_path: Path) -> Path:
    return recorded(documents, tmp_path / "run.pong.yaml")


def test_replay_as_json_gives_exactly_the_documents_recorded(
    documents: list[AnyDocument], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--json", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [msgspec.json.decode(line, type=AnyDocument) for line in out.splitlines()] == documents
    lines = file.read_text().splitlines()
    recorded_lines = [line[4:] for line in lines if line.startswith("--- {")]
    assert out.splitlines()[1:] == recorded_lines
    assert out.splitlines()[0] == encode(documents[0]).decode()


def test_the_summary_as_json_is_one_object_with_knees_and_verdicts(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(file), "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    servers = json.loads(out)["servers"]
    assert {id_: s["knee_per_s"] for id_, s in servers.items()} == synthetic.knees(2, 4)
    point = servers["asyncio-streams"]["points"][0]
    assert point["verdict"] == "ok"
    assert {"offered_per_s", "replies_per_s", "errors_pct"} <= point.keys()
    assert {"p50", "p99"} <= point["latency_ms"].keys()


def test_the_summary_says_what_each_server_holds_and_judges_every_point(
    documents: list[AnyDocument], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["summary", str(file)]) == 0
    out = capsys.readouterr().out
    points = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    assert sum(out.count(f" {verdict}") for verdict in ("ok", "server-limited")) == len(points)
    assert re.search(r"asyncio streams +4,500/s", out)


def test_a_film_ends_with_the_summary(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(file), "--speed", "max"]) == 0
    out, err = capsys.readouterr()
    assert "Socket ping-pong: 2 servers, 8 points" in err
    assert err.count("  ok\n") == 5
    assert err.rstrip().endswith("Done")
    assert "Holds" in out


def test_an_interrupted_run_is_shown_and_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recorded(synthetic.session(2, 4, end="crashed"), tmp_path / "crashed.yaml")
    assert main(["summary", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == ("pongbench: The run did not come to its end; this is what was recorded of it.\n")
    assert "inconclusive: The recording ends in the middle of this point" in out


def test_a_damaged_session_shows_what_it_can_and_ends_with_2(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = file.read_text()
    at = text.rindex('--- {"kind":"point_stop"')
    file.write_text(f"{text[:at]}--- what?\n{text[at:]}")
    assert main(["summary", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["servers"]
    assert "got 'what?'. Only what comes before it is shown." in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["summary", "nowhere.yaml"], "There is no session file nowhere.yaml."),
        (["summary", "pyproject.toml"], "pyproject.toml is not a session"),
        (["summary", "."], ". is a directory; give a session file."),
        (["replay", "x.yaml", "--speed", "0"], "'0' is not a speed from 1 to 1000, or max"),
        (["replay", "x.yaml", "--speed", "nan"], "'nan' is not a speed"),
        (["dance"], "there is no 'dance'"),
        (["summary"], "the following arguments are required: FILE"),
    ],
)
def test_bad_input_is_one_line_and_ends_with_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pongbench: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_newer_session_opens_in_part_when_wanted(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(file.read_text().replace("\nv: 1\n", "\nv: 3\n"))
    assert main(["summary", str(file)]) == 2
    assert "or open what this one understands (--newer)." in capsys.readouterr().err
    assert main(["summary", str(file), "--newer"]) == 0


def test_interrupting_a_command_ends_with_130(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(session: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.commands.summary.summarise", interrupted)
    assert main(["summary", str(file)]) == 130


def test_the_table_of_a_terminal_shows_servers_figures_and_what_is_left(
    documents: list[AnyDocument],
) -> None:
    screen = io.StringIO()
    # Rich shows no live table where TERM says dumb, whatever else it is told.
    able = {"TERM": "xterm"}
    console = Console(file=screen, force_terminal=True, width=140, color_system=None, _environ=able)
    stops = [n for n, d in enumerate(documents) if isinstance(d, PointStop)]
    with ConsoleView(console) as view:
        for document in documents[: stops[-2] + 1]:
            view(document)
    shown = screen.getvalue()
    assert "asyncio streams" in shown
    assert "point 8 of 8" in shown
    assert "left" in shown
    assert "server-limited" in shown
