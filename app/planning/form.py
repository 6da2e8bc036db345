"""A plan as a form: plain data in, plain data out, and errors shown beside the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.fields import Line, TextArea, TextField
from app.machines.records import Records
from app.planning.advanced import Advanced
from app.planning.load import LoadFields
from app.planning.machines import Machines
from app.planning.origin import Origin
from app.planning.resources import PlanResources
from app.planning.servers import Servers
from app.theme import Weight
from app.widgets import column, frame, label, retone
from workbench.formatting import continued

if TYPE_CHECKING:
    from workbench.plan.model import Plan


class PlanForm(QWidget):
    """`data` is the input of `workbench.plan.editing.examine`; `lines` and `inputs` are by the
    plan's keys.
    """

    edited = Signal()
    """The user changed a field."""

    def __init__(self) -> None:
        super().__init__()
        self.setStyleSheet("PlanForm { background: transparent; }")
        inside = self._inside = column(self, gap=6)
        inside.setContentsMargins(16, 14, 16, 16)
        self.origin = Origin()
        inside.addWidget(self.origin)
        inside.addSpacing(5)  # so that its first head is on one line with the others
        self.servers = Servers()
        self._servers_line = Line("Servers", stretch=False, room=True)
        self._servers_line.word.hide()
        inside.addWidget(self.servers)
        inside.addWidget(self._servers_line)
        self._section("Load")
        self.load = LoadFields()
        inside.addWidget(self.load)
        self.more = Advanced()
        inside.addWidget(self.more)
        self._section("Machines")
        self.machines = Machines()
        inside.addWidget(self.machines)
        self._section("Title and note")
        self.name = TextField("Title")
        self.description = TextArea()
        self.description.setAccessibleName("Note")
        self.description.setTabChangesFocus(True)
        self.description.setFixedHeight(72)
        self.description.setStyleSheet("QPlainTextEdit { font-size: 13px; }")
        inside.addWidget(Line("Title", self.name, stretch=False))
        inside.addWidget(Line("Note", self.description, stretch=False))
        inside.addStretch(1)
        self.lines: dict[str, Line] = {
            "servers": self._servers_line,
            **self.load.lines,
            **self.more.lines,
        }
        self.inputs: dict[str, QWidget] = {**self.load.inputs, **self.more.inputs}
        for each in (self.servers, self.load, self.more, self.name):
            each.edited.connect(self._on_edited)
        self.description.textChanged.connect(self._on_described)
        self._filling = False
        self.listed: dict[str, QWidget | None] = {}
        """The fields of the problems, by these, for a list beside the form: several, or one that no
        field shows in full."""
        self._fit()

    def data(self) -> dict[str, Any]:
        """Return the values of the fields, valid or not."""
        more = self.more.data()
        load = self.load.data(more.pop("workload"))
        return {
            "name": self.name.value(),
            "description": self.description.toPlainText(),
            "source": self.origin.question,
            "servers": self.servers.value(),
            **load,
            **more,
        }

    def fill(self, data: Mapping[str, Any]) -> None:
        """Show a plan's data; missing and invalid values are shown as they are."""
        self._filling = True
        self.name.set_value(data.get("name", ""))
        self.description.setPlainText(str(data.get("description", "")))
        self.origin.show_source(str(data.get("source") or ""))
        self.servers.set_value(data.get("servers"))
        self.load.fill(data)
        self.more.fill(data)
        self._fit()
        self._filling = False

    def show_faults(self, faults: Mapping[str, str]) -> list[str]:
        """Show each problem, by its key, beside its field. Returns all problems, named by their
        fields.
        """
        by_line: dict[Line, list[tuple[str, str]]] = {line: [] for line in self.lines.values()}
        named: dict[str, QWidget | None] = {}
        for key, sentence in faults.items():
            line = self.lines.get(key) or self.lines.get(key.partition(".")[0])
            field = self.inputs.get(key)
            name = line.word.text() if line is not None else ""
            if field is not None and not field.isHidden():
                name = field.accessibleName() or name
            # A sentence about servers begins with a name, which keeps its capitals.
            continues = sentence if key.partition(".")[0] == "servers" else continued(sentence)
            named_sentence = f"{name}: {continues}" if name else sentence
            named[named_sentence] = field
            if line is not None:
                by_line[line].append((sentence, named_sentence))
        for line, problems in by_line.items():
            # If several fields of a line are invalid, each message has its field's name.
            line.fault(" ".join(pair[len(problems) > 1] for pair in dict.fromkeys(problems)))
        for key, field in self.inputs.items():
            if field.isHidden() and key not in faults:
                continue
            wrong = any(k in faults for k, f in self.inputs.items() if f is field)
            retone(field, "bad" if wrong else "")
        if any(line in self.more.lines.values() and problems for line, problems in by_line.items()):
            self.more.open()
        seen = [line for line, problems in by_line.items() if problems and not line.cut]
        shown_once = len(named) == 1 and set(seen) - set(self.more.lines.values())  # in sight
        self.listed = {} if shown_once or "" in faults else named
        return list(named)

    def show_plan(self, plan: Plan | None) -> None:
        """Show the rates that the fields yield and the order of the servers; None: the plan is
        invalid.
        """
        self.load.show_rates(
            plan.rates_per_s if plan else (), to_ceiling=bool(plan and plan.to_ceiling)
        )
        self.servers.show_order(_order(plan) if plan else "")
        if plan:
            self.origin.show_plan(plan)

    def set_resources(self, found: PlanResources, kept: dict[str, Any]) -> None:
        """Offer servers and machines; `kept`: the settings with what is known of the latter."""
        self.servers.set_entries(found.entries)
        known = {machine.name: Records(kept).get(machine.name) for machine in found.machines}
        states = {name: record.state for name, record in known.items()}
        seen = {name: record.found for name, record in known.items()}
        self.machines.set_machines(found.machines, states, seen, found.damaged)
        self.machines.set_tunings(found.tunings)

    def _section(self, title: str) -> None:
        inside: QVBoxLayout = self._inside
        inside.addSpacing(8)
        hair = frame("hair")
        hair.setFixedHeight(1)
        inside.addWidget(hair)
        inside.addSpacing(6)
        inside.addWidget(label(title, 14, Weight.DemiBold))

    def _on_described(self) -> None:
        if not self._filling:
            self.edited.emit()

    def _on_edited(self) -> None:
        self._fit()
        if not self._filling:
            self.edited.emit()

    def _fit(self) -> None:
        """Show only the fields that apply to the kind of load."""
        self.load.fit()
        self.servers.set_protocol(self.load.protocol)
        self.more.fit(closed=self.load.closed, protocol=self.load.protocol)


def _order(plan: Plan) -> str:
    count = len(plan.servers)
    if count < 2:
        return "1 server" if count else ""
    if plan.order == "sequential":
        return f"{count} servers, one after another"
    by = f" (seed {plan.seed})" if plan.seed else ""
    return f"{count} servers, random order{by}"
