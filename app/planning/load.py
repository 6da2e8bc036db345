"""The form's fields for the load: its model, rates or concurrency, workload and passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.fields import Figure, Flag, Line, Options, Segments
from app.planning import workload
from app.planning.figures import Figures
from app.planning.ranges import SPACINGS, listed
from app.widgets import column, label, row
from workbench.workloads.options import LOAD_MODELS, LoadModel
from workbench.workloads.registry import PROTOCOLS, declaration, form_fields

_PROTOCOLS = [(key, protocol.label) for key, protocol in PROTOCOLS.items()]
_LENGTHS = [("seconds", "seconds"), ("connections", "connections")]
_METHODS = [("sweep", "Sweep all rates"), ("search", "Search the peak")]
_RATES = [("range", "range"), ("list", "list"), ("ceiling", "up to the client limit")]
_ORDERS = [("sequential", "server by server"), ("interleaved", "interleaved, random order")]
_RATE_PX = 62
"""Room for 10,000."""


class LoadFields(QWidget):
    """Maps `lines` and `inputs` by the plan's keys."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._make()
        self.lines: dict[str, Line] = {
            "rates": self._rate_line,
            "concurrency": self._rate_line,
            "search": self._rate_line,
            "search.errors_pct": self._limits_line,
            "search.p99_ms": self._limits_line,
            "seconds": self._length_line,
            "connections": self._length_line,
            "lengthen": self._length_line,
            "workload.protocol": self._protocol_line,
            "vary": self._varied.line,
            "repeats": self._passes_line,
            "order": self._passes_line,
            "workload.arrivals": self._model_line,
            "workload.mode": self._model_line,
            **{key: line for key, (line, _) in self._fields.items()},
        }
        self.inputs: dict[str, QWidget] = {
            "rates": self._list,
            "rates.from": self._low,
            "rates.to": self._high,
            "rates.step": self._step,
            "rates.points": self._points,
            "search.from": self._low,
            "search.to": self._high,
            "search.step": self._step,
            "search.errors_pct": self._errors,
            "search.p99_ms": self._p99,
            "concurrency": self._at_once,
            "seconds": self._length,
            "connections": self._length,
            "vary": self._varied.values,
            "repeats": self._repeats,
            "order": self._order,
            **{key: box for key, (_, box) in self._fields.items()},
        }
        boxes: list[Any] = [box for _, box in self._fields.values()]
        for each in (self._model, self._method, self._errors, self._p99,
                     self._low, self._high, self._step, self._points, self._spacing, self._list,
                     self._at_once, self._length, self._unit, self._lengthen, self._protocol,
                     self._varied, self._repeats, self._order, *boxes):  # fmt: skip
            each.edited.connect(self.edited)

    @property
    def closed(self) -> bool:
        """Whether the load is a closed loop, which has no rates."""
        return bool(self._model.value().mode == "closed")

    @property
    def protocol(self) -> str:
        return str(self._protocol.value())

    def data(self, advanced: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values as the plan has them, valid or not. `advanced`: further values of the
        workload.
        """
        model: LoadModel = self._model.value()
        closed, in_connections = self.closed, self._unit.value() == "connections"
        keys = declaration(self.protocol).options.__struct_fields__
        values = {
            "protocol": self.protocol,
            "arrivals": model.arrivals,
            "mode": model.mode,
            **{key.partition(".")[2]: box.value() for key, (_, box) in self._fields.items()},
            **advanced,
        }
        return {
            "workload": {key: value for key, value in values.items() if key in keys},
            "rates": [] if closed or self._searches else self._rates(),
            "search": self._search() if self._searches else None,
            "concurrency": self._at_once.value() if closed else [],
            "vary": self._varied.value(),
            "connections": self._length.value() if in_connections else None,
            "seconds": None if in_connections else self._length.value(),
            "lengthen": bool(in_connections and not closed and self._lengthen.value()),
            "repeats": self._repeats.value(),
            "order": self._order.value(),
        }

    def fill(self, data: Mapping[str, Any]) -> None:
        """Show a plan's data; missing and invalid values are shown as they are."""
        given = data.get("workload")
        given = given if isinstance(given, dict) else {}
        self._model.set_value(_model(given))
        rates, search = data.get("rates"), data.get("search")
        self._method.set_value("search" if isinstance(search, dict) else "sweep")
        if isinstance(search, dict):
            rates, self._most_points = search, search.get("points", 30)
            self._errors.set_value(search.get("errors_pct", 1))
            self._p99.set_value(search.get("p99_ms"))
        self._show_kind(_kind(rates))
        if isinstance(rates, dict) and _kind(rates) != "list":
            self._points.set_value(rates.get("points") or 10)
            self._spacing.set_value(rates.get("spacing", "linear"))
            ends = (("from", self._low), ("to", self._high), ("step", self._step))
            for key, field in ends:
                if rates.get(key) != "ceiling":
                    field.set_value(rates.get(key))
        else:
            self._list.set_value(listed(rates))
        if data.get("concurrency"):
            self._at_once.set_value(data["concurrency"])
        unit = "connections" if data.get("connections") is not None else "seconds"
        self._unit.set_value(unit)
        self._length.set_value(data.get(unit))
        self._lengthen.set_value(data.get("lengthen"))
        self._protocol.set_value(given.get("protocol", "pong"))
        for field in form_fields():
            if shown := self._fields.get(f"workload.{field.key}"):
                shown[1].set_value(given.get(field.key, field.default))
        self._varied.fit(self._protocol.value())
        self._varied.set_value(data.get("vary"))
        self._repeats.set_value(data.get("repeats", 1))
        self._order.set_value(data.get("order", "sequential"))

    def show_rates(self, rates: Sequence[float], *, to_ceiling: bool = False) -> None:
        """Show the rates per second that the fields yield. `to_ceiling`: they are an estimate."""
        span = ""
        if len(rates) > 1 and self._searches:
            span = f"Chooses among {len(rates):,} rates, {rates[0]:,.6g} to {rates[-1]:,.6g}/s"
        elif to_ceiling:
            span = f"{len(rates):,} rates from {rates[0]:,.6g}/s; the calibration finds the highest"
        elif len(rates) > 1:
            span = f"{len(rates):,} rates, {rates[0]:,.6g} to {rates[-1]:,.6g}/s"
        elif rates:
            span = f"One rate, {rates[0]:,.6g}/s"
        self._rate_line.explain(span)

    def fit(self) -> None:
        """Show only the fields that apply to the kind of load."""
        closed, protocol = self.closed, self.protocol
        self._model_line.explain(self._model.value().help)
        workload.fit(self.lines, self.inputs, protocol)
        self._varied.fit(protocol)
        kind = self._kind.value()
        if self._varied.key and kind != "list":
            self._list.set_value([self._low.value()])
            self._show_kind("list")
        if self._searches and kind != "range":
            self._to_range()
            self._show_kind("range")
        kind = self._kind.value()
        self._method_line.setVisible(not closed and not self._varied.key)
        self._limits_line.setVisible(self._searches)
        concurrent = declaration(protocol).concurrent.capitalize() or "Concurrency"
        self._rate_label.setText(concurrent if closed else "Offered rate")
        self._range.setVisible(not closed and kind != "list")
        for part in self._to_highest:
            part.setVisible(kind == "range")
        for part in self._to_limit:
            part.setVisible(kind == "ceiling")
        self._list.setVisible(not closed and kind == "list")
        self._at_once.setVisible(closed)
        self._kind_line.setVisible(not (closed or self._varied.key or self._searches))
        in_connections = self._unit.value() == "connections"
        self._lengthen_line.setVisible(in_connections and not closed)

    def _make(self) -> None:
        inside = column(self, gap=6)
        self._model = Segments("Load model", [(each, each.label) for each in LOAD_MODELS])
        self._model_line = Line("Load model", self._model, stretch=False)
        self._model_line.reserve(*(model.help for model in LOAD_MODELS))
        inside.addWidget(self._model_line)
        self._method = Segments("Method", _METHODS)
        self._method_line = Line("Method", self._method, stretch=False)
        inside.addWidget(self._method_line)
        inside.addWidget(self._make_kind())
        self._range = self._make_range()
        self._list = Figures("Rates per second")
        self._at_once = Figures("Concurrent connections")
        self._at_once.set_value([1, 10, 50, 100])
        self._rate_line = Line(
            "Offered rate", self._range, self._list, self._at_once, stretch=False
        )
        self._rate_label = self._rate_line.word
        inside.addWidget(self._rate_line)
        self._errors, self._p99 = Figure("Errors, percent"), Figure("p99, milliseconds")
        self._errors.set_value(1)
        self._limits_line = Line(
            "Limits", "errors at most", self._errors, "%, p99 at most", self._p99, "ms"
        )
        self._limits_line.explain("Latency from scheduled time. Empty: any p99.")
        self._most_points: Any = 30
        inside.addWidget(self._limits_line)
        self._length = Figure("Point length", 96)
        self._unit = Options("Unit of the point length", _LENGTHS)
        self._lengthen = Flag("Extend to the minimum sample size")
        self._length_line = Line("Point length", self._length, self._unit)
        inside.addWidget(self._length_line)
        self._lengthen_line = Line("", self._lengthen)
        inside.addWidget(self._lengthen_line)
        self._protocol = Options("Protocol", _PROTOCOLS)
        self._protocol_line = Line("Protocol", self._protocol)
        inside.addWidget(self._protocol_line)
        self._fields: dict[str, tuple[Line, Any]] = {}
        plain = (field for field in form_fields() if not field.advanced)
        for key, line, box in workload.lines_of(plain):
            self._fields[key] = line, box
            inside.addWidget(line)
        self._varied = workload.Varied()
        inside.addWidget(self._varied)
        self._repeats = Figure("Passes")
        self._order = Options("Order", _ORDERS)
        self._passes_line = Line("Passes", self._repeats, self._order)
        inside.addWidget(self._passes_line)

    def _make_kind(self) -> Line:
        self._kind = Options("Rates as", _RATES)
        self._kind_line = Line("Rates", self._kind)
        self._shown_kind = "range"
        self._kind.edited.connect(self._on_kind)
        return self._kind_line

    def _make_range(self) -> QWidget:
        self._low, self._high = Figure("Lowest rate"), Figure("Highest rate")
        self._step = Figure("Step between rates")
        for each in (self._low, self._high, self._step):
            each.setMinimumWidth(_RATE_PX)
        found = QWidget()
        parts = row(found, gap=6)
        self._points = Figure("Number of rates", 46)
        self._points.set_value(10)
        self._spacing = Options("Spacing of the rates", SPACINGS)
        self._to_highest, self._to_limit = (
            [label(part, 12, tone="muted") if isinstance(part, str) else part for part in side]
            for side in (
                ("to", self._high, "step", self._step, "/s"),
                ("/s, in", self._points, "points,", self._spacing),
            )
        )
        for each in (self._low, *self._to_highest, *self._to_limit):
            parts.addWidget(each)
        parts.addStretch(1)
        return found

    def _rates(self) -> Any:
        kind = self._kind.value()
        if kind == "list":
            return self._list.value()
        if kind == "ceiling":
            return {
                "from": self._low.value(),
                "to": "ceiling",
                "points": self._points.value(),
                "spacing": self._spacing.value(),
            }
        return {
            "from": self._low.value(),
            "to": self._high.value(),
            "step": self._step.value(),
        }

    def _search(self) -> dict[str, Any]:
        return {
            "from": self._low.value(),
            "to": self._high.value(),
            "step": self._step.value(),
            "errors_pct": self._errors.value(),
            "p99_ms": self._p99.value(),
            "points": self._most_points,
        }

    @property
    def _searches(self) -> bool:
        """Whether the peak is searched for: of rates, and with nothing else varied."""
        return self._method.value() == "search" and not self.closed and not self._varied.key

    def _on_kind(self) -> None:
        """Keep the rates as far as the chosen kind can express them."""
        kind = self._kind.value()
        if kind != "list" and self._shown_kind == "list":
            self._to_range()
        elif kind == "list" and self._shown_kind == "range":
            self._to_list()
        elif kind == "list":
            self._list.set_value([self._low.value()])
        elif kind == "range" and self._high.value() is None:
            self._high.set_value(10_000)
            self._step.set_value(1_000)
        self._show_kind(kind)
        self.edited.emit()

    def _show_kind(self, kind: str) -> None:
        self._kind.set_value(kind)
        self._shown_kind = kind

    def _to_range(self) -> None:
        numbers = [v for v in self._list.value() if isinstance(v, int | float)]
        low, high = min(numbers, default=1000), max(numbers, default=10000)
        count = max(1, len(numbers) - 1)
        step = round((high - low) / count, 6) or max(1, low)
        for field, value in ((self._low, low), (self._high, high), (self._step, step)):
            field.set_value(int(value) if float(value).is_integer() else value)

    def _to_list(self) -> None:
        low, high, step = self._low.value(), self._high.value(), self._step.value()
        if all(isinstance(v, int | float) for v in (low, high, step)) and step > 0:
            count = min(2_000, int((high - low) / step + 1e-9) + 1)
            self._list.set_value([round(low + n * step, 6) for n in range(count)])


def _kind(rates: Any) -> str:
    """Return how rates are given; those by their number between two rates are listed."""
    if not isinstance(rates, dict):
        return "list"
    if rates.get("to") == "ceiling":
        return "ceiling"
    return "list" if rates.get("points") and rates.get("step") is None else "range"


def _model(given: Mapping[str, Any]) -> LoadModel:
    """Return the arrival model of a workload's plain data."""
    mode, arrivals = given.get("mode", "open"), given.get("arrivals", "uniform")
    alike = [each for each in LOAD_MODELS if each.mode == mode]
    exact = [each for each in alike if each.arrivals == arrivals]
    return next(iter([*exact, *alike]), LOAD_MODELS[0])
