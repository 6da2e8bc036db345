"""Tests of the command line for CI: what passes, what fails, and what is not decided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec import structs

from app.__main__ import main
from tests.comparisons import RATES, side
from tests.recording import record_session
from tests.synthetic import Contestant, contestants, session
from workbench.analysis.summary import Summary, summarise
from workbench.documents import AnyDocument, PointStop
from workbench.errors import BadInput, ExitCode
from workbench.plan.reading import plan_from_data
from workbench.results.comparison import compare
from workbench.results.criteria import condition, exit_code, share, slower
from workbench.results.differences import pairs
from workbench.results.render.ci import annotation, junit, of_session

PLAN = plan_from_data(
    {"servers": ["gevent", "trio"], "rates": RATES, "seconds": 1, "repeats": 2}, name="plan"
)


def states(text: str, summary: Summary) -> list[str]:
    return [each.state for each in condition(text, PLAN).outcomes(summary)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sustained < 6000/s", ["failed", "passed"]),  # 5,250/s and 7,450/s
        ("sustained > 6,000", ["passed", "failed"]),
        ("p99_ms > 60000 at 2000/s", ["passed", "passed"]),
        ("p99_ms > 0.01 ms at 2000", ["failed", "failed"]),
        ("errors_pct >= 1 % at 6,000/s", ["failed", "passed"]),
        ("tls_resumed_pct < 1 at 2000/s", ["undecided", "undecided"]),  # it has no value there
    ],
)
def test_a_condition_fails_every_server_of_which_it_is_true(text: str, expected: list[str]) -> None:
    assert states(text, summarise(session(2, rates=RATES))) == expected


def test_nothing_is_claimed_of_what_was_not_measured_or_is_not_reliable() -> None:
    gave_up = summarise(session(1, rates=RATES[:4]))
    assert states("p99_ms > 0 at 9000/s", gave_up) == ["undecided"]
    # It sustained all four: it may sustain more, but it does not sustain less.
    assert states("sustained < 5000/s", gave_up) == ["undecided"]
    assert states("sustained < 4000/s", gave_up) == ["passed"]
    assert states("sustained > 3999/s", gave_up) == ["failed"]
    untrusted = summarise(session(1, rates=RATES, untrusted_from=3000))
    assert states("p99_ms > 0 at 3000/s", untrusted) == ["undecided"]
    assert states("p99_ms > 0 at 2000/s", untrusted) == ["failed"]
    remarked = summarise(map(_remarked, session(1, rates=RATES)))
    assert states("p99_ms > 0 at 2000/s", remarked) == ["undecided"]
    assert states("p99_ms > 60000 at 2000/s", remarked) == ["passed"]


def _remarked(document: AnyDocument) -> AnyDocument:
    if isinstance(document, PointStop) and document.verdict == "ok":
        return structs.replace(document, reasons=["Background load."])
    return document


@pytest.mark.parametrize(
    "text",
    [
        "quick",
        "p98_ms > 3 at 2000/s",
        "p99_ms > 3",
        "p99_ms > 3 s at 2000/s",
        "p99_ms > 3 at 2500/s",
        "sustained < 3000/s at 2000/s",
    ],
)
def test_a_condition_that_can_never_be_told_is_refused_before_the_run(text: str) -> None:
    with pytest.raises(BadInput, match="--fail-if"):
        condition(text, PLAN)


def _with_cost(by: float) -> list[Contestant]:
    return [replace(c, service_us=c.service_us * by) for c in contestants(1)]


@pytest.mark.parametrize(
    ("by", "repeats", "expected"),
    [
        (1.3, 6, ExitCode.TEST_FAILED),
        (1.0, 6, ExitCode.DONE),
        (0.7, 6, ExitCode.DONE),
        (1.3, 1, ExitCode.UNDECIDED),
    ],
)
def test_slower_fails_only_if_the_interval_shows_it(
    by: float, repeats: int, expected: ExitCode
) -> None:
    new = side("A", session(_with_cost(by), rates=RATES[:4], repeats=repeats))
    old = side("B", session(_with_cost(1.0), rates=RATES[:4], repeats=repeats, seed=2))
    found = compare([new, old])
    assert exit_code(slower(found, share("5%"), pairs(found))) == expected


def test_sessions_without_a_server_in_common_decide_nothing() -> None:
    found = compare([side("A", session(1)), side("B", session(contestants(2)[1:]))])
    assert exit_code(slower(found, 0.05, pairs(found))) == ExitCode.UNDECIDED


def test_junit_markdown_and_annotations_take_any_text_for_text() -> None:
    summary = summarise(session([replace(contestants(1)[0], name="a|<b>\n& 5%")], rates=RATES))
    outcomes = condition("sustained < 9000/s", PLAN).outcomes(summary)
    suite = ElementTree.fromstring(junit("x", outcomes))
    assert [suite.get(each) for each in ("tests", "failures", "errors")] == ["1", "1", "0"]
    assert suite[0].get("classname") == "a|<b>\\u000a& 5%"
    assert "::error title=sustained < 9000/s::a|<b>\\u000a& 5%25 sus" in annotation(outcomes[0])
    row = next(line for line in of_session(summary, outcomes).splitlines() if "5,000/s" in line)
    assert "<b>" not in row.replace("\\<b\\>", "") and "a\\|" in row


def test_compare_ends_with_the_result_and_tells_github(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    def recorded(name: str, by: float) -> str:
        documents = session(_with_cost(by), rates=RATES[:4], repeats=6)
        return str(record_session(tmp_path / name, documents))

    new, old = recorded("new.yaml", 1.4), recorded("old.yaml", 1.0)
    options = ["--fail-if-slower", "5%", "--markdown", "--junit", str(tmp_path / "out/junit.xml")]
    assert main(["compare", new, old, *options]) == ExitCode.TEST_FAILED
    out, err = capsys.readouterr()
    assert out.startswith("### ") and "::error title=p50 slower" in err
    assert (tmp_path / "out/junit.xml").is_file()
    assert main(["compare", new, old]) == ExitCode.DONE
    assert main(["compare", new, "--fail-if-slower", "5%"]) == ExitCode.BAD_INPUT
    assert main(["compare", new, old, "--fail-if-slower", "much"]) == ExitCode.BAD_INPUT
