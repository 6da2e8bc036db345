"""The page behind F1: every key, and what the words mean."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from app.context import Desk
from app.scrolling import Scrolled
from app.theme import Weight, font
from app.widgets import GAP, PAGE_MARGIN, TopBar, button, column, frame, label, row

KEYS = {
    "Everywhere": (
        ("Ctrl+O", "open a session"),
        ("Ctrl+R", "run what is shown"),
        ("Ctrl+F", "search"),
        ("Ctrl+E", "export"),
        ("Ctrl+Shift+C", "copy the chart"),
        ("Ctrl+L", "the log"),
        ("Ctrl+,", "settings"),
        ("F1", "this page"),
        ("F11", "present: large, without anything around the charts"),
        ("Esc", "leave, close"),
        ("Ctrl+Q  Ctrl+W", "close the window"),
    ),
    "While a run is live": (
        ("Space", "pause after this point, go on"),
        ("S", "skip this server"),
        ("Ctrl+.", "stop in good order; again, while that takes its time: abort"),
    ),
    "In a film": (
        ("Space", "play, pause"),
        ("← →", "point by point"),
        ("Shift+← Shift+→", "server by server"),
        ("− +", "slower, faster"),
        ("Home End", "to the beginning, to the end"),
    ),
}
ON_CHARTS = (
    ("↑ ↓", "another server"),
    ("← →", "another point"),
    ("1 … 9", "show or hide a server"),
    ("0", "show all"),
    ("L", "response time logarithmic or linear"),
    ("P", "the next percentile"),
    ("M", "the next metric in the lowest chart, where the session has others than errors"),
    ("Esc", "let go of a server; in a presentation: Backspace"),
    ("F9", "in a narrow window: the column beside the charts"),
)

WORDS = (
    ("Offered rate", "How many calls per second the clients were told to start. It is kept,"
     " whatever the server does."),
    ("Point", "One rate, held for some seconds. A sweep is a row of points."),
    ("Latency", "From the instant a call was due until its reply: a server that stalls pays for"
     " the queue it made."),
    ("Service time", "From the instant a call was really sent until its reply."),
    ("p99", "99 of 100 calls were quicker than this. It is shown only where there were enough."),
    ("Errors", "In percent of the attempts: timeouts, resets, refusals, wrong replies. What the"
     " clients lacked (ports, descriptors) never counts against a server."),
    ("Knee, or “holds”", "The highest rate at which, as at every lower one, at least 99 % of"
     " the attempts succeeded and the point could be trusted. A large marker stands there."),
    ("≥, or “at least”", "No rate just above it showed the server’s own limit: it may hold more."),
    ("Verdict", "What limited a point: nothing, the server, the clients, their ports, the"
     " network; or inconclusive, where the evidence speaks for two."),
    ("Hollow point", "It must not be trusted; its card says why. It never counts for “holds”."),
    ("Cross", "A figure that was published elsewhere, such as in 2009."),
    ("A, B", "Which of the sessions compared a line belongs to."),
    ("Hatched area", "Beyond what these clients can offer at all, measured against a null server"
     " that does next to nothing."),
    ("Session", "Everything that was measured, in one file. It replays as a film and runs again."),
)  # fmt: skip


class HelpPage(QWidget):
    """Two columns: keys, then words and the keys of the charts they are about."""

    def __init__(self, desk: Desk, rail: Sequence[str]) -> None:
        """`rail`: the pages that have keys, in their order."""
        super().__init__()
        outer = column(self)
        top = TopBar("Keys and words")
        settings = button("Settings", "settings")
        settings.clicked.connect(lambda: desk.page_wanted.emit("Settings"))
        top.actions.addWidget(settings)
        outer.addWidget(top)
        body = QWidget()
        body.setMaximumWidth(1400)
        across = row(body, margin=PAGE_MARGIN, gap=GAP)
        keys, words = frame(), frame()
        listed = column(keys, margin=20, gap=8)
        pages = (f"Ctrl+1 … Ctrl+{len(rail)}", ", ".join(rail))
        everywhere, *others = KEYS.items()
        for heading, entries in ((everywhere[0], (pages, *everywhere[1])), *others):
            listed.addWidget(label(heading, 14, Weight.DemiBold))
            listed.addLayout(_table(entries, mono=True))
            listed.addSpacing(8)
        listed.addStretch(1)
        told = column(words, margin=20, gap=8)
        told.addWidget(label("What the words mean", 14, Weight.DemiBold))
        told.addLayout(_table(WORDS))
        told.addSpacing(8)
        told.addWidget(label("On the charts", 14, Weight.DemiBold))
        told.addLayout(_table(ON_CHARTS, mono=True))
        told.addStretch(1)
        across.addWidget(keys, 4, Qt.AlignmentFlag.AlignTop)
        across.addWidget(words, 5, Qt.AlignmentFlag.AlignTop)
        outer.addWidget(Scrolled(body, "Keys and words"), 1)


def _table(entries: tuple[tuple[str, str], ...], *, mono: bool = False) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(20)
    grid.setVerticalSpacing(6)
    grid.setColumnMinimumWidth(0, 150)
    grid.setColumnStretch(1, 1)
    for line, (term, meaning) in enumerate(entries):
        left = label(term, 13, Weight.Medium)
        if mono:
            left.setFont(font(12, mono=True))
        grid.addWidget(left, line, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(label(meaning, tone="soft", wrap=True), line, 1)
    return grid
