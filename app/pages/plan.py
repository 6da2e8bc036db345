"""The Plan page: a plan is written, checked and previewed before it runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.context import Desk
from app.dialogs import ask_file, ask_text
from app.history import History, UndoBar
from app.planning import resources
from app.planning.drafting import Drafting, Edits, Shipped, State
from app.planning.form import PlanForm
from app.planning.gallery import Gallery
from app.planning.preview import Outlook
from app.planning.request_dialog import RequestDialog
from app.planning.resources import PlanResources
from app.scrolling import Scrolled, lay, stacked, widen
from app.start.running import RunningDialog
from app.widgets import (
    GAP,
    PAGE_MARGIN,
    Inline,
    TopBar,
    beside,
    button,
    column,
    fill,
    frame,
    give_reason,
)
from workbench.formatting import number_of
from workbench.plan.editing import Draft, plan_data
from workbench.plan.library import Preset, to_yaml
from workbench.plan.model import Plan
from workbench.servers.address import is_address

_FIRST = "demo"
_NAMELESS = "Untitled"
_BUSY = "A run is in progress. This plan can start when it is over."
_NARROW, _WIDE, _WIDEST = 1_080, 1_500, 2_400
_LEAST, _MOST, _SHARE = 462, 700, 0.34
"""Of the form's width; on larger screens this share of the page."""
_PART_PX, _FORM_PX, _STACKED_PX = 420, 320, 844
"""The least heights of what stands one below another in a narrow page, and of this."""


class Head(TopBar):
    """The plan's name, and whether it can run. The page connects its buttons."""

    def __init__(self) -> None:
        super().__init__("Plan")
        self.drawer = button("Presets", "list-checks")
        self.drawer.setCheckable(True)
        self.save = button("Save", "save")
        self.save_as = button("Save as…", "save")
        self.save_as.setEnabled(False)  # no draft yet
        self.run = button("Run", "play", kind="primary")
        self.run.setMinimumWidth(96)
        fill(self.actions, self.drawer, self.save, self.save_as, self.run)

    def name(self, title: str, *, changed: bool, own: bool) -> None:
        """`changed`: differs from its preset; `own`: can be saved over it."""
        odd = " (changed)" if changed else ""
        self.show_text("Plan", f"{title or 'Untitled plan'}{odd} · saved automatically")
        self.save.setVisible(changed and own)

    def judge(self, draft: Draft | None, *, busy: bool, fault: str = "") -> None:
        """`fault`: a problem outside the plan."""
        sound = draft is not None and draft.sound and not fault
        whole = draft is not None and draft.plan is not None
        self.run.setEnabled(sound and not busy)
        self.save.setEnabled(whole)
        self.save_as.setEnabled(whole)
        faults = [*(draft.faults.values() if draft else ()), *([fault] if fault else [])]
        why = _BUSY if busy else " ".join(faults)
        give_reason(self.run, why, "Ctrl+R")
        if busy:
            self.chip.show_text("Run in progress", "soft")
        elif faults:
            self.chip.show_text(number_of(len(faults), "problems"), "bad")
        elif draft and draft.warnings:
            self.chip.show_text(number_of(len(draft.warnings), "warnings"), "warn")
        else:
            self.chip.show_text("Ready to run" if draft else "", "ok")


class PlanPage(QWidget):
    """`edit` shows a plan; the form's content is kept between starts."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(focusPolicy=Qt.FocusPolicy.ClickFocus)
        self._desk = desk
        self._named: list[str] = []
        self._names: dict[str, str] = {}
        self._run_then = False
        """Run what is shown as soon as it is checked."""
        self._reading = 0
        self.notice, self._refused = Inline(), Inline()
        self.history = History(desk.bridge, self)
        self.history.failed.connect(self.notice.show_text)
        self.gallery = self._make_gallery()
        self.form = self._make_form()
        self._shipped = Shipped(self.form.name, self.form.description)
        self.outlook = Outlook()
        self.outlook.copy.clicked.connect(self._copy)
        body, columns, undo = QWidget(), self._make_columns(), UndoBar(self.history)
        column(self, self._make_head(), (body, 1))
        # Messages are below the form, which therefore stays where it is.
        parts = (columns, 1), self._refused, self.notice, undo
        column(body, *parts, margin=PAGE_MARGIN, gap=GAP)
        self._drafting = Drafting(desk.bridge, self.form, self)
        self._drafting.examined.connect(self._on_draft)
        self._drafting.failed.connect(self._on_failed)
        desk.busy_changed.connect(lambda _: self._fit_run())
        desk.servers_changed.connect(self.load)
        desk.machines_changed.connect(self.load)
        self._edits = Edits(desk, self.form, self.history, self._show_state)
        self.load()

    @property
    def reading(self) -> bool:
        """Whether a file is being read: its plan will be shown."""
        return self._reading > 0

    @property
    def draft(self) -> Draft | None:
        """Return the draft in the form; None: not yet, or another plan is being read."""
        return None if self.reading else self._drafting.draft

    def edit(self, plan: Plan) -> None:
        self._show(plan_data(plan), "")

    def read(self, path: Path) -> None:
        """Read a file and show its plan; a session is opened instead."""

        def done(plan: Plan | None) -> None:
            self._reading -= 1
            run, self._run_then = self._run_then, False
            if plan is None:
                self._desk.open_requested.emit(path)
                return
            self.edit(plan)
            self._desk.page_requested.emit("Plan")
            if run:
                self.run_this()

        def failed(sentence: str) -> None:
            self._reading -= 1
            self._run_then = False
            if self.isVisible():
                self.notice.show_text(sentence)
            else:
                self._desk.notice.emit(sentence, "bad")

        self._reading += 1
        self._desk.bridge.do(partial(resources.read_plan, path), done, failed)

    def load(self) -> None:
        self._desk.bridge.submit(resources.load(), self._on_resources, self.notice.show_text)

    def run_this(self) -> None:
        """Request the run, if the plan is valid; recent changes are checked first."""
        draft = self.draft
        if draft is None:
            self._run_then = True
            self._drafting.now()
        elif self.head.run.isEnabled():
            plan = draft.plan
            if plan is not None and not plan.name:
                plan = structs.replace(plan, name=_NAMELESS)
            self._desk.run_requested.emit(plan, self.form.machines.where)
        elif not self._desk.busy:
            why = [*self._named, self.form.machines.fault]
            self._refused.show_text(f"Cannot run yet. {' '.join(why)}".strip())

    def search(self) -> None:
        """Focus the search of the servers."""
        if self.form.servers.picker.isHidden():
            self.form.servers.open_or_close()
        self.form.servers.picker.search.setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    # Widgets

    def _make_head(self) -> Head:
        self.head = Head()
        self.head.drawer.clicked.connect(self._fit)
        self.head.save.clicked.connect(self._save_over)
        self.head.save_as.clicked.connect(self._ask_name)
        self.head.run.clicked.connect(self.run_this)
        return self.head

    def _make_columns(self) -> QBoxLayout:
        self._card, scroll = frame(), Scrolled(self.form)
        self._card.setMinimumWidth(_LEAST)
        column(self._card, scroll, margin=1)
        self.form.servers.opened.connect(scroll.ensureWidgetVisible)
        self._columns = beside(self.gallery, (self._card, 5), (self.outlook, 4), gap=GAP)
        return self._columns

    def _make_gallery(self) -> Gallery:
        made = Gallery(self._desk.bridge, self.history)
        made.changed.connect(self._on_presets)
        made.taken.connect(self.take)
        made.kept.connect(self._on_kept)
        made.last.clicked.connect(self._ask_file)
        made.bring.clicked.connect(lambda: RunningDialog(self.window(), self._desk).open())
        return made

    def _make_form(self) -> PlanForm:
        made = PlanForm()
        made.edited.connect(self._on_edited)
        made.machines.edited.connect(self._on_edited)
        made.inputs["workload.requests"].wanted.connect(self._edit_request)
        made.machines.damaged.pressed.connect(lambda: self._desk.page_requested.emit("Machines"))
        return made

    def _fit(self) -> None:
        """In a narrow page the presets are a drawer over the preview. In a narrower one they are
        above the form, and the preview is below it.
        """
        width, below = self.width(), stacked(self.width())
        narrow, drawn = width < _NARROW, self.head.drawer.isChecked()
        self.head.drawer.setVisible(narrow)
        self.gallery.setVisible(not narrow or drawn)
        self.outlook.setVisible(not (narrow and drawn))
        lay(self._columns, below=below)
        widen(self.gallery, 400 if width > _WIDEST else 288 if width > _WIDE else 264, below=below)
        self._card.setMaximumWidth(max(_MOST, int(_SHARE * width)))
        for part, high in (
            (self.gallery, _PART_PX),
            (self._card, _FORM_PX),
            (self.outlook, _PART_PX),
            (self, _STACKED_PX),
        ):
            part.setMinimumHeight(high if below else 0)

    # The form

    def take(self, preset: Preset) -> None:
        self.head.drawer.setChecked(False)
        self._fit()
        self._show(plan_data(preset.plan), preset.id)  # type: ignore[arg-type]

    def _show(self, data: dict[str, Any], base: str) -> None:
        """Show another plan; changes of the previous one can be restored."""
        self._run_then = False
        name = self.form.data().get("name") or "your plan"
        said = f"Your changes to {name} were replaced." if self._edits.changed else ""
        self._fill(data, base)
        self._edits.remember(said)

    def _show_state(self, state: State) -> None:
        """Show an earlier state of the form, or a later one."""
        self._run_then = False
        base, origin, data, machines = state
        self.form.machines.set_value(machines)
        self._fill(data, base, self._preset_data(base) or origin)

    def _preset_data(self, id: str) -> dict[str, Any] | None:
        """Return the data of a preset; None: there is none, or it cannot be read."""
        preset = self.gallery.list.preset(id)
        return plan_data(preset.plan) if preset is not None and preset.plan is not None else None

    def _on_presets(self) -> None:
        """Handle presets that were deleted, restored or changed."""
        base = self._edits.preset
        if origin := self._preset_data(base):
            self._fill(self.form.data(), base, origin)
            self._edits.settle()

    def _fill(self, data: dict[str, Any], base: str, origin: dict[str, Any] | None = None) -> None:
        self.form.fill(origin or data)
        self._edits.begin(base)
        if origin is not None:
            self.form.fill(data)
        self.gallery.mark(base)
        self._refused.show_text("")
        self.notice.show_text("")
        self._changed()
        self._drafting.now()

    def _on_edited(self) -> None:
        self._run_then = self._run_then and self._edits.following
        self._refused.show_text("")
        self._changed()
        self._edits.remember()
        self._drafting.start()

    def _changed(self) -> None:
        self._drafting.current = False
        self._edits.keep()
        self.head.name(
            self.form.name.text().strip(),
            changed=self._edits.changed,
            own=self.gallery.own is not None,
        )

    # The draft

    def _on_resources(self, found: PlanResources) -> None:
        first, self._drafting.resources = self._drafting.resources is None, found
        self._desk.resources_read.emit(found)
        self.gallery.list.takes = found.takes
        self.gallery.show_presets(found.presets)
        self.form.set_resources(found, self._desk.settings.more)
        self._names = {entry.id: entry.name for entry in found.entries}
        damaged = resources.summed_up([*found.damaged.values()], "machines")
        self.form.machines.damaged.show_text(damaged, "warn")
        kept = self._edits
        if first and not self.form.servers.value() and not kept.preset:
            if demo := self._preset_data(_FIRST):
                self._fill(demo, _FIRST)
        elif not kept.origin and (origin := self._preset_data(kept.preset)):
            self._fill(self.form.data(), kept.preset, origin)
        if found.broken:
            of = "servers or sets of kernel settings"
            self.notice.show_text(resources.summed_up(found.broken, of), "warn")
        self._changed()
        self._edits.settle()
        self._drafting.now()

    def _on_failed(self, sentence: str) -> None:
        self._run_then = False
        self.notice.show_text(sentence)

    def _on_draft(self, draft: Draft) -> None:
        if (plan := draft.plan) is not None:
            presets = self.gallery.list.presets
            self._edits.follow(lambda: self._shipped.fit(plan, presets, self._names))
        self._named = self.form.show_faults(draft.faults)
        if "" in draft.faults:
            self.notice.show_text(draft.faults[""])
        self.form.show_plan(plan)
        self.outlook.show_draft(draft, self.form.listed)
        self._fit_run()
        if self._run_then and self.draft is not None:
            self._run_then = False
            self.run_this()

    def _fit_run(self) -> None:
        busy = self._desk.busy
        self.head.judge(self._drafting.latest, busy=busy, fault=self.form.machines.fault)
        if busy or self.notice.text == _BUSY:
            self.notice.show_text(_BUSY if busy else "", "soft")

    def _edit_request(self, place: int) -> None:
        requests, data = self.form.inputs["workload.requests"], self.form.data()
        running = data.get("running", {})
        dialog = RequestDialog(
            self.window(),
            self._desk.bridge,
            requests.value()[place],
            protocol=data["workload"]["protocol"],
            servers=[server for server in data["servers"] if is_address(server)],
            insecure=lambda address: running.get(address, {}).get("insecure", False),
        )
        dialog.accepted.connect(lambda: requests.put(place, dialog.value()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # Files

    def _ask_file(self) -> None:
        kind = "Plans and sessions (*.yaml *.yml)"
        ask_file(self, "Open a plan file", self.read, kind=kind)

    def _plan(self) -> Plan | None:
        """Return the plan examined last."""
        return self._drafting.latest.plan if self._drafting.latest is not None else None

    def _copy(self) -> None:
        if (plan := self._plan()) is not None:
            QGuiApplication.clipboard().setText(to_yaml(plan))
            said = "Copied. As a file it is run by pongbench run, or dropped into this window."
            self.notice.show_text(said, "ok")

    def _ask_name(self) -> None:
        if (plan := self._plan()) is not None:
            save = partial(self.gallery.save, plan)
            ask_text(self, "Save as", "Name of the plan:", plan.name, save)

    def _save_over(self) -> None:
        own, plan = self.gallery.own, self._plan()
        if own is not None and plan is not None:
            self.gallery.save(plan, plan.name or own.name, over=own.id)

    def _on_kept(self, preset: Preset) -> None:
        self.form.name.set_value(preset.name)
        self._edits.begin(preset.id)
        self._edits.settle()
        self._changed()
        self._drafting.now()
