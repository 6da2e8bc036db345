"""The system facts of a machine, and what they mean for a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from app.machines.cards import Card, remark
from app.machines.records import Record, is_fresh, since
from app.theme import Theme, Weight
from app.widgets import dress, empty, label
from workbench import formatting

if TYPE_CHECKING:
    from workbench.machines.profiles import Profile


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
            figure = label(value, 13, Weight.Medium, wrap=True, figures=_is_figure(value))
            figure.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            figure.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
            figure.setAccessibleName(f"{name}: {value}")
            self._grid.addWidget(named, place, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(figure, place, 1)


class MeaningCard(Card):
    """Sentences about the figures."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("Limits for a run", theme)

    def display(self, profile: Profile, record: Record) -> None:
        from workbench.machines.advice import meanings  # noqa: PLC0415 - not before the page

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
        dress(self, self.theme)


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
