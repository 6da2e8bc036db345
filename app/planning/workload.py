"""The form's lines for the fields that workloads declare, and for the axis among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.fields import Figure, Line, Options, TextField
from app.planning.figures import Figures
from app.planning.text_lines import DataField, TextLines
from app.widgets import column
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
            line.explain(f"{help_[:1].upper()}{help_[1:]}." if help_ else "")
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


class Varied(QWidget):
    """Whether a field of the workload is the axis, and its values."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        named = {field.key: field.label for field in form_fields()}
        self._axes = Options("Axis", [("", "load"), *named.items()])
        self.values = Figures("Values of the axis")
        self.line = Line("Axis", self._axes, self.values, stretch=False)
        column(self).addWidget(self.line)
        self._axes.edited.connect(self.edited)
        self.values.edited.connect(self.edited)

    @property
    def key(self) -> str:
        """Return the key of the field; empty: the load is the axis."""
        return str(self._axes.value() or "")

    def value(self) -> dict[str, Any]:
        return {self.key: self.values.value()} if self.key else {}

    def set_value(self, vary: Any) -> None:
        key, values = next(iter(vary.items()), ("", [])) if isinstance(vary, dict) else ("", [])
        self._axes.set_value(key)
        self.values.set_value(values)

    def fit(self, protocol: str) -> None:
        """Offer the axes of the workload; an axis of another workload is dropped."""
        known = {axis.key for axis in declaration(protocol).axes}
        for place in range(self._axes.count()):
            key = self._axes.itemData(place)
            self._axes.view().setRowHidden(place, bool(key) and key not in known)  # type: ignore[attr-defined]
        if self.key not in known:
            self._axes.set_value("")
        self.setVisible(bool(known))
        self.values.setVisible(bool(self.key))


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
