"""Then and now: the figures of a source beside those of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.synthetic import CONTESTANTS, session
from workbench.analysis.summary import summarise
from workbench.plan import library
from workbench.plan.reading import to_data
from workbench.results.published import ThenAndNow, then_and_now


def compared(source: str, server: str, *, passes: int = 1, **changes: Any) -> ThenAndNow | None:
    """A run of a source's preset, of one server that fails some of its calls, with changes of the
    plan or its workload."""
    (preset,) = (each for each in library.presets() if each.id == source)
    assert preset.plan
    data = to_data(preset.plan)
    for key, value in changes.items():
        part = data["workload"] if key in data["workload"] else data
        part[key] = value
    slow = replace(CONTESTANTS[0], id=server, name=server, capacity_per_s=1_000.0)
    return then_and_now(data, summarise(session([slow], rates=[4_000.0], repeats=passes)).servers)


def test_then_and_now_print_the_same_kinds_of_figures() -> None:
    found = compared("gasc-2015-calibration-json", "flask", passes=2)
    assert found
    (row,) = found.measured
    requests, mean, errors = row.then.split(", ")
    assert (requests, mean, errors) == ("79,598 in the run", "mean 13.16 s", "4,433 errors")
    there = row.now.split(", ")
    assert there[0].endswith(" in the run")
    assert there[1].startswith("mean ")
    assert there[2].endswith(" errors")
    # 4,000/s for 2 s, of which each pass is a run.
    made = [int(part.split()[0].replace(",", "")) for part in (there[0], there[2])]
    assert sum(made) == 8_000
    assert min(made) > 0


@pytest.mark.parametrize(
    ("untrusted_from", "ends"),
    [
        (None, "ok at 6,000/s, the highest tested"),
        (6_000.0, "ok at 4,000/s, the highest trusted"),
        (4_000.0, "ok at 2,000/s, the highest trusted"),
        (2_000.0, "client-limited at 6,000/s"),
    ],
)
def test_what_can_not_be_trusted_is_not_set_beside_what_was_published(
    untrusted_from: float | None, ends: str
) -> None:
    """The server answers more at each rate; from some on, the clients are the limit."""
    (preset,) = (each for each in library.presets() if each.id == "gasc-2015-slow-db")
    assert preset.plan
    able = replace(CONTESTANTS[0], id="flask", name="Flask", capacity_per_s=9_000.0)
    run = session([able], rates=[2_000.0, 4_000.0, 6_000.0], untrusted_from=untrusted_from)
    found = then_and_now(to_data(preset.plan), summarise(run).servers)
    assert found
    (row,) = found.measured
    assert row.now.endswith(ends)
    assert row.now.startswith("mean ") == (untrusted_from != 2_000.0)


def test_where_the_source_states_a_mean_alone_so_does_the_run() -> None:
    found = compared("gasc-2015-slow-db", "flask")
    assert found
    (row,) = found.measured
    assert row.then == "mean 18.74 ms"
    assert row.now.startswith("mean ")


@pytest.mark.parametrize(
    ("scaled", "server", "changed"),
    [
        (
            "piel-2010-mayhem-scaled",
            "uwsgi-nginx",
            "This run: think time 0.75 s, not 5 s; tested at 100, 300 and 500 users/s, not 500"
            " users/s; point length 20 s, not 300 s.",
        ),
        ("gasc-2015-calibration-db-scaled", "flask", "This run: point length 5 s, not 30 s."),
        (
            "armand-2013-ab-c100-scaled",
            "tornado-web",
            "This run: calls per connection 100, not 1,000; point length 10,000 calls, not 100,000"
            " calls.",
        ),
    ],
)
def test_what_a_scaled_form_changes_is_named_with_what_is_not_as_it_was_then(
    scaled: str, server: str, changed: str
) -> None:
    found = compared(scaled, server)
    full = compared(scaled.removesuffix("-scaled"), server)
    assert found and full
    assert found.differs == f"{full.differs} {changed}"
    assert "This run" not in full.differs


def test_what_a_user_changes_is_named_too() -> None:
    found = compared("gasc-2015-constant-json", "flask", rates=[2_000.0, 4_000.0], backlog=50)
    assert found
    assert found.differs.endswith(
        "This run: tested at 2,000 and 4,000 requests/s, not 4,000 requests/s; backlog 50, not 512."
    )


@pytest.mark.parametrize(
    ("source", "server", "other"),
    [
        ("piel-2010-mayhem", "uwsgi-nginx", {"calls_per_connection": 1, "think_time_s": 0.0}),
        ("piel-2010-mayhem", "uwsgi-nginx", {"think_time_s": 0.0}),
        ("armand-2013-ab-c50", "tornado-web", {"calls_per_connection": 1}),
        ("armand-2013-ab-c50", "tornado-web", {"path": "/"}),
    ],
)
def test_a_run_of_another_question_is_not_compared(
    source: str, server: str, other: dict[str, Any]
) -> None:
    assert compared(source, server)
    assert compared(source, server, **other) is None


def test_what_comments_of_2009_found_about_the_backlog_is_cited() -> None:
    found = compared("piel-2009-sockets", "tornado")
    assert found
    assert found.found.endswith("A comment: a backlog of 50,000 removed the resets.")
