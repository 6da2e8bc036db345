"""The facts about a server, with their sources, and the addresses that a click opens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app.plain import tip
from app.scrolling import Reader
from app.servers.known import Known
from app.servers.rows import version
from app.theme import Weight, font
from app.widgets import Inline, column, empty, label
from workbench.formatting import number_of
from workbench.messages.plans import more_rights
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.features import FEATURES, NOW, THEN_2009, THEN_2010, now, then, title
from workbench.servers.gate import GateResult
from workbench.servers.programs import PROGRAMS
from workbench.untrusted import one_line
from workbench.workloads.registry import ALL_FAMILIES, able, short

_LONGEST = 40


class Link(QPushButton):
    """An address, of which the host is shown."""

    def __init__(self, address: str, about: str, report: Callable[[str], object]) -> None:
        """`about`: what the address is the source of. `report` gets the sentence about an address
        that nothing opens.
        """
        shown = one_line(address)
        super().__init__(one_line(QUrl(address).host() or address, _LONGEST).replace("&", "&&"))
        self._address, self._report = address, report
        self.setProperty("kind", "link")
        self.setFont(font(11))
        self.setAccessibleName(f"Source of {about}")
        self.setAccessibleDescription(shown)
        self.setToolTip(tip(shown))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(True)  # Enter presses it like Space
        # An entry of one's own may name anything.
        self.setEnabled(address.startswith(("https://", "http://")))
        self.clicked.connect(self._open)

    def _open(self) -> None:
        if not QDesktopServices.openUrl(QUrl(self._address)):
            self._report(f"No browser was found. The address is {one_line(self._address)}.")


Row: TypeAlias = tuple[str, str, str, str]
"""Name, value, source, address."""

_FOUND = "Measured here"


class About(Reader):
    """From top to bottom: purpose, remarks, facts, history."""

    def __init__(self) -> None:
        super().__init__("About the server")
        inside = column(self.body, gap=8)
        inside.setContentsMargins(0, 0, 8, 0)
        self.problem = Inline()
        inside.addWidget(self.problem)
        self._body = QVBoxLayout()
        self._body.setSpacing(8)
        inside.addLayout(self._body)
        inside.addStretch(1)

    def show_server(self, known: Known | None) -> None:
        empty(self._body)
        self.problem.show_text(_problem(known) if known else "")
        self.verticalScrollBar().setValue(0)
        if known is None:
            return
        for text, tone in _sentences(known):
            self._body.addWidget(_line(text, tone))
        for heading, facts in _tables(known):
            if facts:
                self._body.addSpacing(6)
                self._body.addWidget(label(heading, 12, Weight.DemiBold, tone="muted"))
                self._body.addWidget(self._table(facts))

    def _table(self, facts: list[Row]) -> QWidget:
        made = QWidget()
        grid = QGridLayout(made)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(5)
        grid.setColumnMinimumWidth(0, 84)
        grid.setColumnStretch(1, 1)
        place = 0
        for what, value, source, address in facts:
            top, left = Qt.AlignmentFlag.AlignTop, Qt.AlignmentFlag.AlignLeft
            grid.addWidget(label(what, 12, tone="muted", wrap=True), place, 0, top)
            grid.addWidget(_line(value, "soft"), place, 1)
            if source:
                place += 1
                grid.addWidget(label(source, 11, tone="muted", wrap=True), place, 1)
            if address:
                place += 1
                grid.addWidget(Link(address, what, self.problem.show_text), place, 1, left)
            place += 1
        return made


def _problem(known: Known) -> str:
    """Return the problem without the folder, which is shown below."""
    return known.problem.replace(f"server {known.folder}/", "").replace(f"{known.folder}/", "")


def _line(text: str, tone: str) -> QWidget:
    made = label(text, 12, tone=tone, wrap=True, selectable=True)
    made.setMinimumWidth(1)
    return made


def _sentences(known: Known) -> Iterator[tuple[str, str]]:
    entry = known.entry
    if entry is None:
        yield f"Folder: {known.folder}", "muted"
        return
    if entry.description:
        yield entry.description, ""
    for note in entry.notes:
        yield note, "soft"
    if entry.fault:
        yield f"Known fault: {entry.fault}", "warn"
    if gone := entry.unavailable:
        yield f"{known.state.word}: {gone.reason}", "warn"
        if gone.tried:
            yield f"Checked on {gone.tried}.", "muted"
        if gone.instead:
            yield f"Closest maintained alternative: {gone.instead}.", "soft"
    elif known.ready:
        yield known.ready.sentence, "soft"
    for each in more_rights(entry.name, entry.rights):
        yield each.text(), "warn"
    for sentence in entry.differences:
        yield f"Not comparable: {sentence}", "warn"
    for sentence in entry.tls_unequal:
        yield f"Not comparable over TLS: {sentence}", "warn"


def _tables(known: Known) -> Iterator[tuple[str, list[Row]]]:
    entry = known.entry
    if entry is None:
        return
    yield (
        "How it runs" if known.runs else "History",
        _filled(
            ("Family", ALL_FAMILIES.get(entry.family, "")),
            ("Style", entry.style),
            ("Language", entry.language),
            *(_running(known, entry) if known.runs else ()),
            ("Folder", str(known.folder)),
        ),
    )
    yield f"Measured on {known.machine}" if known.machine else _FOUND, _measured(known)
    today = [(name, fact) for name in FEATURES if (fact := now(entry, name))]
    yield NOW, [(title(name), fact.value, fact.read, fact.at) for name, fact in today]
    for heading, table in ((THEN_2009, entry.in_2009), (THEN_2010, entry.in_2010)):
        yield heading, _filled(*((title(name), then(table, name)) for name in FEATURES))


def _running(known: Known, entry: ServerEntry) -> list[tuple[str, str]]:
    runtime = {"none": "", "python": "Python 3"}.get(entry.runtime, f"Python {entry.runtime[6:]}")
    programs = (PROGRAMS[name].title for name in entry.programs)
    return [
        ("Needs", ", ".join(filter(None, (runtime, *programs)))),
        ("Version", version(known)),
        ("Source", _source(entry)),
        ("Workers requested", f"{entry.processes:,}" if entry.processes > 1 else ""),
        ("Processes seen", _seen(entry.seen) if not known.measured and entry.seen else ""),
        ("Protocols", ", ".join(map(short, entry.protocols))),
        ("Closes first", f"the {entry.closes_first}"),
    ]


def _source(entry: ServerEntry) -> str:
    source = entry.source_at
    return f"{source.git}, {source.short}, {source.licence}" if source else ""


def _measured(known: Known) -> list[Row]:
    found = known.measured
    if found is None:
        return []
    gate = found.gate
    when = f"{found.when_utc[:10]}, {found.when_utc[11:16]} UTC"
    if not gate.passed:
        return _filled(("Last tested", when), ("Result", " ".join(gate.sentences)))
    return _filled(
        ("Last tested", when),
        ("Result", " ".join(gate.sentences)),
        ("Usable for", ", ".join(able(gate))),
        ("Response size", f"{gate.bytes_on_wire:,} bytes"),
        ("Processes seen", _seen(gate)),
    )


def _seen(found: GateResult | Seen) -> str:
    """Return "40, with 80 threads and 921 MB", including the processes that start and watch the
    workers.
    """
    if not found.processes:
        return ""
    threads = number_of(found.threads, "threads")
    memory = f" and {found.rss_bytes / 1e6:,.0f}\u00a0MB" if found.rss_bytes else ""
    return f"{found.processes:,}, with {threads}{memory}"


def _filled(*facts: tuple[str, str]) -> list[Row]:
    return [(what, value, "", "") for what, value in facts if value]
