"""Messages: every code has its sentence, is recorded, and is read as it was."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.sentences import EXAMPLES, STATED, TABLES
from tests.synthetic import session
from workbench.documents import Note, PointStop
from workbench.messages.base import Record, Said, Stated, names_of, places, recorded
from workbench.messages.errors import error_label, listed_errors
from workbench.messages.notes import NOTICES
from workbench.messages.problems import problem
from workbench.messages.reasons import TEMPLATES, reason, reasons_of
from workbench.messages.topics import TOPICS, read_note
from workbench.sessions.format import encode

ROOT = Path(__file__).parents[2]
MESSAGES = [message for message, _, _ in EXAMPLES]


@pytest.mark.parametrize(
    ("message", "record", "sentence"), EXAMPLES, ids=lambda value: getattr(value, "code", "")
)
def test_a_message_is_recorded_and_rendered(message: Said, record: Record, sentence: str) -> None:
    assert msgspec.json.decode(msgspec.json.encode(message.record())) == record
    assert message.text() == sentence


def test_a_name_keeps_its_capital_after_a_key() -> None:
    spoken = {"protocols": ["http/1.0"], "wanted": "http/1.1"}
    unfit = problem("protocol-not-supported", servers=["Flask"], **spoken)
    assert unfit.line().startswith("servers: Flask supports")
    assert problem("no-servers").line().startswith("servers: none is listed")


@pytest.mark.parametrize(
    ("message", "sentence"), STATED, ids=lambda value: getattr(value, "code", "")
)
def test_a_message_of_a_table_is_rendered(message: Stated, sentence: str) -> None:
    assert message.text() == sentence
    recorded = msgspec.json.decode(msgspec.json.encode(message.record()))
    for table in (TEMPLATES, NOTICES):
        if message.code in table and message.template == table[message.code][1]:
            assert table.read(recorded) == message


def test_a_figure_of_0_is_no_missing_one() -> None:
    assert reason("clients-late", late_share=0.6, p99_us=0).data()["p99_us"] == 0
    assert "p99_us" not in reason("clients-late", late_share=0.6, p99_us=None).data()
    assert places([("gevent", 4.0)], suffix="") == "gevent at 4"


def test_every_code_has_a_sentence() -> None:
    assert {message.code for message in MESSAGES} == TOPICS.keys()
    assert {each.code for each, _ in STATED} == set().union(
        *(table for table, *_ in TABLES.values())
    )


def test_a_message_of_a_table_gets_what_its_template_names_wherever_it_is_made() -> None:
    tables = {make: table for table, _, make in TABLES.values()}
    made = set()
    for file in [*(ROOT / "workbench").rglob("*.py"), *(ROOT / "app").rglob("*.py")]:
        for call in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
                table = tables.get(call.func.id, {})
                if table and isinstance(call.args[0], ast.Constant):
                    assert call.args[0].value in table, file
                for code in ast.walk(call.args[0]) if table else ():
                    if isinstance(code, ast.Constant) and code.value in table:
                        made.add(code.value)
                        given = {each.arg for each in call.keywords}
                        if None not in given:
                            table.check(code.value, given)
    assert made == set().union(*tables.values())


@pytest.mark.parametrize("template", ["{name:by_nothing}", "{name:?yes|no {name:by_nothing}}"])
def test_a_template_names_formats_that_there_are(template: str) -> None:
    names_of("{name:?{name}|none} {name:how_often}")
    with pytest.raises(TypeError, match="nothing"):
        names_of(template)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.code)
def test_a_message_is_read_as_it_was_recorded(message: Said) -> None:
    data = msgspec.json.decode(msgspec.json.encode(message.data()))
    assert read_note(Note(t_us=0, topic=message.code, text="", data=data)) == message


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.code)
def test_a_message_survives_a_round_trip_through_a_session(message: Said) -> None:
    note = Note(t_us=1, topic="x", text=message.text(), data=message.record())

    assert msgspec.json.decode(encode(note), type=Note) == note


@pytest.mark.parametrize(
    "finding",
    [
        {},
        {"code": "of-a-later-version", "figure": 3},
        {"code": 7},
        {"code": "calls-failed", "failed": "many", "calls": 10, "errors": {}},
        {"code": "calls-failed", "failed": 1},
        {"code": "calls-failed", "failed": 1, "calls": 2, "errors": "x"},
        {"code": "clients-late", "late_share": math.inf},
    ],
)
def test_an_unknown_code_shows_the_recorded_sentence(finding: dict[str, Any]) -> None:
    stop = next(d for d in session(1, 2) if isinstance(d, PointStop))
    stop = msgspec.structs.replace(stop, reasons=["As it was said."], findings=[finding])

    assert reasons_of(stop) == [recorded("As it was said.")]


@pytest.mark.parametrize(
    ("topic", "data", "said"),
    [
        ("warm-up", {"name": "A", "seconds": 2.0, "calls": 90}, "for 2 s with 90 calls."),
        ("few-descriptors", {"allowed": 900, "wanted": 1000}, "The client allows 900 "),
    ],
)
def test_notes_that_left_out_what_was_usual_keep_their_codes(
    topic: str, data: dict[str, Any], said: str
) -> None:
    found = read_note(Note(t_us=0, topic=topic, text="", data=data))
    assert found.code == topic
    assert said in found.text()


def test_a_point_recorded_before_there_were_codes_has_its_sentences() -> None:
    stop = next(d for d in session(1, 2) if isinstance(d, PointStop))
    stop = msgspec.structs.replace(stop, reasons=["One.", "Two."], findings=[])

    assert [reason.text() for reason in reasons_of(stop)] == ["One.", "Two."]


def test_an_unexpected_response_shows_its_status() -> None:
    assert error_label("protocol-503") == "unexpected response: 503"
    assert error_label("other-EPIPE") == "other error: EPIPE"
    assert error_label("connreset") == "connection reset"
    assert error_label("connreset", short=True) == "reset"
    assert error_label("of-a-later-version") == "of-a-later-version"


def test_errors_are_listed_by_frequency() -> None:
    assert listed_errors({"connreset": 3, "protocol-500": 12}) == (
        "unexpected response: 500 (12), connection reset (3)"
    )
    assert listed_errors({"protocol-500": 12, "connreset": 0}) == "unexpected response: 500"
