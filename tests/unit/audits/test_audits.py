"""Audits of a whole session, in progress, old or cut off."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from fakes.audited import Sound, by_code, failed, quiet, run
from fakes.load import Script
from response_times import scattered, windows
from synthetic import session

from workbench.analysis.audits import CHECKS, Auditor, audits_of, in_short, tainted
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Percentiles, PointStop, RunStop
from workbench.messages.notes import notice
from workbench.messages.reasons import reason
from workbench.results.render.data import of_session
from workbench.sessions import read_session

ROOT = Path(__file__).parents[3]


def test_nothing_fails_in_a_valid_run(sound: Sound) -> None:
    found = by_code(sound)
    assert {code: audit.state for code, audit in found.items()} == {
        **dict.fromkeys(CHECKS, "passed"),
        "overlap": "does-not-apply",
        "clients-alike": "does-not-apply",
        "link": "does-not-apply",
        "client-limit": "not-known",
        # Servers of fakes have no files.
        "versions": "not-known",
        # Two points of a second have few windows.
        "steady-state": "not-known",
        "independence": "not-known",
        "memory-growth": "does-not-apply",
    }
    assert tainted(found.values()) == {}
    assert in_short([*found.values()]) == "11 passed, 4 not known"


def test_a_recording_must_be_whole(sound: Sound) -> None:
    documents = sound
    assert failed(documents[:-1]) == ["recording"]
    stop = documents[-1]
    assert isinstance(stop, RunStop)
    stopped = [*documents[:-1], msgspec.structs.replace(stop, status="stopped")]
    assert failed(stopped) == ["recording"]
    lost = reason("windows-lost", count=2)
    gap = [
        msgspec.structs.replace(d, reasons=[lost.text()], findings=[lost.record()])
        if isinstance(d, PointStop) and d.point == 2
        else d
        for d in documents
    ]
    assert failed(gap) == ["recording"] and by_code(gap)["recording"].points == (2,)
    unwatched = notice("sampler-lost", said="It ended.").note(0)
    assert failed([documents[0], unwatched, *documents[1:]]) == ["recording"]


def test_a_run_in_progress_is_not_reported_as_cut_off(sound: Sound) -> None:
    auditor = Auditor()
    documents = sound
    for number, document in enumerate(documents[:-1]):
        auditor(document)
        found = auditor.audits(over=False)
        assert [audit.code for audit in found if audit.failed] == [], number
    assert {audit.code: audit for audit in found}["recording"].state == "not-known"
    auditor(documents[-1])
    assert [audit.failed for audit in auditor.audits()] == [False] * len(CHECKS)


def test_another_session_starts_from_scratch(tmp_path: Path, sound: Sound) -> None:
    auditor = Auditor()
    for document in [*run(tmp_path, Script(conserved=False)), *sound]:
        auditor(document)
    assert not any(audit.failed for audit in auditor.audits())


def test_the_last_of_several_attempts_is_audited(sound: Sound) -> None:
    documents = sound
    again: list[AnyDocument] = []
    for document in documents:
        again.append(document)
        if isinstance(document, PointStop) and document.point == 1:
            again[-1] = quiet(document, 80.0)
            again.append(msgspec.structs.replace(document, point=99, look=2))
    assert by_code(again)["quiet-host"].state == "passed"


def test_earlier_sessions_say_what_was_not_recorded_then() -> None:
    old = ROOT / "resources" / "sessions" / "demo.pong.yaml"
    found = by_code(read_session(old).completed())
    unknown = {code for code, audit in found.items() if audit.state == "not-known"}
    assert unknown == {"littles-law", "schedule", "processes", "cores", "descriptors"}
    assert all(found[code].message.code == "not-recorded" for code in unknown)
    assert found["conservation"].state == "passed"


def test_calls_longer_than_a_window_are_judged_by_when_they_began(sound: Sound) -> None:
    """Those that end first are the short ones, which is no drift of the server."""
    point = msgspec.structs.replace(
        next(document for document in sound if isinstance(document, PointStop)),
        seconds=5.0,
        measured_s=[0.2, 5.0],
        service_us=Percentiles(count=750, p50=2_000_000, p90=3_600_000, p99=1, p999=1, max=1),
    )
    found = by_code([sound[0], *windows(150, 5.0, scattered(4.0), seed=1), point])
    assert found["steady-state"].state == "passed"


@pytest.mark.parametrize("length", [0, 1, 2, 40])
def test_any_part_of_a_session_is_audited(length: int) -> None:
    documents = session(2, 4)[:length]
    assert all(audit.message.text() for audit in audits_of(documents))


def test_the_summary_has_audits_as_json_and_as_text(tmp_path: Path) -> None:
    summary = summarise(run(tmp_path, Script(lateness_us=40_000)))
    data = {audit["code"]: audit for audit in of_session(summary)["audits"]}
    points = {
        point["point"] for s in of_session(summary)["servers"].values() for point in s["points"]
    }
    assert data["schedule"]["state"] == "failed" and set(data["schedule"]["points"]) == points
    assert data["schedule"]["text"].startswith("The clients did not keep their schedule: ")
