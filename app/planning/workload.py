"""The form's lines for the fields that workloads declare, and for the axis among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.fields import Figure, Line, Options, TextField
from app.planning.figures import Figures
from app.planning.ranges import SPACINGS, listed
from app.planning.text_lines import DataField, TextLines
from app.widgets import column, label, row
from workbench.formatting import capital
from workbench.workloads.fields import Field
from workbench.workloads.registry import declaration, form_fields


def lines_of(fields: Iterable[Field]) -> Iterator[tuple[str, Line, QWidget]]:
    """Return (key of the plan, line, input) of each field."""
    for field in fields:
        box = _input(field)
        if field.advanced:
            # Text takes the width that there is.
            wide = field.kind in ("data", "lines", "text")
            line = Line(field.label, box, *filter(None, [field.unit]), stretch=not wide)
            help_ = field.help.replace("`", "")
            line.explain(f"{capital(help_)}." if help_ else "")
        else:
            line = Line(field.label, box, f"{field.unit} {field.help}".strip())
        yield f"workload.{field.key}", line, box


def fit(lines: Mapping[str, Line], inputs: Mapping[str, Any], protocol: str) -> None:
    """Only the fields of its workload are seen."""
    workload = declaration(protocol)
    for field in form_fields():
        key = f"workload.{field.key}"
        if key in inputs:
            lines[key].setVisible(field.key in workload.options.__struct_fields__)
    calls = inputs.get("workload.calls_per_connection")
    if calls is not None:
        calls.setEnabled(workload.several_calls or calls.value() != 1)


_KINDS = [("list", "list"), ("ceiling", "up to the limit")]
_CEILING = "connections"
"""The field whose limit is known before a run."""


class Varied(QWidget):
    """Whether a field of the workload is the axis, and its values."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        named = {field.key: field.label for field in form_fields()}
        self._axes = Options("Axis", [("", "load"), *named.items()])
        self.values = Figures("Values of the axis")
        self._kind = Options("Values as", _KINDS)
        self._low, self._points = Figure("Lowest value"), Figure("Number of values", 46)
        self._low.set_value(100)
        self._points.set_value(8)
        self._spacing = Options("Spacing of the values", SPACINGS)
        self._spacing.set_value("geometric")
        self._range = QWidget()
        parts = row(self._range, gap=6)
        for part in (self._low, "in", self._points, "points,", self._spacing):
            parts.addWidget(label(part, 12, tone="muted") if isinstance(part, str) else part)
        parts.addStretch(1)
        self.line = Line("Axis", self._axes, self._kind)
        self._values_line = Line("Values", self.values, self._range, stretch=False)
        inside = column(self, gap=6)
        inside.addWidget(self.line)
        inside.addWidget(self._values_line)
        for each in (self._axes, self._kind, self.values, self._low, self._points, self._spacing):
            each.edited.connect(self.edited)

    @property
    def key(self) -> str:
        """Return the key of the field; empty: the load is the axis."""
        return str(self._axes.value() or "")

    def value(self) -> dict[str, Any]:
        if not self.key:
            return {}
        if not self._ends_at_ceiling:
            return {self.key: self.values.value()}
        ends = {"from": self._low.value(), "to": "ceiling"}
        inner = {"points": self._points.value(), "spacing": self._spacing.value()}
        return {self.key: ends | inner}

    def set_value(self, vary: Any) -> None:
        key, given = next(iter(vary.items()), ("", [])) if isinstance(vary, dict) else ("", [])
        self._axes.set_value(key)
        to_ceiling = isinstance(given, dict) and given.get("to") == "ceiling"
        self._kind.set_value("ceiling" if to_ceiling else "list")
        if to_ceiling:
            self._low.set_value(given.get("from"))
            self._points.set_value(given.get("points"))
            self._spacing.set_value(given.get("spacing", "linear"))
        else:
            self.values.set_value(listed(given))

    @property
    def _ends_at_ceiling(self) -> bool:
        return self.key == _CEILING and self._kind.value() == "ceiling"

    def fit(self, protocol: str) -> None:
        """Offer the axes of the workload; an axis of another workload is dropped."""
        known = {axis.key for axis in declaration(protocol).axes}
        for place in range(self._axes.count()):
            key = self._axes.itemData(place)
            self._axes.view().setRowHidden(place, bool(key) and key not in known)  # type: ignore[attr-defined]
        if self.key not in known:
            self._axes.set_value("")
        self.setVisible(bool(known))
        self._kind.setVisible(self.key == _CEILING)
        self._values_line.setVisible(bool(self.key))
        self.values.setVisible(not self._ends_at_ceiling)
        self._range.setVisible(self._ends_at_ceiling)


def _input(field: Field) -> QWidget:
    """Return an input for a value of a workload."""
    if field.kind == "choice":
        return Options(field.label, [(choice, str(choice)) for choice in field.choices])
    if field.kind == "data":
        return DataField(field.label, field.default)
    if field.kind == "lines":
        return TextLines(field.label)
    if field.kind == "text":
        return TextField(field.label)
    return Figure(f"{field.label}, {field.unit}" if field.unit else field.label)
