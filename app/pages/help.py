"""The page behind F1: shortcuts and glossary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app import actions, page_registry
from app.actions import Action
from app.context import Desk
from app.scrolling import Scrolled, lay
from app.theme import Weight
from app.widgets import (
    GAP,
    PAGE_MARGIN,
    TOP,
    TopBar,
    button,
    column,
    fill,
    frame,
    label,
    row,
    stack,
)

_TWO, _WIDEST = 1_000, 1_600
"""From the first width of the page on, it has two columns; no wider than the second."""
_PAGES = [
    (place.key, place.title or name) for name, place in page_registry.ALL.items() if place.key
]
GLOSSARY = (
    ("Offered rate", "Calls per second that the clients start, on schedule, whatever the server "
                     "does."),
    ("Point", "One rate, offered for some seconds. A sweep is a series of points."),
    ("Latency", "From the scheduled time of a call until its reply, so a stall also counts for "
                "the calls queued behind it."),
    ("Service time", "From the actual send of a call until its reply."),
    ("p99", "99 of 100 calls were faster than this. Shown only with enough samples."),
    ("Errors", "Percentage of attempts: timeouts, resets, refused connections, unexpected "
               "responses. Over time: of the calls completed in each interval. Client limits "
               "(ports, descriptors) never count against a server."),
    ("Sustained rate (knee)", "The highest rate up to which at least 99 % of the attempts "
                              "succeeded at every rate. Marked by a large marker."),
    ("≥", "No server limit was reached: the server may sustain more."),
    ("Verdict", "What limited a point: nothing, the server, the clients, their ports or the "
                "network. Inconclusive if the evidence is mixed."),
    ("Faulty", "Unexpected responses at a rate where the server is not busy: a fault, not a "
               "limit. Marked by a crossed disc; its card quotes the first such response."),
    ("Hollow point", "Not to be trusted; its card says why."),
    ("Cross", "A published figure, such as one from 2009."),
    ("0 on a log scale", "Drawn in a separate row below the smallest value."),
    ("A, B", "The session a line belongs to, in a comparison."),
    ("Hatched area", "Beyond the client limit, calibrated against a null server."),
    ("Session", "A run's measurements and conditions in one file. It can be replayed and run "
                "again."),
)  # fmt: skip


class HelpPage(QWidget):
    """Keys, terms, and the keys of the charts, beside one another where there is room."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        top = TopBar("Shortcuts and glossary")
        show = partial(desk.page_requested.emit, "Settings")
        top.actions.addWidget(button("Settings", "settings", on_click=show))
        body = QWidget()
        body.setMaximumWidth(_WIDEST)
        keys = frame()
        listed = column(keys, margin=20, gap=8)
        for heading, entries in (
            ("Everywhere", _keys((*actions.WINDOW, *actions.PAGES))),
            ("Pages", _PAGES),
            ("Live run", _keys(actions.RUN)),
            ("Replay", _keys(actions.REPLAY)),
        ):
            fill(listed, label(heading, 14, Weight.DemiBold), _table(entries, mono=True), 8)
        glossary = _card("Glossary", _table(GLOSSARY))
        charts = _card("Charts", _table(_keys(actions.CHARTS), mono=True))
        parts = (keys, 4, TOP), (stack(glossary, charts, None, gap=GAP), 5)
        self._across = row(body, *parts, margin=PAGE_MARGIN, gap=GAP)
        column(self, top, (Scrolled(body, "Shortcuts and glossary"), 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        lay(self._across, below=self.width() < _TWO)


def _card(heading: str, table: QGridLayout) -> QFrame:
    made = frame()
    column(made, label(heading, 14, Weight.DemiBold), table, margin=20, gap=8)
    return made


def _keys(listed: Iterable[Action]) -> list[tuple[str, str]]:
    return [(action.shown_keys, action.text) for action in listed if action.keys]


def _table(entries: Sequence[tuple[str, str]], *, mono: bool = False) -> QGridLayout:
    grid = QGridLayout(horizontalSpacing=20, verticalSpacing=6)
    grid.setColumnMinimumWidth(0, 150)
    grid.setColumnStretch(1, 1)
    for line, (term, meaning) in enumerate(entries):
        left = label(term, 12, mono=True) if mono else label(term, 13, Weight.Medium)
        grid.addWidget(left, line, 0, TOP)
        grid.addWidget(label(meaning, tone="soft", wrap=True), line, 1)
    return grid
