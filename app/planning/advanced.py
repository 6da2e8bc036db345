"""The fields of a plan that few people change, folded away."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.fields import Figure, Flag, Line, Options
from app.planning import workload
from app.theme import Theme
from app.widgets import button, column, dress, row
from workbench.documents import OUR_AGENT
from workbench.load.registry import TOOLS
from workbench.plan.editing import plan_data
from workbench.plan.model import Plan, Profile
from workbench.workloads.registry import declaration, form_fields

_COUNTED = [
    (None, "default"),
    ("connections", "connections"),
    ("requests", "requests"),
    ("users", "users"),
]
_BARE_PLAN = plan_data(Plan(servers=[]))
DEFAULTS: dict[str, Any] = {
    **{
        key: _BARE_PLAN[key]
        for key in (
            "rate_of",
            "warm_up",
            "cool_down_s",
            "looks",
            "give_up",
            "calibrate",
            "profile",
            "seed",
            "backlog",
            "nofile",
            "workers",
            "load_tool",
            "with",
        )
    },
    **{f"workload.{field.key}": field.default for field in form_fields() if field.advanced},
}

_GROUPS: dict[str, dict[str, Any]] = {
    "warm_up": DEFAULTS["warm_up"],
    "give_up": DEFAULTS["give_up"],
    "profile": msgspec.to_builtins(Profile()),
}
"""Keys with keys of their own, which a tick switches on; with their defaults."""
_WARM_UP = "Left empty: at 500/s, but at most the highest rate; with fixed concurrency no warm-up."
_ACROSS = 3
"""Load tools in a row."""
_OFF = {"warm_up": None, "give_up": None, "profile": False}


class Further(QWidget):
    """Further load tools, named as in plans and charts and in the plan's order; one that is added
    is the last."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._chosen: list[str] = []
        self._flags = {name: Flag(name) for name in TOOLS}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(4)
        for place, (name, flag) in enumerate(self._flags.items()):
            flag.setAccessibleName(f"Compared with {name}")
            flag.edited.connect(partial(self._choose, name))
            grid.addWidget(flag, *divmod(place, _ACROSS))

    def value(self) -> list[str]:
        return list(self._chosen)

    def set_value(self, value: Any) -> None:
        self._chosen = list(value) if isinstance(value, list) else []
        for name, flag in self._flags.items():
            flag.set_value(name in self._chosen)

    def _choose(self, name: str) -> None:
        others = [each for each in self._chosen if each != name]
        self._chosen = [*others, *[name] * self._flags[name].value()]
        self.edited.emit()


class Advanced(QWidget):
    """Maps `lines` and `inputs` by the plan's keys."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._theme: Theme | None = None
        inside = column(self, gap=6)
        head = row()
        self._toggle = button("Advanced", "chevron-right", kind="ghost", on_click=self._switch)
        self._toggle.setStyleSheet("QPushButton { padding-left: 0; }")
        head.addWidget(self._toggle)
        head.addStretch(1)
        inside.addLayout(head)
        self._body = QWidget()
        self._inside = column(self._body, gap=6)
        self._body.hide()
        inside.addWidget(self._body)
        self.lines: dict[str, Line] = {}
        self.inputs: dict[str, QWidget] = {}
        self._flags = {
            "warm_up": Flag("At"),
            "give_up": Flag("After"),
            "profile": Flag("After all results, at"),
        }
        self._make()
        for each in {*self.inputs.values(), *self._flags.values()}:
            each.edited.connect(self._on_edited)  # type: ignore[attr-defined]

    def data(self) -> dict[str, Any]:
        """Return the values as the plan's form has them; `workload` contains its own part."""
        inputs = self.inputs
        plain = {k: f.value() for k, f in inputs.items() if "." not in k}  # type: ignore[attr-defined]
        nested: dict[str, dict[str, Any]] = {group: {} for group in ("workload", *_GROUPS)}
        for key, field in inputs.items():
            group, dot, name = key.partition(".")
            if dot:
                nested[group][name] = field.value()  # type: ignore[attr-defined]
        return {
            **plain,
            "workload": nested["workload"],
            **{
                group: nested[group] if flag.value() else _OFF[group]
                for group, flag in self._flags.items()
            },
        }

    def fill(self, data: Mapping[str, Any]) -> None:
        given = data.get("workload")
        given = given if isinstance(given, dict) else {}
        for key, field in self.inputs.items():
            group, dot, name = key.partition(".")
            if group in _GROUPS:
                kept = data.get(group)
                value = (kept if isinstance(kept, dict) else {}).get(name, _GROUPS[group][name])
            elif dot:
                value = given.get(name, DEFAULTS[key])
            else:
                value = data.get(key, DEFAULTS[key])
            if key == "load_tool" and value == declaration(given.get("protocol", "")).load_tool:
                value = OUR_AGENT  # Also when another workload is chosen.
            field.set_value(value)  # type: ignore[attr-defined]
        for group, flag in self._flags.items():
            flag.set_value(data.get(group, DEFAULTS[group]))
        self._refresh()

    def open(self) -> None:
        """Unfold the fields."""
        if self._body.isHidden():
            self._switch()

    def fit(self, *, closed: bool, protocol: str) -> None:
        """Only what matters for the workload and the kind of load is seen."""
        workload.fit(self.lines, self.inputs, protocol)
        for key in ("rate_of", "looks", "calibrate"):
            self.lines[key].setVisible(not closed)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _make(self) -> None:
        advanced = (field for field in form_fields() if field.advanced)
        for key, line, box in workload.lines_of(advanced):
            self.lines[key], self.inputs[key] = line, box
            self._inside.addWidget(line)
        self._line("Rate unit", ("rate_of", Options("Rate unit", _COUNTED)))
        self.lines["rate_of"].explain(
            "Default: connections where each makes one call, otherwise requests."
        )
        self._line(
            "Warm-up",
            ("", self._flags["warm_up"]),
            ("warm_up.rate_per_s", Figure("Rate of the warm-up", 72)),
            "/s for",
            ("warm_up.seconds", Figure("Seconds of the warm-up", 64)),
            "s",
        )
        self.lines["warm_up"].explain(_WARM_UP)
        self._line(
            "Cool-down",
            ("cool_down_s", Figure("Cool-down in seconds", 64)),
            "s or more between points",
        )
        self._line(
            "Repeats", "up to", ("looks", Figure("Tries at the limit", 64)), "tries at the limit"
        )
        self._line(
            "Early stop",
            ("", self._flags["give_up"]),
            ("give_up.after_points", Figure("Points in a row", 56)),
            "points below",
            ("give_up.success_below_pct", Figure("Percent of success", 56)),
            "%",
        )
        self.lines["give_up"].explain("Consecutive points, by their share of successful calls.")
        self._line(
            "CPU profile",
            ("", self._flags["profile"]),
            ("profile.at", Figure("Where servers are profiled", 72)),
            "for",
            ("profile.seconds", Figure("Seconds of a profile", 56)),
            "s",
        )
        self.lines["profile"].explain(
            "In which functions CPU time goes. Left empty: at the highest rate each sustains."
        )
        self._line("Calibration", ("calibrate", Flag("Calibrate clients first")))
        self._line(
            "Seed", ("seed", Figure("Seed", 140, grouped=False)), "0: a new one for each run"
        )
        self._line(
            "Backlog",
            ("backlog", Figure("Backlog", 84)),
            "descriptors",
            ("nofile", Figure("Descriptors", 84)),
        )
        self.lines["backlog"].explain("The same for every server.")
        self._line(
            "Load agents", ("workers", Figure("Load agents", 64)), "processes, one core each"
        )
        tools = [(tool.name, tool.label) for tool in TOOLS.values()]
        self._line("Load tool", ("load_tool", Options("Load tool", tools)))
        self._line("Compared with", ("with", Further()))

    def _line(self, name: str, *parts: tuple[str, QWidget] | str) -> None:
        widgets: list[QWidget | str] = []
        keys = []
        for part in parts:
            if isinstance(part, str):
                widgets.append(part)
                continue
            key, field = part
            widgets.append(field)
            if key:
                self.inputs[key] = field
                keys += [key, key.partition(".")[0]] if key.partition(".")[0] in _GROUPS else [key]
        line = Line(name, *widgets)
        self.lines.update(dict.fromkeys(keys, line))
        self._inside.addWidget(line)

    def _on_edited(self) -> None:
        self._refresh()
        self.edited.emit()

    def _switch(self) -> None:
        opened = self._body.isHidden()
        self._body.setVisible(opened)
        self._toggle.setProperty("icon_name", "chevron-down" if opened else "chevron-right")
        self._refresh()
        if self._theme is not None:
            dress(self, self._theme)

    def _refresh(self) -> None:
        """Show how many fields differ from their defaults."""
        data = self.data()
        flat = {f"workload.{k}": v for k, v in data.pop("workload").items()} | data
        odd = sum(flat[key] != default for key, default in DEFAULTS.items())
        text = f"Advanced ({odd} changed)" if odd else "Advanced"
        self._toggle.setText(f" {text}")
        self._toggle.setAccessibleName(text)
        for group, flag in self._flags.items():
            for key, field in self.inputs.items():
                if key.startswith(group):
                    field.setEnabled(flag.value())
