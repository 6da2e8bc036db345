"""A plan as a form: plain data in, plain data out, and errors shown beside the fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from app.fields import Figure, Flag, Line, Options, Segments, TextField
from app.planning import workload
from app.planning.advanced import Advanced
from app.planning.figures import Figures
from app.planning.machines import Machines
from app.planning.servers import Servers
from app.theme import Weight
from app.widgets import button, column, frame, label, retone, row
from workbench.workloads.base import LOAD_MODELS, LoadModel
from workbench.workloads.registry import PROTOCOLS, declaration, form_fields

_PROTOCOLS = [(key, protocol.label) for key, protocol in PROTOCOLS.items()]
_LENGTHS = [("seconds", "seconds"), ("connections", "connections")]
_METHODS = [("sweep", "Sweep all rates"), ("search", "Search the peak")]
_ORDERS = [("sequential", "server by server"), ("interleaved", "interleaved, random order")]


class PlanForm(QWidget):
    """`data` is the input of `workbench.plan.editing.examine`; `lines` and `inputs` are by the
    plan's keys.
    """

    edited = Signal()
    """The user changed a field."""

    def __init__(self) -> None:
        super().__init__()
        self.setStyleSheet("PlanForm { background: transparent; }")
        inside = self._inside = column(self, gap=8)
        inside.setContentsMargins(16, 14, 16, 16)
        self.servers = Servers()
        self._servers_line = Line("Servers", stretch=False)
        self._servers_line.word.hide()
        inside.addWidget(self.servers)
        inside.addWidget(self._servers_line)
        self._make_load()
        self.more = Advanced()
        inside.addWidget(self.more)
        self._section("Machines")
        self.machines = Machines()
        inside.addWidget(self.machines)
        self._section("Title and note")
        self.name = TextField("Title")
        self.description = QPlainTextEdit()
        self.description.setAccessibleName("Note")
        self.description.setTabChangesFocus(True)
        self.description.setFixedHeight(72)
        self.description.setStyleSheet("QPlainTextEdit { font-size: 13px; }")
        inside.addWidget(Line("Title", self.name, stretch=False))
        inside.addWidget(Line("Note", self.description, stretch=False))
        inside.addStretch(1)
        self.lines: dict[str, Line] = {
            "servers": self._servers_line,
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
            **self.more.lines,
        }
        self.inputs: dict[str, QWidget] = {
            "rates": self._list,
            "rates.from": self._low,
            "rates.to": self._high,
            "rates.step": self._step,
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
            **self.more.inputs,
        }
        boxes: list[Any] = [box for _, box in self._fields.values()]
        for each in (self.servers, self._model, self._method, self._errors, self._p99,
                     self._low, self._high, self._step, self._list,
                     self._at_once, self._length, self._unit, self._lengthen, self._protocol,
                     self._varied, self._repeats, self._order, self.more, self.name,
                     *boxes):  # fmt: skip
            each.edited.connect(self._on_edited)
        self.description.textChanged.connect(self._on_described)
        self._filling = False
        self.unplaced: list[str] = []
        """Problems that no field shows."""
        self._fit()

    def data(self) -> dict[str, Any]:
        """Return the values of the fields, valid or not."""
        model: LoadModel = self._model.value()
        closed = model.mode == "closed"
        in_connections = self._unit.value() == "connections"
        more = self.more.data()
        keys = declaration(self._protocol.value()).options.__struct_fields__
        values = {
            "protocol": self._protocol.value(),
            "arrivals": model.arrivals,
            "mode": model.mode,
            **{key.partition(".")[2]: box.value() for key, (_, box) in self._fields.items()},
            **more.pop("workload"),
        }
        return {
            "name": self.name.value(),
            "description": self.description.toPlainText(),
            "servers": self.servers.value(),
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
            **more,
        }

    def fill(self, data: Mapping[str, Any]) -> None:
        """Show a plan's data; missing and invalid values are shown as they are."""
        self._filling = True
        given = data.get("workload")
        given = given if isinstance(given, dict) else {}
        self.name.set_value(data.get("name", ""))
        self.description.setPlainText(str(data.get("description", "")))
        self.servers.set_value(data.get("servers"))
        self._model.set_value(_model(given))
        rates, search = data.get("rates"), data.get("search")
        self._method.set_value("search" if isinstance(search, dict) else "sweep")
        if isinstance(search, dict):
            rates, self._most_points = search, search.get("points", 30)
            self._errors.set_value(search.get("errors_pct", 1))
            self._p99.set_value(search.get("p99_ms"))
        self._as_list = not isinstance(rates, dict)
        if isinstance(rates, dict):
            ends = (("from", self._low), ("to", self._high), ("step", self._step))
            for key, field in ends:
                field.set_value(rates.get(key))
        else:
            self._list.set_value(rates)
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
        self.more.fill(data)
        self._fit()
        self._filling = False

    def show_faults(self, faults: Mapping[str, str]) -> list[str]:
        """Show each problem, by its key, beside its field. Returns all problems, named by their
        fields.
        """
        by_line: dict[Line, list[tuple[str, str]]] = {line: [] for line in self.lines.values()}
        named = []
        self.unplaced = []
        for key, sentence in faults.items():
            line = self.lines.get(key) or self.lines.get(key.partition(".")[0])
            field = self.inputs.get(key)
            name = line.word.text() if line is not None else ""
            if field is not None and not field.isHidden():
                name = field.accessibleName() or name
            named_sentence = f"{name}: {sentence[:1].lower()}{sentence[1:]}" if name else sentence
            named.append(named_sentence)
            if line is not None:
                by_line[line].append((sentence, named_sentence))
            elif key:
                self.unplaced.append(named_sentence)
        for line, problems in by_line.items():
            # If several fields of a line are invalid, each message has its field's name.
            line.fault(" ".join(pair[len(problems) > 1] for pair in dict.fromkeys(problems)))
        self._servers_line.setVisible("servers" in faults)
        for key, field in self.inputs.items():
            if field.isHidden() and key not in faults:
                continue
            wrong = any(k in faults for k, f in self.inputs.items() if f is field)
            retone(field, "bad" if wrong else "")
        if any(line in self.more.lines.values() and problems for line, problems in by_line.items()):
            self.more.open()
        return named

    def show_rates(self, rates: Sequence[float], order: str) -> None:
        """Show the rates per second that the fields yield, and the order as text."""
        span = ""
        if len(rates) > 1 and self._searches:
            span = f"Chooses among {len(rates):,} rates, {rates[0]:,.6g} to {rates[-1]:,.6g}/s"
        elif len(rates) > 1:
            span = f"{len(rates):,} rates, {rates[0]:,.6g} to {rates[-1]:,.6g}/s"
        elif rates:
            span = f"One rate, {rates[0]:,.6g}/s"
        self._rate_line.explain(span)
        self.servers.show_order(order)

    def _make_load(self) -> None:
        self._section("Load")
        inside = self._inside
        self._model = Segments("Load model", [(each, each.label) for each in LOAD_MODELS])
        self._model_line = Line("Load model", self._model, stretch=False)
        inside.addWidget(self._model_line)
        self._method = Segments("Method", _METHODS)
        self._method_line = Line("Method", self._method, stretch=False)
        inside.addWidget(self._method_line)
        self._low, self._high = Figure("Lowest rate"), Figure("Highest rate")
        self._step = Figure("Step between rates")
        self._range = QWidget()
        parts = row(self._range, gap=6)
        for part in (self._low, "to", self._high, "step", self._step, "/s"):
            parts.addWidget(label(part, 12, tone="muted") if isinstance(part, str) else part)
        parts.addStretch(1)
        self._list = Figures("Rates per second")
        self._at_once = Figures("Concurrent connections")
        self._at_once.set_value([1, 10, 50, 100])
        self._as_list = False
        self._swap = button("Use a list", kind="ghost", on_click=self._swap_rates)
        self._rate_line = Line(
            "Offered rate", self._range, self._list, self._at_once, self._swap, stretch=False
        )
        self._rate_line.parts.setAlignment(self._swap, Qt.AlignmentFlag.AlignTop)
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

    def _section(self, title: str) -> None:
        inside: QVBoxLayout = self._inside
        inside.addSpacing(8)
        hair = frame("hair")
        hair.setFixedHeight(1)
        inside.addWidget(hair)
        inside.addSpacing(6)
        inside.addWidget(label(title, 14, Weight.DemiBold))

    def _rates(self) -> Any:
        if self._as_list:
            return self._list.value()
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
        open_loop = self._model.value().mode != "closed"
        return self._method.value() == "search" and open_loop and not self._varied.key

    def _swap_rates(self) -> None:
        if self._as_list:
            self._to_range()
        else:
            self._to_list()
        self._on_edited()

    def _to_range(self) -> None:
        numbers = [v for v in self._list.value() if isinstance(v, int | float)]
        low, high = min(numbers, default=1000), max(numbers, default=10000)
        count = max(1, len(numbers) - 1)
        step = round((high - low) / count, 6) or max(1, low)
        for field, value in ((self._low, low), (self._high, high), (self._step, step)):
            field.set_value(int(value) if float(value).is_integer() else value)
        self._as_list = False

    def _to_list(self) -> None:
        low, high, step = self._low.value(), self._high.value(), self._step.value()
        if all(isinstance(v, int | float) for v in (low, high, step)) and step > 0:
            count = min(2_000, int((high - low) / step + 1e-9) + 1)
            self._list.set_value([round(low + n * step, 6) for n in range(count)])
        self._as_list = True

    def _on_described(self) -> None:
        if not self._filling:
            self.edited.emit()

    def _on_edited(self) -> None:
        self._fit()
        if not self._filling:
            self.edited.emit()

    def _fit(self) -> None:
        """Show only the fields that apply to the kind of load."""
        model: LoadModel = self._model.value()
        closed, protocol = model.mode == "closed", self._protocol.value()
        self._model_line.explain(model.help)
        workload.fit(self.lines, self.inputs, protocol)
        self._varied.fit(protocol)
        if self._varied.key and not self._as_list:
            self._list.set_value([self._low.value()])
            self._as_list = True
        if self._searches and self._as_list:
            self._to_range()
        self._method_line.setVisible(not closed and not self._varied.key)
        self._limits_line.setVisible(self._searches)
        self._rate_label.setText("Concurrency" if closed else "Offered rate")
        self._range.setVisible(not closed and not self._as_list)
        self._list.setVisible(not closed and self._as_list)
        self._at_once.setVisible(closed)
        self._swap.setVisible(not (closed or self._varied.key or self._searches))
        text = "Use a range" if self._as_list else "Use a list"
        self._swap.setText(text)
        self._swap.setAccessibleName(f"{text} of rates")
        in_connections = self._unit.value() == "connections"
        self._lengthen_line.setVisible(in_connections and not closed)
        self.servers.set_protocol(protocol)
        self.more.fit(closed=closed, protocol=protocol)


def _model(given: Mapping[str, Any]) -> LoadModel:
    """Return the arrival model of a workload's plain data."""
    mode, arrivals = given.get("mode", "open"), given.get("arrivals", "uniform")
    alike = [each for each in LOAD_MODELS if each.mode == mode]
    exact = [each for each in alike if each.arrivals == arrivals]
    return next(iter([*exact, *alike]), LOAD_MODELS[0])
