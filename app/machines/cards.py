"""What is known of one machine: one list, problems first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from app.dialogs import ask
from app.machines.records import Record, is_fresh, since
from app.theme import Weight
from app.widgets import (
    TONE_ICONS,
    TOP,
    Sign,
    beside,
    button,
    column,
    empty,
    fill,
    give_reason,
    label,
    row,
    stack,
)
from workbench import formatting
from workbench.machines.facts import meanings
from workbench.machines.profiles import Profile


class Card(QFrame):
    """A title with a muted remark at its right, and a body."""

    def __init__(self, title: str) -> None:
        super().__init__(objectName="card")
        self.aside = label("", 12, tone="muted")
        self.head = beside(label(title, 14, Weight.DemiBold), None, self.aside)
        self.body, self.foot = stack(gap=6), beside()
        column(self, self.head, self.body, self.foot, margin=16, gap=10)


class Remark(NamedTuple):
    """One line of the list."""

    tone: str
    """Empty: a fact, without an icon."""
    text: str
    name: str = ""
    faded: bool = False
    """Too old for a colour."""


def remark(
    tone: str, text: str, strong: str = "", *, faded: bool = False, px: float = 13
) -> QWidget:
    """Return a sentence with its icon; `strong` comes before it. `faded`: without colour."""
    made = QWidget(accessibleName=f"{strong}: {text}" if strong else text)
    sign = Sign("muted" if faded and tone else tone, TONE_ICONS.get(tone, "info"), 15)
    across = row(made, (sign, 0, TOP))
    if strong:
        name = label(strong, 13, Weight.Medium, wrap=True)
        name.setFixedWidth(108)
        fill(across, (name, 0, TOP))
    text_label = label(text, px, tone="muted" if faded else "soft", wrap=True, selectable=True)
    text_label.setMinimumWidth(1)  # a hash or a path does not widen the line
    fill(across, (text_label, 1))
    return made


TONES = {"passed": "ok", "warning": "warn", "failed": "bad"}
_RANKS = {"bad": 0, "warn": 1}
"""Of the tones of problems, which come first."""
_WHAT = "A check logs in, removes leftovers of crashed runs, and starts and ends a test run."
_HERE = "A check starts and ends a test run on this computer."
_OLD = "More than a day old, so the machine may have changed. Check it again before a run."


def remarks(profile: Profile, record: Record, *, running: bool) -> list[Remark]:
    """Return the steps of the current or the last check, what the machine's figures mean for a run,
    and its facts; problems first.
    """
    here, old = profile.connector == "local", record.old and not running
    found: list[Remark] = []
    for name, state, text in record.steps:
        tone = (state == "failed" and record.tone) or TONES.get(state, "muted")
        found.append(Remark(tone, text, name, old))
    for run in record.found.get("alive") or []:
        holder = run.get("holder") or "unknown user"
        found.append(Remark("focus", f"{run['run']} ({holder}), not touched.", "Active run", old))
    cpus = record.found.get("cpus") or []
    if record.facts and cpus:
        python, stale = str(record.found.get("python", "")), not is_fresh(record.read)
        for each in meanings(profile, record.facts, cpus, python):
            found.append(Remark(each.tone, each.text, "For a run", stale))
    found.sort(key=lambda each: _RANKS.get(each.tone, len(_RANKS)))
    found += [Remark("", text, name) for name, text in figures(record.found)]
    first: list[Remark] = []
    if running:
        first.append(Remark("focus", "Checking…"))
    elif record.kind == "stopped":
        first.append(Remark("muted", "Check cancelled."))
    elif old:
        first.append(Remark("muted", _OLD))
    elif not record.steps:
        first.append(Remark("muted", _HERE if here else _WHAT))
    if record.hindrance and not here:
        first.append(Remark("muted", record.hindrance))
    return first + found


def figures(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    facts = found.get("facts") or {}
    sysctls = facts.get("sysctls") or {}
    load, limits = facts.get("load_average"), facts.get("descriptor_limits")
    ports = str(sysctls.get("net.ipv4.ip_local_port_range", "")).split()
    low, high = map(int, ports) if len(ports) == 2 else (0, -1)
    queue = sysctls.get("net.core.somaxconn")
    for name, value in {
        "Distribution": facts.get("distribution"),
        "Kernel": facts.get("kernel"),
        "Processor": facts.get("cpu_model"),
        "Usable cores": _cores(found.get("cpus") or [], facts.get("cpu_count")),
        "Governor": facts.get("governor"),
        "Memory": facts.get("memory_bytes") and formatting.size(facts["memory_bytes"]),
        "Load": load and f"{load[0]:.2f} · {load[1]:.2f} · {load[2]:.2f} (1, 5, 15 min)",
        "Python": found.get("python"),
        "Open files": limits and f"{limits['soft']:,} (max {limits['hard']:,})",
        "Local ports": high > low and f"{high - low + 1:,} ({low}–{high})",
        "Accept queue": isinstance(queue, int) and f"max {queue:,}",
        "Runs in": facts.get("container") or facts.get("virtualisation"),
    }.items():
        if value:
            yield name, str(value)


def _cores(cpus: Sequence[int], count: object) -> str:
    if not cpus:
        return ""
    whole = list(cpus) == list(range(cpus[0], cpus[-1] + 1))
    which = f"{cpus[0]}–{cpus[-1]}" if whole and len(cpus) > 1 else ", ".join(map(str, cpus))
    among = f" of {count}" if isinstance(count, int) and count != len(cpus) else ""
    return f"{len(cpus)}{among} ({which})"


_CLEAN = "Remove leftovers of crashed runs. Active runs are not touched."


class KnownCard(Card):
    """The list, and what removes files from a machine over SSH."""

    clean_requested = Signal()
    clear_requested = Signal()
    """The user has confirmed it."""

    def __init__(self) -> None:
        super().__init__("What is known")
        self._machine = ""
        self._shown: list[Remark] = []
        self.clean = button("Clean up", "trash-2", on_click=self.clean_requested.emit)
        self.clear = button("Remove cache…", "trash-2", on_click=self._confirm_clear)
        fill(self.foot, self.clean, self.clear, None)

    def _confirm_clear(self) -> None:
        ask(
            self,
            f"Remove the cache of {self._machine}?",
            "Its work directory with runtimes and agents is removed. The next run copies them "
            "again, which takes longer.",
            go="Remove cache",
            do=self.clear_requested.emit,
        )

    def display(self, profile: Profile, record: Record, *, running: bool, busy: bool) -> None:
        self._machine, over_ssh = profile.name, profile.connector != "local"
        checked, read = since(record.at), since(record.read)
        ages = [f"checked {checked}"] if checked else []
        if read and read != checked:
            ages.append(f"read {read}")
        self.aside.setText("" if running else ", ".join(ages))
        for each, possible in ((self.clean, True), (self.clear, record.found.get("cache_bytes"))):
            each.setVisible(over_ssh)
            each.setEnabled(not busy and not record.hindrance and possible != 0)
            give_reason(each, record.hindrance, _CLEAN if each is self.clean else "")
        shown = remarks(profile, record, running=running)
        if shown != self._shown:
            self._shown = shown
            empty(self.body)
            fill(self.body, *(remark(s.tone, s.text, s.name, faded=s.faded) for s in shown))
