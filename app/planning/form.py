"""A plan as a form: plain data in, plain data out, and errors shown beside the fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.fields import Line
from app.machines.records import Records
from app.planning import values
from app.planning.machines import Machines
from app.planning.request_list import TITLES
from app.planning.resources import PlanResources
from app.planning.rows import ADVANCED, LOAD, TEXTS, Cell, Group, Row, When
from app.planning.servers import Servers
from app.theme import Weight
from app.widgets import beside, button, column, fill, hair, label, retone, row, set_icon
from workbench.analysis.published import source_of
from workbench.formatting import continued
from workbench.plan.model import Plan
from workbench.plan.reading import to_data
from workbench.results.published import differs
from workbench.workloads.http.requests import OF_ONE
from workbench.workloads.registry import declaration


class Origin(QFrame):
    """Where the question of a plan comes from: what the source measured, how, and what it found.
    Hidden where a plan asks no question of a source."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._shows = label("", 14, Weight.DemiBold, wrap=True)
        more = button("Published", "history")
        more.setAccessibleName("Show what the source measured and found")
        more.setCheckable(True)
        self._citation = label("", 12, tone="muted", wrap=True)
        self._about = label("", 12, tone="soft", wrap=True)
        self._about.hide()
        more.toggled.connect(self._about.setVisible)
        top = beside((self._shows, 1), more)
        column(self, top, self._citation, self._about, margin=12, gap=6)
        self.set_value("")

    def value(self) -> str:
        """Return the `source` of a plan."""
        return self._question

    def set_value(self, question: Any) -> None:
        """Show a question by its id; the details stay folded or unfolded."""
        self._question = str(question or "")
        self._show({})

    def show_plan(self, plan: Plan) -> None:
        """Name what a plan changes against the full preset of its question."""
        if self._question:
            self._show(to_data(plan))

    def _show(self, plan: Mapping[str, Any]) -> None:
        found = source_of(self._question)
        self.setVisible(found is not None)
        if found is None:
            return
        source, asked = found
        self._shows.setText(asked.shows)
        self._citation.setText(source.citation)
        figures = [
            f"· {e.name}: {', '.join(e.figures.values())} ({e.cited})" for e in asked.figures
        ]
        stated = ["Figures of the text:", *figures] if figures else ["It states no figures."]
        parts = (
            f"How: {asked.method}",
            f"Found: {asked.found}",
            f"Different here: {differs(plan, asked) if plan else asked.differs}",
            "\n".join(stated),
        )
        self._about.setText("\n\n".join(parts))


class PlanForm(QWidget):
    """`data` is the input of `plan.editing.examine`; `lines` and `inputs` have `values`' keys."""

    edited = Signal()
    """The user changed a field."""

    def __init__(self) -> None:
        super().__init__(styleSheet="PlanForm { background: transparent; }")
        self.lines: dict[str, Line] = {}
        self.inputs: dict[str, Any] = {}
        self._fields: dict[str, Any] = {}
        """Those of `inputs`, and what else has a value, each by one key."""
        self._unseen: dict[str, Any] = {}
        """What a plan says and no field shows."""
        self._shown: list[tuple[QWidget, When]] = []
        self.listed: dict[str, QWidget | None] = {}
        """The fields of the problems, by these, for a list beside the form: several, or one that is
        not in sight."""
        self.origin, self.servers = Origin(), Servers()
        about = self.lines["servers"] = Line("Servers", stretch=False, room=True)
        about.word.hide()
        # With some pixels left free, so that its first head is on one line with the others.
        parts = self.origin, 5, self.servers, about
        inside = self._inside = column(self, *parts, margin=(16, 14, 16, 16), gap=6)
        self._fields |= {"source": self.origin, "servers": self.servers}
        self.servers.edited.connect(self._on_edited)
        self._section("Load")
        self._add_rows(LOAD, inside)
        self._make_advanced()
        self._section("Machines")
        self.machines = Machines()
        inside.addWidget(self.machines)
        self._section("Title and note")
        self._add_rows(TEXTS, inside)
        inside.addStretch(1)
        self.name, self.description = self.inputs["name"], self.inputs["description"]
        self._set(values.STARTS)
        self._rates_as = self.inputs["rates.as"].value()
        self._fit()

    def data(self) -> dict[str, Any]:
        """Return the values of the fields, valid or not."""
        return values.to_data(self._values())

    def fill(self, data: Mapping[str, Any]) -> None:
        """Show a plan's data; missing and invalid values are shown as they are."""
        found = values.from_data(data)
        self._set(found)
        self._rates_as = found["rates.as"]
        self._fit()

    def show_faults(self, faults: Mapping[str, str]) -> list[str]:
        """Show each problem, by its key, beside its field. Returns all, named by their fields."""
        faults = self._at_requests(faults)
        by_line: dict[Line, list[tuple[str, str]]] = {line: [] for line in self.lines.values()}
        named: dict[str, QWidget | None] = {}
        for key, sentence in faults.items():
            line = self.lines.get(key) or self.lines.get(key.partition(".")[0])
            field = self.inputs.get(key)
            name = line.word.text() if line is not None else ""
            if field is not None and field.isVisibleTo(line):
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
        wrong = {self.inputs[key] for key in faults if key in self.inputs}
        for field in {*self.inputs.values()}:
            retone(field, "bad" if field in wrong else "")
        faulty = {line for line, problems in by_line.items() if problems}
        if any(self._advanced.isAncestorOf(line) for line in faulty):
            self.open_advanced()
        seen = [line for line in faulty if not self._advanced.isAncestorOf(line)]
        self.listed = {} if (len(named) == 1 and seen) or "" in faults else named
        return list(named)

    def _at_requests(self, faults: Mapping[str, str]) -> dict[str, str]:
        """Move the problems of a request's keys to the list of requests, where that is shown."""
        if self.lines["workload.requests"].isHidden():
            return dict(faults)
        moved: dict[str, str] = {}
        for key, sentence in faults.items():
            last = key.removeprefix("workload.")
            place = "workload.requests" if key != last and last in OF_ONE else key
            named = sentence if place == key else f"{TITLES[last]}: {continued(sentence)}"
            moved[place] = f"{moved[place]} {named}" if place in moved else named
        return moved

    def show_plan(self, plan: Plan | None) -> None:
        """Show the rates that the fields yield; None: the plan is invalid."""
        self.lines["rates"].explain(values.span(plan) if plan else "")
        if plan:
            self.origin.show_plan(plan)
            for key, text in plan.declared.found(plan.workload).items():
                self.lines[f"workload.{key}"].explain(text)

    def set_resources(self, found: PlanResources, kept: dict[str, Any]) -> None:
        """Offer servers and machines; `kept`: the settings with what is known of the latter."""
        self.servers.set_entries(found.entries)
        known = {machine.name: Records(kept).get(machine.name) for machine in found.machines}
        self.machines.set_machines(found.machines, known, found.damaged, found.tunings)

    def open_advanced(self, *, opened: bool = True) -> None:
        """Unfold the fields that few people change, or fold them."""
        self._advanced.setVisible(opened)
        set_icon(self._toggle, "chevron-down" if opened else "chevron-right")

    # Widgets

    def _section(self, title: str) -> None:
        fill(self._inside, 8, hair(), 6, label(title, 14, Weight.DemiBold))

    def _make_advanced(self) -> None:
        self._toggle = button("Advanced", "chevron-right", kind="ghost")
        self._toggle.clicked.connect(lambda: self.open_advanced(opened=self._advanced.isHidden()))
        self._toggle.setStyleSheet("QPushButton { padding-left: 0; }")
        self._inside.addLayout(beside(self._toggle, None))
        self._advanced = QWidget()
        self._advanced.hide()
        self._add_rows(ADVANCED, column(self._advanced, gap=6))
        self._inside.addWidget(self._advanced)

    def _add_rows(self, rows: Iterable[Row], to: QVBoxLayout) -> None:
        for each in rows:
            parts = [self._make(part, each.name) for part in each.parts]
            line = Line(each.name, *parts, stretch=not each.wide)
            line.explain(each.hint)
            self._shown.append((line, each.shown))
            for cell in each.cells:
                self.lines |= dict.fromkeys((cell.key, *cell.also), line)
                if cell.key.endswith(".on"):
                    self.lines[cell.key.removesuffix(".on")] = line
            to.addWidget(line)

    def _make(self, part: Cell | Group | str, name: str) -> QWidget | str:
        if isinstance(part, str):
            return part
        if isinstance(part, Cell):
            made = part.kind(part.name or name, *part.given)
            made.edited.connect(self._on_edited)  # type: ignore[attr-defined]
            self._fields[part.key] = made
            self.inputs |= dict.fromkeys((part.key, *part.also), made)
        else:
            inner = (self._make(each, name) for each in part.parts)
            words = (label(e, 12, tone="muted") if isinstance(e, str) else e for e in inner)
            made = QWidget()
            row(made, *words, None, gap=6)
        self._shown.append((made, part.shown))
        return made

    # Values

    def _values(self) -> dict[str, Any]:
        return self._unseen | {key: field.value() for key, field in self._fields.items()}

    def _set(self, found: Mapping[str, Any]) -> None:
        for key, value in found.items():
            if key in self._fields:
                self._fields[key].set_value(value)
            else:
                self._unseen[key] = value

    def _on_edited(self) -> None:
        self._fit()
        self.edited.emit()

    def _fit(self) -> None:
        """Show only the fields that apply."""
        implied = values.adapted(self._values(), self._rates_as)
        self._rates_as = implied["rates.as"]
        self._set(implied)
        now = self._values()
        for widget, applies in self._shown:
            widget.setVisible(applies(now))
        for group, (defaults, _) in values.SWITCHED.items():
            for key in defaults:
                self._fields[f"{group}.{key}"].setEnabled(now[f"{group}.on"])
        protocol = now["workload.protocol"]
        declared = declaration(protocol)
        # One that closes after each reply fits, too, where clients then connect again.
        again = now.get("workload.on_close") == "reconnect"
        self.servers.set_protocol("http/1.0" if again else protocol)
        self.lines["load_model"].explain(now["load_model"].help)
        concurrent = declared.concurrent.capitalize() or "Concurrency"
        self.lines["rates"].word.setText(concurrent if values.closed(now) else "Offered rate")
        one = "requests" not in declared.options.__struct_fields__
        only = f"Over {declared.label} only the first is sent." if one else ""
        several = len(now["workload.requests"]) > 1
        self.lines["workload.requests"].explain(only if several else "")
        axes, known = self.inputs["vary.key"], {axis.key for axis in declared.axes}
        for place in range(axes.count()):
            key = axes.itemData(place)
            axes.view().setRowHidden(place, bool(key) and key not in known)
