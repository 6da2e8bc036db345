"""Opening sessions: whole, cut, damaged, edited by hand, from other versions."""

from __future__ import annotations

import io
import math
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import synthetic
from tests.recording import record_session
from workbench.documents import (
    VERSION,
    AnyDocument,
    MachineRecord,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.errors import BadInput
from workbench.presentable import presentable
from workbench.sessions import completed, read_session
from workbench.sessions.format import encode_line, encode_start
from workbench.sessions.reading import NewerSession, is_session, parse_session


@pytest.fixture
def documents() -> list[AnyDocument]:
    return synthetic.session(2, 2, rates=[500.0, 2500.0], seconds=1.0)


@pytest.fixture
def file(documents: list[AnyDocument], tmp_path: Path) -> Path:
    return record_session(tmp_path / "run.pong.yaml", documents)


def test_recorded_values_are_read_unchanged(documents: list[AnyDocument], file: Path) -> None:
    session = read_session(file)
    assert session.documents == documents
    assert not (session.damage or session.notes or session.interrupted)
    assert session.start == documents[0]
    assert is_session(file)


def test_a_session_cut_at_any_byte_opens_up_to_its_last_whole_document() -> None:
    point = synthetic.session(1, 1, rates=[400.0], seconds=0.4, ceiling=False)
    point = point[max(n for n, each in enumerate(point) if isinstance(each, PointStart)) :]
    start = RunStart(
        session="a",
        started_utc="2026-11-09T14:12:03Z",
        pongbench="0.1.0",
        plan={"servers": ["tornado"]},
        machines=[],
        servers=[],
        order=[],
        seed=1,
    )
    documents = [start, *point]
    whole = encode_start(start)
    # The block document counts with the first `---` after it.
    ends = [len(whole) + 3]
    for document in point:
        whole += encode_line(document)
        ends.append(len(whole))
    for size in range(len(whole) + 1):
        session = parse_session(whole[:size], name="cut.yaml")
        expected = sum(end <= size for end in ends)
        assert session.documents == documents[:expected], f"cut at {size}"
        assert not session.damage, f"cut at {size}"
        assert session.interrupted == (size < len(whole))


def moved(documents: list[AnyDocument], kind: type[AnyDocument], to: int) -> list[AnyDocument]:
    """The last of a kind somewhere else."""
    at = max(n for n, document in enumerate(documents) if isinstance(document, kind))
    others = [*documents[:at], *documents[at + 1 :]]
    return [*others[:to], documents[at], *others[to:]]


@pytest.mark.parametrize("edited", [False, True], ids=["as recorded", "edited"])
@pytest.mark.parametrize("kind", [PointStart, Window, PointStop])
def test_documents_out_of_order_are_damage_from_there_on(
    documents: list[AnyDocument], kind: type[AnyDocument], edited: bool
) -> None:
    changed = moved(documents, kind, 4)
    text = encode_start(changed[0]) + b"".join(map(encode_line, changed[1:]))
    if edited:
        text += b"# with a remark\n"
    session = parse_session(text, name="moved.yaml")
    kept = len(session.documents)
    assert kept in (4, 5) and session.documents == changed[:kept]
    line = text.count(b"\n", 0, text.index(encode_line(changed[kept]))) + 1
    assert session.damage.startswith(f"session moved.yaml, line {line}: documents are out of order")


@pytest.mark.parametrize("kind", [PointStart, PointStop])
def test_a_repeated_point_is_damage(documents: list[AnyDocument], kind: type[AnyDocument]) -> None:
    at = max(n for n, document in enumerate(documents) if isinstance(document, kind))
    twice = [*documents[: at + 1], *documents[at:]]
    text = encode_start(documents[0]) + b"".join(map(encode_line, twice[1:]))
    session = parse_session(text, name="twice.yaml")
    assert session.documents == documents[: at + 1]
    assert session.damage


# Keys of more than 1,024 characters are beyond YAML's own limit.
# Nor is any a key or topic of ours, whose value has a type: hypothesis tries words of the code.
names = st.text(max_size=60).filter(lambda name: not re.fullmatch("[a-z_-]{3,}", name))
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
notes = st.builds(
    Note,
    t_us=st.integers(0, 10**15),
    topic=names,
    text=st.text(),
    data=st.dictionaries(names, anything, max_size=4),
)
starts = st.builds(
    RunStart,
    session=names,
    started_utc=st.datetimes(datetime(1970, 1, 1), datetime(9998, 1, 1)).map(datetime.isoformat),
    pongbench=names,
    plan=st.dictionaries(names, anything, max_size=4),
    machines=st.builds(
        MachineRecord,
        name=names,
        roles=st.lists(names, max_size=2),
        facts=st.dictionaries(names, anything, max_size=4),
    ).map(lambda machine: [machine]),
    servers=st.just([]),
    order=st.just([]),
    seed=st.integers(0, 2**62),
)


def same(ours: Any, theirs: Any) -> bool:
    """Equal, and of the same types."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and bool(ours == theirs)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(start=starts, more=st.lists(notes, max_size=3))
def test_other_yaml_readers_read_the_same(
    start: RunStart, more: list[Note], tmp_path: Path
) -> None:
    path = tmp_path / "any.yaml"
    path.unlink(missing_ok=True)
    documents: list[AnyDocument] = [start, *more, RunStop(t_us=1, status="done")]
    record_session(path, documents)
    assert read_session(path).documents == list(map(presentable, documents))
    theirs = list(yaml.safe_load_all(path.read_bytes()))
    ours = [msgspec.to_builtins(document, str_keys=True) for document in documents]
    ours[0]["v"] = 1
    assert len(theirs) == len(ours)
    assert theirs[1:] == ours[1:]
    full = msgspec.to_builtins(msgspec.convert(theirs[0], RunStart))
    assert full == msgspec.to_builtins(start)
    assert same(theirs[0]["plan"], start.plan)
    for read, note in zip(theirs[1:-1], more, strict=True):
        assert same(read.get("data", {}), note.data)


def test_an_incomplete_character_does_not_lose_the_session(tmp_path: Path) -> None:
    start = synthetic.session(1, 1)[0]
    note = Note(t_us=1, topic="deploy", text="caf\udce9")
    session = read_session(record_session(tmp_path / "x.yaml", [start, note]))
    assert session.documents[1] == Note(t_us=1, topic="deploy", text="caf?")


def test_a_damaged_line_is_named_and_everything_before_it_is_kept(
    documents: list[AnyDocument], file: Path
) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    first = next(n for n, line in enumerate(lines) if line.startswith(b"--- {"))
    damaged = max(n for n, line in enumerate(lines) if b'"windows"' in line)
    lines[damaged] = lines[damaged].replace(b":", b"", 1)
    file.write_bytes(b"".join(lines))
    session = read_session(file)
    last = max(n for n, each in enumerate(documents) if isinstance(each, PointStart))
    assert first < damaged and session.documents == documents[: last + 1]
    assert session.damage.startswith(f"session {file}, line {damaged + 1}")


@pytest.mark.parametrize(
    "rubbish",
    [b"\x00" * 512, b"--- \x00\xff", b"--", b'--- {"kind":"wind', b"[" * 5000, b"--- {}}", b"x"],
)
def test_garbage_after_a_crash_is_left_out(
    rubbish: bytes, documents: list[AnyDocument], file: Path
) -> None:
    file.write_bytes(file.read_bytes() + rubbish)
    session = read_session(file)
    assert session.documents == documents
    assert not session.damage


def line_in(file: Path, line: str) -> str:
    """The complaint about `line` in the middle of the session."""
    text = file.read_text()
    head, separator, rest = text.partition("--- {")
    file.write_text(f"{head}{line}\n{separator}{rest}")
    session = read_session(file)
    assert len(session.documents) == 1
    return session.damage


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('--- {"kind":"run_stop","t_us":"x","status":"done"}', "t_us: expected a whole number"),
        ('--- {"kind":"run_stop","t_us":1,"status":"fine"}', "expected aborted, done, failed or"),
        ('--- {"t_us":1}', "the key 'kind' is missing"),
        ("--- [1, 2]", "expected keys with values, got a list"),
        ("--- *x", "is an alias"),
        ("--- " + "[" * 200_000, "nested more than"),
        ('--- {"kind":' + "[" * 200_000, "nested more than"),
        ("--- !!python/name:os.system x", "is a tag"),
    ],
)
def test_an_invalid_document_gives_one_sentence(line: str, sentence: str, file: Path) -> None:
    assert sentence in line_in(file, line)


def test_a_second_run_in_the_same_file_is_kept_apart(
    documents: list[AnyDocument], file: Path
) -> None:
    file.write_bytes(file.read_bytes() * 2)
    session = read_session(file)
    assert session.documents == documents
    assert "a second run begins" in session.damage


def test_a_session_without_its_beginning_says_so(file: Path) -> None:
    _, separator, rest = file.read_text().partition("--- {")
    file.write_text(f"# pongbench session\n{separator}{rest}")
    session = read_session(file)
    assert session.documents == []
    assert session.damage == f"session {file}, line 2: this is no run_start; a session is one run."
    with pytest.raises(BadInput, match="this is no run_start"):
        _ = session.start


def test_a_session_edited_by_hand_still_opens(documents: list[AnyDocument], file: Path) -> None:
    text = file.read_text().replace(
        'started_utc: "2026-11-09T14:12:03Z"', "started_utc: 2026-11-09"
    )
    head, _, rest = text.partition("--- {")
    mine = "---\n# I remember this one.\nkind: note\nt_us: 5\ntopic: hand\ntext: warm room\n"
    flow = '--- {"kind": "note",\n  "t_us": 6, "topic": "hand", "text": "fan on"}\n'
    file.write_bytes(
        b"\xef\xbb\xbf" + f"{head}{mine}{flow}--- {{{rest}".replace("\n", "\r\n").encode()
    )
    session = read_session(file)
    assert not session.damage
    assert session.start.started_utc == "2026-11-09"
    assert session.documents[1:3] == [
        Note(t_us=5, topic="hand", text="warm room"),
        Note(t_us=6, topic="hand", text="fan on"),
    ]
    assert session.documents[3:] == documents[1:]


def test_unknown_kinds_and_keys_of_a_later_minor_version_are_skipped_with_a_note(
    documents: list[AnyDocument], file: Path
) -> None:
    text = file.read_text()
    head, _, rest = text.partition("--- {")
    later = '--- {"kind":"aurora","t_us":1,"x":[1,2]}\n' * 3
    file.write_text(f'{head}{later}--- {{"shiny":1,{rest}')
    session = read_session(file)
    assert session.documents == documents
    assert session.notes == [
        "3 documents of the unknown kind 'aurora' were left out; a newer Pongbench may know it."
    ]


def test_a_newer_version_is_refused_unless_partial_reading_is_requested(
    documents: list[AnyDocument], file: Path
) -> None:
    file.write_text(file.read_text().replace(f"\nv: {VERSION}\n", "\nv: 9\n"))
    with pytest.raises(NewerSession) as caught:
        read_session(file)
    assert str(caught.value) == (
        f"{file} is from a newer Pongbench (9). Update, or open what this one understands."
    )
    assert read_session(file, newer=True).documents[1:] == documents[1:]


@pytest.mark.parametrize(
    "content", [b"name: a plan\n", b"\x89PNG\r\n\x1a\n", b"{}", b"#!/bin/sh\n"]
)
def test_a_foreign_file_is_no_session(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    assert not is_session(path)
    with pytest.raises(BadInput, match="is not a session: it does not begin with '# pongbench"):
        read_session(path)


def test_a_missing_session_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no session file"):
        read_session(tmp_path / "none.yaml")


def test_a_session_cut_before_its_first_document_says_so(tmp_path: Path) -> None:
    path = tmp_path / "short.yaml"
    path.write_bytes(b"# pongbench session\n---\nkind: run_start\n")
    with pytest.raises(BadInput, match="was cut off before anything was recorded"):
        _ = read_session(path).start


def test_a_point_that_never_ended_is_marked_everywhere(tmp_path: Path) -> None:
    documents = synthetic.session(2, 2, seconds=2.0, end="crashed")
    session = read_session(record_session(tmp_path / "crashed.yaml", documents))
    assert session.interrupted
    assert session.documents == documents
    *same_as_recorded, stop = session.completed()
    assert same_as_recorded == documents
    assert isinstance(stop, PointStop)
    last = next(d for d in reversed(documents) if isinstance(d, PointStart))
    windows = [d for d in documents if isinstance(d, Window) and d.point == last.point]
    assert (stop.point, stop.server, stop.rate_per_s) == (last.point, last.server, last.rate_per_s)
    assert not stop.complete
    assert stop.verdict == "inconclusive"
    counts = stop.counts
    assert counts.scheduled == sum(window.due for window in windows)
    assert counts.scheduled == (
        counts.unsent + counts.succeeded + sum(counts.errors.values()) + counts.in_flight
    )
    assert math.isclose(stop.seconds, len(windows) * 0.2)
    assert stop.replies_per_s == pytest.approx(counts.succeeded / stop.seconds)
    assert stop.offered_per_s == pytest.approx(counts.scheduled / stop.seconds)
    times = [window.latency_us for window in windows if window.latency_us]
    assert stop.latency_us is not None
    assert stop.latency_us.count == sum(each.count for each in times)
    assert min(t.p50 for t in times) <= stop.latency_us.p50 <= 1.07 * max(t.p50 for t in times)


def test_a_whole_session_is_complete_as_it_is(documents: list[AnyDocument]) -> None:
    assert list(completed(documents)) == documents


def test_a_point_left_open_in_the_middle_ends_before_the_next(documents: list[AnyDocument]) -> None:
    stops = [n for n, document in enumerate(documents) if isinstance(document, PointStop)]
    without = documents[: stops[1]] + documents[stops[1] + 1 :]
    repaired = [d for d in completed(without) if isinstance(d, PointStop)]
    assert [stop.point for stop in repaired] == [
        d.point for d in documents if isinstance(d, PointStop)
    ]
    assert [stop.complete for stop in repaired].count(False) == 1


def test_the_header_is_what_every_yaml_reader_skips(file: Path) -> None:
    assert next(iter(yaml.safe_load_all(io.BytesIO(file.read_bytes()))))["kind"] == "run_start"
