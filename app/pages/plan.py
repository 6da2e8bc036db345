"""The Plan page: a plan is written, checked and previewed before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.history import History, UndoBar
from app.planning import resources
from app.planning.columns import Columns
from app.planning.cut_message import CutMessage
from app.planning.draft_history import DraftHistory, State
from app.planning.drafting import Drafting
from app.planning.form import PlanForm
from app.planning.gallery import Gallery
from app.planning.head import BUSY, Head
from app.planning.kept_plan import KeptPlan
from app.planning.machines import TuningPreview
from app.planning.note import Note
from app.planning.plan_files import PlanFiles
from app.planning.preview_panel import Outlook
from app.planning.resources import PlanResources
from app.stacking import stacked
from app.widgets import GAP, PAGE_MARGIN, Inline, column
from workbench.plan.editing import Draft, plan_data

if TYPE_CHECKING:
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan

_FIRST = "demo"
_NAMELESS = "Untitled"
_STACKED_PX = 844
"""The height of a narrow page, where the preview is below the form."""


class PlanPage(QWidget):
    """`edit` shows a plan; the form's content is kept between starts."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._named: list[str] = []
        self._run_then = False
        """Run what is shown as soon as it is checked."""
        self._note = Note()
        self._files = self._make_files()
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        outer = column(self)
        outer.addWidget(self._make_head())
        body = QWidget()
        outer.addWidget(body, 1)
        around = column(body, margin=PAGE_MARGIN, gap=GAP)
        self.notice = Inline()
        self._refused = Inline()
        self.history = History(desk.bridge, self)
        self.history.failed.connect(self.notice.show_text)
        self.gallery = self._make_gallery()
        self.form = self._make_form()
        self._tuning = TuningPreview(desk, self.form.machines, self)
        self.outlook = Outlook()
        self._cut = CutMessage()
        self._columns = Columns(self.gallery, self.form, self._cut, self.outlook)
        self.outlook.switched.connect(self._show_cut)
        self.form.servers.opened.connect(self._columns.show_whole)
        around.addLayout(self._columns, 1)
        # Below the form, which therefore stays where it is.
        for widget in (self._refused, self.notice):
            around.addWidget(widget)
        around.addWidget(UndoBar(self.history))
        self._drafting = Drafting(desk.bridge, self.form, self)
        self._drafting.examined.connect(self._on_draft)
        self._drafting.failed.connect(self._on_failed)
        desk.busy_changed.connect(lambda _: self._fit_run())
        desk.servers_changed.connect(self.load)
        desk.machines_changed.connect(self.load)
        self._kept = KeptPlan(desk, self.form)
        self._kept.restore()
        self._edits = DraftHistory(self.history, self.form, self._state, self._show_state)
        self.load()

    @property
    def reading(self) -> bool:
        """Whether a file is being read: its plan will be shown."""
        return self._files.reading

    @property
    def draft(self) -> Draft | None:
        """Return the draft in the form; None: not yet, or another plan is being read."""
        return None if self._files.reading else self._drafting.draft

    def edit(self, plan: Plan) -> None:
        """Show a plan in the form."""
        self._show(plan_data(plan), "")

    def read(self, path: Path) -> None:
        """Read a file and show its plan; a session is opened instead."""
        self._files.read(path)

    def load(self) -> None:
        """Read the resources for planning."""
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
            where = self.form.machines.where
            if where is None:
                self._desk.run_requested.emit(plan)
            else:
                self._desk.run_on_requested.emit(plan, where)
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

    def _make_files(self) -> PlanFiles:
        made = PlanFiles(self._desk.bridge, self)
        made.plan_read.connect(self._on_read)
        made.session_found.connect(self._on_session)
        made.failed.connect(self._on_unreadable)
        return made

    def _make_gallery(self) -> Gallery:
        made = Gallery(self._desk.bridge, self.history)
        made.changed.connect(self._on_presets)
        made.taken.connect(self.take)
        made.kept.connect(self._on_kept)
        made.import_requested.connect(self._files.ask)
        return made

    def _make_form(self) -> PlanForm:
        made = PlanForm()
        made.servers.before = self.gallery.last
        made.edited.connect(self._on_edited)
        made.machines.edited.connect(self._on_edited)
        made.machines.damaged.pressed.connect(lambda: self._desk.page_requested.emit("Machines"))
        return made

    def _fit(self) -> None:
        narrow = self._columns.fit(self.width(), drawn=self.head.drawer.isChecked())
        self.head.drawer.setVisible(narrow)
        self.setMinimumHeight(_STACKED_PX if stacked(self.width()) else 0)
        self.form.servers.picker.fit(self.height())
        self._show_cut()

    def _show_cut(self) -> None:
        beside = self.outlook.isVisibleTo(self) and not stacked(self.width())
        self._cut.display(listed=beside and self.outlook.shows_preview)

    # The form

    def take(self, preset: Preset) -> None:
        """Show a preset in the form."""
        self.head.drawer.setChecked(False)
        self._fit()
        self._show(plan_data(preset.plan), preset.id)  # type: ignore[arg-type]

    def _show(self, data: dict[str, Any], base: str) -> None:
        """Show another plan; changes of the previous one can be restored."""
        self._run_then = False
        name = self.form.data().get("name") or "your plan"
        said = f"Your changes to {name} were replaced." if self._kept.changed else ""
        self._fill(data, base)
        self._edits.remember(said)

    def _state(self) -> State:
        kept = self._kept
        return kept.preset, kept.origin, self.form.data(), self.form.machines.value()

    def _show_state(self, state: State) -> None:
        """Show an earlier state of the form, or a later one."""
        self._run_then = False
        base, origin, data, machines = state
        preset = self.gallery.list.preset(base)
        self.form.machines.set_value(machines)
        self._fill(data, base, plan_data(preset.plan) if preset and preset.plan else origin)

    def _on_presets(self) -> None:
        """Handle presets that were deleted, restored or changed."""
        preset = self.gallery.list.preset(self._kept.preset)
        if preset is not None and preset.plan is not None:
            self._fill(self.form.data(), preset.id, plan_data(preset.plan))
            self._edits.settle()

    def _fill(self, data: dict[str, Any], base: str, origin: dict[str, Any] | None = None) -> None:
        self.form.fill(origin or data)
        self._kept.begin(base)
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
        self._drafting.soon()

    def _changed(self) -> None:
        self._drafting.outdate()
        self._kept.keep()
        self.head.name(
            self.form.name.text().strip(),
            changed=self._kept.changed,
            own=self.gallery.own is not None,
        )

    # The draft

    def _on_resources(self, found: PlanResources) -> None:
        first, self._drafting.resources = self._drafting.resources is None, found
        self._desk.resources_read.emit(found)
        self.gallery.show_presets(found.presets)
        self.form.set_resources(found, self._desk.settings.more)
        self.outlook.set_names({entry.id: entry.name for entry in found.entries})
        self.form.machines.damaged.show_text(found.machines_remark, "warn")
        kept = self._kept
        preset = self.gallery.list.preset(kept.preset)
        if first and not self.form.servers.value() and not kept.preset:
            preset = self.gallery.list.preset(_FIRST)
            if preset is not None and preset.plan is not None:
                self._fill(plan_data(preset.plan), _FIRST)
        elif preset is not None and preset.plan is not None and not kept.origin:
            self._fill(self.form.data(), preset.id, plan_data(preset.plan))
        if found.broken:
            self.notice.show_text(found.remark, "warn")
        self._changed()
        self._edits.settle()
        self._drafting.now()

    def _on_failed(self, sentence: str) -> None:
        self._run_then = False
        self.notice.show_text(sentence)

    def _on_draft(self, draft: Draft) -> None:
        if (plan := draft.plan) is not None:
            presets = self.gallery.list.presets
            self._edits.follow(lambda: self._note.fit(self.form.description, plan, presets))
        self._named = self.form.show_faults(draft.faults)
        if "" in draft.faults:
            self.notice.show_text(draft.faults[""])
        self.form.show_plan(plan)
        self.outlook.show_draft(draft, self.form.listed)
        self._show_cut()
        if plan is None:
            self.outlook.show_text("")
        else:
            self._desk.bridge.submit(resources.to_yaml(plan), self.outlook.show_text)
        self._fit_run()
        if self._run_then and self.draft is not None:
            self._run_then = False
            self.run_this()

    def _fit_run(self) -> None:
        busy = self._desk.busy
        self.head.judge(self._drafting.latest, busy=busy, fault=self.form.machines.fault)
        if busy or self.notice.text == BUSY:
            self.notice.show_text(BUSY if busy else "", "soft")

    # Files

    def _on_read(self, plan: Plan) -> None:
        run = self._run_then
        self.edit(plan)
        self._desk.page_requested.emit("Plan")
        if run:
            self.run_this()

    def _on_unreadable(self, sentence: str) -> None:
        if self.isVisible():
            self._on_failed(sentence)
        else:
            self._run_then = False
            self._desk.notice.emit(sentence, "bad")

    def _on_session(self, path: Path) -> None:
        self._run_then = False
        self._desk.open_requested.emit(path)

    def _plan(self) -> Plan | None:
        """Return the plan examined last."""
        return self._drafting.latest.plan if self._drafting.latest is not None else None

    def _ask_name(self) -> None:
        if (plan := self._plan()) is not None:
            self.gallery.ask_name(plan)

    def _save_over(self) -> None:
        own, plan = self.gallery.own, self._plan()
        if own is not None and plan is not None:
            self.gallery.save(plan, plan.name or own.name, over=own.id)

    def _on_kept(self, preset: Preset) -> None:
        self.form.name.set_value(preset.name)
        self._kept.begin(preset.id)
        self._edits.settle()
        self._changed()
        self._drafting.now()
