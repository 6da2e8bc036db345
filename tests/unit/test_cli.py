"""The command line: what it prints where, and how it ends."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import msgspec
import pytest

from app.__main__ import MORE, main
from tests import synthetic
from tests.recording import record_session
from workbench.analysis.summary import summarise
from workbench.cli import COMMANDS, EXAMPLES, parser
from workbench.commands.console import ConsoleView
from workbench.documents import VERSION, AnyDocument, PointStart, PointStop, RunStart
from workbench.messages.reasons import reason
from workbench.results.render.terminal import print_summary
from workbench.sessions.format import encode
from workbench.terminal import Terminal


@pytest.fixture
def documents() -> list[AnyDocument]:
    return synthetic.session(2, 4)


@pytest.fixture
def file(documents: list[AnyDocument], tmp_path: Path) -> Path:
    return record_session(tmp_path / "run.pong.yaml", documents)


def test_replay_as_json_gives_exactly_the_documents_recorded(
    documents: list[AnyDocument], file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", "--json", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [msgspec.json.decode(line, type=AnyDocument) for line in out.splitlines()] == documents
    assert out.splitlines() == [encode(document).decode() for document in documents]


def test_servers_that_do_not_speak_a_protocol_are_named_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "demo", "--set", "protocol=websocket", "--preview"]) == 2
    assert capsys.readouterr().err == (
        "pongbench: plan demo, servers: asyncio streams, asyncio Protocol, gevent, Tornado,"
        " Twisted, Eventlet and Circuits (epoll) support pong, not websocket. Leave them out"
        " of the plan.\n"
    )


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


def test_the_summary_gives_each_servers_sustained_rate_and_every_verdict(
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
    assert "Sustained" in out


def test_an_interrupted_run_is_shown_and_marked_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = record_session(tmp_path / "crashed.yaml", synthetic.session(2, 4, end="crashed"))
    assert main(["summary", str(file)]) == 0
    out, err = capsys.readouterr()
    assert err == ("pongbench: The recording ends before the run did; this is the recorded part.\n")
    assert f"interrupted: {reason('recording-cut').text()}" in out


def test_a_damaged_session_shows_what_it_can_and_ends_with_2(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = file.read_text()
    at = text.rindex('--- {"kind":"point_stop"')
    file.write_text(f"{text[:at]}--- what?\n{text[at:]}")
    assert main(["summary", str(file), "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["servers"]
    assert "got 'what?'. Only the part before it is shown." in err
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
        (["nowhere.yaml"], "There is no session file nowhere.yaml."),
        (["/"], "/ is a directory; give a session file."),
        (["summary"], "the following arguments are required: FILE"),
    ],
)
def test_bad_input_gives_one_line_and_exit_code_2(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("pongbench: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_plan_with_a_server_that_is_unavailable_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    plan.write_text("servers: [asyncio-streams, friendlyflow]\nrates: [500]\nseconds: 1\n")
    assert main(["run", str(plan), "--preview"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "pongbench: FriendlyFlow is not available: Its code was on Google Code and is in no public"
        " repository found; only its wiki is left. Leave it out of the plan.\n"
    )


def test_a_newer_session_opens_in_part_on_request(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(file.read_text().replace(f"\nv: {VERSION}\n", "\nv: 9\n"))
    assert main(["summary", str(file)]) == 2
    assert "or open what this one understands (--newer)." in capsys.readouterr().err
    assert main(["summary", str(file), "--newer"]) == 0


def test_interrupting_a_command_ends_with_130(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(session: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.commands.summary.summarise", interrupted)
    assert main(["summary", str(file)]) == 130


def test_the_terminal_table_shows_servers_figures_and_time_left(
    documents: list[AnyDocument],
) -> None:
    screen = io.StringIO()
    # Rich shows no live table where TERM is dumb, whatever its other settings.
    able = {"TERM": "xterm"}
    console = Terminal(
        file=screen, force_terminal=True, width=140, color_system=None, _environ=able
    )
    stops = [n for n, d in enumerate(documents) if isinstance(d, PointStop)]
    with ConsoleView(console) as view:
        for document in documents[: stops[-2] + 1]:
            view(document)
    shown = screen.getvalue()
    assert "asyncio streams" in shown
    assert "point 8 of 8" in shown
    assert "left" in shown
    assert "server-limited" in shown


def test_times_from_the_send_are_printed_where_a_load_tool_has_no_others(
    documents: list[AnyDocument],
) -> None:
    file = io.StringIO()
    with ConsoleView(Terminal(file=file, width=160)) as view:
        for each in documents:
            if isinstance(each, PointStop):
                view(msgspec.structs.replace(each, latency_us=None, service_us=each.latency_us))
            else:
                view(each)
    assert re.search(r"/s .*p50 .*, p99 .* from the send  errors 0 %", file.getvalue())
    assert "unknown response times" not in file.getvalue()


@pytest.mark.parametrize("width", [50, 60, 80, 200])
def test_a_narrow_terminal_leaves_columns_out_and_cuts_no_figure(
    documents: list[AnyDocument], width: int
) -> None:
    console = Terminal(file=io.StringIO(), width=width, height=40, _environ={"TERM": "xterm"})
    view = ConsoleView(console)
    for document in documents[:-1]:
        view.progress(document)
    console.print(view.render())
    print_summary(summarise(documents), console)
    assert isinstance(console.file, io.StringIO)
    table, summary = console.file.getvalue().split("point 8 of 8")
    for text in (table, summary.partition("\n")[2]):
        assert "\N{HORIZONTAL ELLIPSIS}" not in text
        assert "asyncio Protocol" in text
        assert "/s" in text
    assert ("p50" in table) == (width == 200)


def test_the_live_table_has_the_processes_and_threads_of_each_server(
    documents: list[AnyDocument],
) -> None:
    start = documents[0]
    assert isinstance(start, RunStart)
    one, *others = start.servers
    many = msgspec.structs.replace(one, gate={"processes": 4, "threads": 8})
    console = Terminal(file=io.StringIO(), width=200, _environ={"TERM": "xterm"})
    view = ConsoleView(console)
    view.progress(msgspec.structs.replace(start, servers=[many, *others]))
    console.print(view.render())
    assert isinstance(console.file, io.StringIO)
    head, *rows = [line for line in console.file.getvalue().splitlines() if line.strip()]
    assert "Processes" in head
    assert [row for row in rows if "4 (8 threads)" in row and one.name in row]


@pytest.mark.parametrize("command", ["summary", "compare"])
def test_a_pipe_is_as_wide_as_columns_says(
    command: str, file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def widest_row() -> int:
        assert main([command, str(file)]) == 0
        return max(len(line) for line in capsys.readouterr().out.splitlines() if "─" in line)

    monkeypatch.delenv("COLUMNS", raising=False)
    whole = widest_row()
    monkeypatch.setenv("COLUMNS", "70")
    assert widest_row() <= 70 < whole


def test_the_server_under_load_is_shown_when_the_terminal_has_too_few_lines() -> None:
    console = Terminal(file=io.StringIO(), width=100, height=12, _environ={"TERM": "xterm"})
    view = ConsoleView(console)
    swept = 0
    for document in synthetic.session(12, 2):
        view.progress(document)
        swept += isinstance(document, PointStart) and document.purpose == "sweep"
        if swept == 17:
            break
    console.print(view.render())
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert len(shown.splitlines()) <= 12
    assert synthetic.contestants(12)[8].name in shown
    assert "and 6 more servers" in shown
    assert "of 24" in shown


def test_lines_for_a_file_distinguish_passes_and_repeats(documents: list[AnyDocument]) -> None:
    start, *rest = documents
    assert isinstance(start, RunStart)
    again = [msgspec.structs.replace(block, pass_number=2) for block in start.order]
    twice = msgspec.structs.replace(start, order=[*start.order, *again])
    (last,) = [d for d in rest if isinstance(d, PointStop)][-1:]
    console = Terminal(file=io.StringIO(), width=1000)
    with ConsoleView(console) as view:
        for document in [twice, *rest, msgspec.structs.replace(last, pass_number=2, look=3)]:
            view(document)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    name = next(record.name for record in start.servers if record.id == last.server)
    assert f"{name} {last.rate_per_s:,.0f}/s (pass 1)" in shown
    assert f"{name} {last.rate_per_s:,.0f}/s (pass 2, third try)" in shown


def test_all_plans_are_listed_with_what_they_take(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    folder = tmp_path / "data" / "plans"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("name: Mine\nservers: [gevent]\nrates: [500]\nseconds: 1\n")
    (folder / "gone.yaml").write_text("servers: [not-there]\nrates: [500]\nseconds: 1\n")
    (folder / "broken.yaml").write_text("servers: [gevent]\nrates: fast\n")
    assert main(["plans"]) == 0
    out, err = capsys.readouterr()
    rows = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert re.search(r"Socket ping-pong +7 .* min", rows["demo"])
    assert re.search(r"Mine +1 .* (s|min)", rows["mine"]), "the user's own"
    assert rows["gone"].rstrip().endswith("?"), "one of its servers is missing"
    assert "2009: Asynchronous Servers in Python" in out and "broken" not in rows
    assert re.fullmatch(r".*broken\.yaml.*rates.*\n", err)
    assert main(["plans", "--json"]) == 0
    plans = {plan["id"]: plan for plan in json.loads(capsys.readouterr().out)["plans"]}
    low, high = plans["mine"]["seconds"]
    assert 1 < low <= high < 600 and plans["mine"]["own"]
    assert "rates" in plans["broken"]["problem"] and plans["gone"]["seconds"] is None


def test_the_help_of_every_command_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert {name.split()[0] for name in EXAMPLES} <= {*COMMANDS, *MORE}
    for name in {*EXAMPLES, *COMMANDS, *MORE}:
        with pytest.raises(SystemExit):
            main([*name.split(), "--help"])
        assert f"example: pongbench {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", ["query SQL", "query SQL a", "compare a", "catalogue check a", "catalogue features"]
)
def test_options_may_stand_before_and_between_what_is_repeated(words: str) -> None:
    given = words.split()
    option = "--csv" if "features" in given else "--json"
    found = vars(parser(given, MORE).parse_args([*given, option, "b", "c"]))
    (repeated,) = [value for value in found.values() if isinstance(value, list) and value]
    assert [str(each) for each in repeated] == ["a"] * ("a" in given) + ["b", "c"]
    assert found[option.strip("-")]
