"""The processes and threads of servers, in tables, reports, comparisons and legends."""

from __future__ import annotations

import pytest

from tests.synthetic import session
from tests.tasks import with_tasks
from workbench.analysis.tasks import Tasks

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
