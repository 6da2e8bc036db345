"""The cards of one machine: facts, limits, check, leftovers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.dialogs import ask
from app.machines.records import Record, is_fresh, since
from app.plain import tip
from app.theme import Weight
from app.widgets import GAP, TONE_ICONS, Sign, button, column, empty, label, row
from workbench import formatting
from workbench.formatting import size
from workbench.machines.facts import meanings
from workbench.machines.profiles import Profile

WIDEST = 2 * 700 + GAP
"""How wide two cards beside each other are at most."""


class Card(QFrame):
    """A title with a muted remark and buttons at its right, and a body."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setObjectName("card")
        self._content = ""
        inside = column(self, margin=16, gap=10)
        self.head = row(gap=8)
        self.title = label(title, 14, Weight.DemiBold)
        self.aside = label("", 12, tone="muted")
        self.head.addWidget(self.title)
        self.head.addStretch(1)
        self.head.addWidget(self.aside)
        inside.addLayout(self.head)
        self.body = QVBoxLayout()
        self.body.setSpacing(6)
        inside.addLayout(self.body)
        self.foot = row()
        inside.addLayout(self.foot)

    def news(self, *what: object) -> bool:
        """Whether the content differs from the last: only then the card is rebuilt."""
        before, self._content = self._content, repr(what)
        return before != self._content


def remark(
    tone: str, text: str, strong: str = "", *, faded: bool = False, px: float = 13
) -> QWidget:
    """Return a sentence with its icon; `strong` comes before it. `faded`: without colour."""
    made = QWidget()
    across: QHBoxLayout = row(made, gap=8)
    sign = Sign("muted" if faded else tone, TONE_ICONS.get(tone, "info"), 15)
    across.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
    if strong:
        name = label(strong, 13, Weight.Medium)
        name.setFixedWidth(108)
        name.setWordWrap(True)
        across.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
    text_label = label(text, px, tone="muted" if faded else "soft", wrap=True, selectable=True)
    text_label.setMinimumWidth(1)  # a hash or a path does not widen the line
    across.addWidget(text_label, 1)
    made.setAccessibleName(f"{strong}: {text}" if strong else text)
    return made


class FactsCard(Card):
    """Facts by name, and their age."""

    def __init__(self) -> None:
        super().__init__("System")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(7)
        self._grid.setColumnStretch(1, 1)
        self.body.addLayout(self._grid)

    def display(self, record: Record) -> None:
        self.setVisible(bool(record.facts))
        text = since(record.read)
        self.aside.setText(f"read {text}" if text else "")
        if not self.news(record.found):
            return
        empty(self._grid)
        for place, (name, value) in enumerate(figures(record.found)):
            named = label(name, 13, tone="muted")
            digits = _is_figure(value)
            figure = label(value, 13, Weight.Medium, wrap=True, figures=digits, selectable=True)
            figure.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            figure.setAccessibleName(f"{name}: {value}")
            self._grid.addWidget(named, place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(figure, place, 1)


class MeaningCard(Card):
    """Sentences about the figures."""

    def __init__(self) -> None:
        super().__init__("Limits for a run")

    def display(self, profile: Profile, record: Record) -> None:
        cpus = record.found.get("cpus") or []
        self.setVisible(bool(record.facts and cpus))
        old = not is_fresh(record.read)
        if not self.news(profile, record.found, old):
            return
        empty(self.body)
        if record.facts and cpus:
            python = str(record.found.get("python", ""))
            for each in meanings(profile, record.facts, cpus, python):
                self.body.addWidget(remark(each.tone, each.text, faded=old))


def figures(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Return facts as text, (name, value); unknown ones are left out."""
    facts = found.get("facts") or {}
    sysctls = facts.get("sysctls") or {}
    rows: list[tuple[str, str]] = []

    def add(name: str, value: object) -> None:
        if value not in (None, "", [], {}):
            rows.append((name, str(value)))

    add("Distribution", facts.get("distribution"))
    add("Kernel", facts.get("kernel"))
    add("Processor", facts.get("cpu_model"))
    add("Usable cores", _cores(found.get("cpus") or [], facts.get("cpu_count")))
    add("Governor", facts.get("governor"))
    if memory := facts.get("memory_bytes"):
        add("Memory", formatting.size(memory))
    if load := facts.get("load_average"):
        add("Load", f"{load[0]:.2f} · {load[1]:.2f} · {load[2]:.2f} (1, 5, 15 min)")
    add("Python", found.get("python"))
    if limits := facts.get("descriptor_limits"):
        add("Open files", f"{limits['soft']:,} (max {limits['hard']:,})")
    ports = str(sysctls.get("net.ipv4.ip_local_port_range", "")).split()
    if len(ports) == 2:
        low, high = map(int, ports)
        add("Local ports", f"{high - low + 1:,} ({low}–{high})")
    add("Accept queue", _figure(sysctls.get("net.core.somaxconn"), "max {:,}"))
    add("Clock", clock(found.get("clock_us")))
    add("Runs in", facts.get("container") or facts.get("virtualisation"))
    add("Listen address", found.get("bind"))
    if found.get("reach") != found.get("bind"):
        add("Public address", found.get("reach"))
    return rows


def _is_figure(value: str) -> bool:
    """Whether to use tabular digits, which have wide hyphens."""
    return value[:1].isdigit() and "-" not in value


def clock(measured: object) -> str:
    """Return the uncertainty of the machine's clock against this computer's."""
    if not isinstance(measured, list) or len(measured) != 2:
        return ""
    return f"± {measured[1]:,} µs"


def _cores(cpus: list[int], count: object) -> str:
    if not cpus:
        return ""
    whole = list(cpus) == list(range(cpus[0], cpus[-1] + 1))
    which = f"{cpus[0]}–{cpus[-1]}" if whole and len(cpus) > 1 else ", ".join(map(str, cpus))
    among = f" of {count}" if isinstance(count, int) and count != len(cpus) else ""
    return f"{len(cpus)}{among} ({which})"


def _figure(value: object, words: str) -> str:
    return words.format(value) if isinstance(value, int) else ""


TONES = {"passed": "ok", "warning": "warn", "failed": "bad"}
_WHAT = "A check logs in, removes leftovers of crashed runs, and starts and ends a test run."
_OLD = "More than a day old, so the machine may have changed. Check it again before a run."
_HERE = "A check starts and ends a test run on this computer."


class StepsCard(Card):
    """The steps of the current or the last check."""

    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__("Check")
        self.stop = button("Cancel", "x", on_click=self.cancelled.emit)
        self.stop.setAccessibleName("Cancel check")
        self.stop.hide()
        self.head.addWidget(self.stop)

    def display(self, record: Record, *, running: bool, here: bool) -> None:
        self.stop.setVisible(running)
        self.aside.setText("" if running else since(record.at))
        old = record.old and not running
        if not self.news(record.at, record.kind, record.steps, running, here, old):
            return
        empty(self.body)
        if old:
            self.body.addWidget(remark("muted", _OLD))
        if not record.steps and not running:
            self.body.addWidget(label(_HERE if here else _WHAT, tone="soft", wrap=True))
        for name, state, text in record.steps:
            tone = (state == "failed" and record.tone) or TONES.get(state, "muted")
            self.body.addWidget(remark(tone, text, name, faded=old))
        if running:
            self.body.addWidget(remark("focus", next_step(record.steps, here=here), "Now"))
        elif record.kind == "stopped":
            self.body.addWidget(remark("muted", "Check cancelled."))


_ORDER = {
    "": "Logging in…",
    "Log in": "Looking for Python…",
    "Python": "Checking limits…",
    "Limits": "Checking disk space…",
    "Space": "Checking for leftover runs…",
    "Leftover runs": "Measuring the cache…",
    "Cache": "Starting the runner…",
    "Start the runner": "Opening SSH sessions…",
    "Sessions": "Checking cores…",
    "Cores": "Measuring the clock…",
    "Clock": "Reading system facts…",
    "System facts": "Comparing kernel settings…",
    "Kernel settings": "Checking addresses…",
    "Addresses": "Cleaning up…",
}


def next_step(steps: Sequence[Sequence[str]], *, here: bool) -> str:
    """Return the current step, the one after these."""
    last = steps[-1][0] if steps else ""
    if here and not last:
        return _ORDER["Cache"]
    if here and last == "Kernel settings":
        return _ORDER["Addresses"]
    return _ORDER.get(last, "Continuing…")


_CLEAN = "Remove leftovers of crashed runs. Active runs are not touched."


class LeftoversCard(Card):
    """Shown for machines over SSH."""

    clean_requested = Signal()
    clear_requested = Signal()
    """The user has confirmed it."""

    def __init__(self) -> None:
        super().__init__("Files on this machine")
        self._machine = ""
        self.clean = button("Clean up", "trash-2", on_click=self.clean_requested.emit)
        self.clear = button("Remove cache…", "trash-2", on_click=self._confirm_clear)
        for each in (self.clean, self.clear):
            self.foot.addWidget(each)
        self.foot.addStretch(1)

    def _confirm_clear(self) -> None:
        ask(
            self,
            f"Remove the cache of {self._machine}?",
            "Its work directory with runtimes and agents is removed. The next run copies them "
            "again, which takes longer.",
            go="Remove cache",
            do=self.clear_requested.emit,
        )

    def display(self, machine: str, record: Record, *, busy: bool) -> None:
        self._machine = machine
        found = record.found
        kept = found.get("cache_bytes")
        hindrance, old = record.hindrance, record.old
        self.clean.setEnabled(not busy and not hindrance)
        self.clear.setEnabled(not busy and not hindrance and kept != 0)
        self.clean.setToolTip(tip(hindrance or _CLEAN))
        self.clear.setToolTip(tip(hindrance))
        for each in (self.clean, self.clear):
            each.setAccessibleDescription(hindrance)
        if not self.news(found, hindrance, old):
            return
        empty(self.body)
        for run in found.get("found") or []:
            count = len(run["processes"])
            number = {0: "no processes", 1: "1 process"}.get(count, f"{count} processes")
            text = f"Removed: leftovers of run {run['run']}, {number}"
            processes = "; ".join(run["processes"][:3])
            self._add("muted", f"{text}: {processes}." if processes else f"{text}.")
        for run in found.get("alive") or []:
            holder = run.get("holder") or "unknown user"
            self._add("focus", f"Active run, not touched: {run['run']} ({holder}).", old=old)
        if found.get("left_tuned"):
            self._add("warn", found["left_tuned"], old=old)
        elif "found" in found and not found["found"]:
            self._add("ok", "No leftovers of crashed runs.", old=old)
        if "freed" in found:
            self._add("ok", f"Cache removed: {size(found['freed'])} freed.", old=old)
        if kept is not None:
            where = found.get("work_dir") or "The work directory"
            text = f"{where}: {size(kept)} of cached runtimes and agents."
            self._add("muted", text if kept else f"{where} is empty.")
        if hindrance:
            self._add("muted", hindrance)
        elif "found" not in found and kept is None:
            self._add("muted", "Not checked.")

    def _add(self, tone: str, text: str, *, old: bool = False) -> None:
        self.body.addWidget(remark(tone, text, faded=old))


_TEXT = (
    "On its own machine a server has all cores to itself, and several clients can offer more "
    "load than one."
)
_NEEDS = "It needs SSH and Python 3.10 or later. Nothing is installed there."


class SecondMachine(Card):
    """Leads to the first profile."""

    def __init__(self, add: Callable[[], object]) -> None:
        super().__init__("A second machine")
        self.body.addWidget(label(_TEXT, tone="soft", wrap=True))
        new = button("Add machine", "plus", on_click=add)
        new.setToolTip(tip(_NEEDS))
        self.foot.addWidget(new)
        self.foot.addStretch(1)
