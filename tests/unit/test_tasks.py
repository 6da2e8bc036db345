"""The processes and threads of servers, in tables, reports, comparisons and legends."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.synthetic import CONTESTANTS, session
from tests.tasks import with_tasks
from workbench.analysis.summary import summarise
from workbench.analysis.tasks import Tasks
from workbench.commands.summary import print_ranking
from workbench.comparison import table
from workbench.comparison.data import server_data
from workbench.comparison.sides import compare, side_of
from workbench.report.facts import facts
from workbench.report.page import Drawing, render
from workbench.report.points import points_as_csv
from workbench.sessions import Session
from workbench.terminal import Terminal

DOCUMENTS = with_tasks(session(4, 2), (5, 21), (1, 1), (1, 8))
"""The fourth was recorded before they were counted."""


@pytest.mark.parametrize(
    ("tasks", "text", "cell", "in_legend"),
    [
        (Tasks(), "", "", ()),
        (Tasks(1, 1), "1 process", "1", ()),
        (
            Tasks(1, 1, beside_several=True),
            "1 process",
            "1",
            ("1 process", "1 proc.", "×1"),
        ),
        (Tasks(beside_several=True), "", "", ()),
        (Tasks(1, 8), "1 process, 8 threads", "1 (8 threads)", ("8 threads", "8 thr.")),
        (Tasks(4, 4), "4 processes", "4", ("4 processes", "4 proc.", "×4")),
        (
            Tasks(40, 1_168),
            "40 processes, 1,168 threads",
            "40 (1,168 threads)",
            ("40 processes, 1,168 threads", "40 proc., 1,168 thr.", "40 proc.", "×40"),
        ),
    ],
)
def test_the_shortest_form_is_said(
    tasks: Tasks, text: str, cell: str, in_legend: tuple[str, ...]
) -> None:
    assert (tasks.text, tasks.cell, tasks.in_legend) == (text, cell, in_legend)


def test_they_are_in_the_summary_and_its_data() -> None:
    summary = summarise(DOCUMENTS)
    data = summary.to_data()["servers"].values()
    counted = [(each["processes"], each["threads"]) for each in data]
    assert counted == [(5, 21), (1, 1), (1, 8), (None, None)]
    print_ranking(summary, Terminal(file=(out := io.StringIO()), width=200))
    assert "5 (21 threads)" in out.getvalue() and "1 (8 threads)" in out.getvalue()


def test_they_are_in_every_table_of_a_report() -> None:
    report = facts(DOCUMENTS)
    ranked = {row.name: row.processes for row in report.ranking}
    names = [record.name for record in report.points]
    assert [ranked[name] for name in names] == ["5 (21 threads)", "1", "1 (8 threads)", ""]
    times = {row.name: row.tasks for row in report.times}
    assert [times[name] for name in names] == [
        "5 processes, 21 threads",
        "1 process",
        "1 process, 8 threads",
        "",
    ]
    assert report.points[0].tasks == "5 processes, 21 threads"
    assert report.servers
    place = report.servers.columns.index("Processes")
    assert [row[place] for row in report.servers.rows][:2] == ["5 (21 threads)", "1"]


def test_they_are_beside_the_figures_of_a_source() -> None:
    tornado = next(each for each in CONTESTANTS if each.id == "tornado")
    html = render(facts(with_tasks(session([tornado], 2), (4, 4))), Drawing())
    then = html.partition("Then and now")[2].partition("</table>")[0]
    assert 'Tornado <span class="tasks">4 processes</span>' in then


def test_they_are_in_the_table_of_points_for_programs() -> None:
    rows = list(csv.DictReader(points_as_csv(DOCUMENTS).splitlines()))
    counted = dict.fromkeys((row["processes"], row["threads"]) for row in rows)
    assert list(counted) == [("5", "21"), ("1", "1"), ("1", "8"), ("", "")]


def test_they_are_in_a_comparison() -> None:
    sides = [
        side_of(Session(tag, documents), Path(f"{tag}.yaml"), tag)
        for tag, documents in (("A", DOCUMENTS), ("B", with_tasks(session(1, 2), (2, 2))))
    ]
    found = compare(sides)
    cells = {c.key: table.row(found, c)["processes"] for c in found.contenders}
    texts = [cell.text for cell in cells.values()]
    assert texts == ["5 (21 threads)", "1", "1 (8 threads)", "", "2"]
    assert "Processes" in [column.title for column in table.columns(found)]
    rows = list(csv.DictReader(io.StringIO(table.as_csv(found))))
    counted = {(row["session"], row["processes"], row["threads"]) for row in rows}
    assert {("A", "5", "21"), ("A", "", ""), ("B", "2", "2")} <= counted
    first = server_data(found, found.contenders[0])
    assert (first["processes"], first["threads"]) == (5, 21)
