"""Results for a system of continuous integration: JUnit, Markdown, annotations of GitHub."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree

from workbench.analysis.summary import Summary
from workbench.results import rows, sustained
from workbench.results.comparison import Comparison
from workbench.results.criteria import Outcome
from workbench.results.differences import of_pairs, title
from workbench.results.tables import S, Table
from workbench.untrusted import one_line

_MARKS = {"passed": "✅", "failed": "❌", "undecided": "❔"}


def junit(name: str, outcomes: Sequence[Outcome]) -> str:
    """Return a file of JUnit. An undecided test is an error: its result is not known."""
    count = {state: str(sum(each.state == state for each in outcomes)) for state in _MARKS}
    suite = ElementTree.Element(
        "testsuite",
        name=one_line(name),
        tests=str(len(outcomes)),
        failures=count["failed"],
        errors=count["undecided"],
    )
    for each in outcomes:
        test = ElementTree.SubElement(
            suite, "testcase", classname=one_line(each.server), name=one_line(each.test)
        )
        if each.state != "passed":
            tag = "failure" if each.state == "failed" else "error"
            ElementTree.SubElement(test, tag, message=one_line(each.text, 1_000), type=each.state)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def annotation(outcome: Outcome) -> str:
    """Return the command by which GitHub shows a result on the page of the job."""
    kind = "error" if outcome.state == "failed" else "warning"
    test = outcome.test.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    text = one_line(outcome.text, 1_000).replace("%", "%25")
    return f"::{kind} title={one_line(test)}::{text}"


def of_session(summary: Summary, outcomes: Sequence[Outcome]) -> str:
    """Return the servers of a session as Markdown, the answer, and the tests."""
    ranked = summary.ranked()
    parts = [
        f"### {_plain(summary.name or 'Results')}",
        _table(rows.ranking(summary).told()),
        *map(_plain, [sustained.answer(ranked).sentences, sustained.state(summary)]),
        _tests(outcomes),
    ]
    return _joined(parts)


def of_comparison(found: Comparison, outcomes: Sequence[Outcome]) -> str:
    """Return the servers of a comparison as Markdown, their differences, and the tests."""
    said = [text for each in of_pairs(found) for text in each]
    tables = [_table(table.told()) for table in rows.in_parts(found)]
    parts = [f"### {_plain(title(found))}", *tables, *map(_plain, said), _tests(outcomes)]
    return _joined(parts)


def of_versions(found: Comparison, sentences: Sequence[str], outcomes: Sequence[Outcome]) -> str:
    """Return versions at their common rate as Markdown, how they differ, and the tests."""
    table = _table(rows.in_parts(found)[-1].told())
    answers = [f"**{_plain(each)}**" for each in sentences]
    return _joined([f"### {_plain(title(found))}", *answers, table, _tests(outcomes)])


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, parts)) + "\n\n"


def _tests(outcomes: Sequence[Outcome]) -> str:
    lines = (f"- {_MARKS[e.state]} `{e.test}` {e.state}. {_plain(e.text)}" for e in outcomes)
    return "\n".join(lines)


def _table(table: Table[S]) -> str:
    heads = table.titles
    lines = [heads, ["---"] * len(heads), *map(table.texts, table.rows)]
    return "\n".join(f"| {' | '.join(map(_plain, line))} |" for line in lines)


def _plain(text: str) -> str:
    """Escape what Markdown and HTML would read as markup: names are a stranger's."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", one_line(text, 1_000))
