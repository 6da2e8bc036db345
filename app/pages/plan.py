"""The Plan page: a plan is written, checked and previewed before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QWidget

from app.context import Desk
from app.history import History, UndoBar
from app.machines.prompts import Asker
from app.machines.records import Records
from app.planning import resources
from app.planning.draft_history import DraftHistory, State
from app.planning.form import PlanForm
from app.planning.gallery import Gallery
from app.planning.head import BUSY, Head
from app.planning.note import Note
from app.planning.plan_files import PlanFiles
from app.planning.preview_panel import Outlook
from app.planning.resources import PlanResources
from app.scrolling import Scrolled
from app.widgets import GAP, PAGE_MARGIN, Inline, column, frame, row
from workbench.plan.editing import Draft, plan_data

if TYPE_CHECKING:
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan
    from workbench.run.tuning import TuningPlan

_EXAMINE_AFTER_MS = 150
_NARROW = 1_080
_FIRST = "demo"
_NAMELESS = "Untitled"


class PlanPage(QWidget):
    """`edit` shows a plan; the form's content is kept between starts."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._asker = Asker(desk.bridge, self)
        self._resources: PlanResources | None = None
        self._draft: Draft | None = None
        self._request = 0
        self._named: list[str] = []
        self._current = False
        self._run_then = False
        """Run what is shown as soon as it is checked."""
        self._base: tuple[str, dict[str, Any]] = ("", {})
        self._kept_changed = False
        self._note = Note()
        self._files = self._make_files()
        self.setAcceptDrops(True)
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
        self._damaged = Inline("Show machines")
        self._damaged.pressed.connect(lambda: desk.page_requested.emit("Machines"))
        across = row(gap=GAP)
        around.addLayout(across, 1)
        # Below the form, which therefore stays where it is.
        for widget in (self._refused, self.notice, self._damaged):
            around.addWidget(widget)
        around.addWidget(UndoBar(self.history))
        self.gallery = self._make_gallery()
        self.form = PlanForm()
        self.form.servers.before = self.gallery.last
        self.form.edited.connect(self._on_edited)
        self.form.machines.edited.connect(self._on_edited)
        self.form.machines.preview_requested.connect(self._preview_tuning)
        self._card = self._make_card(self.form)
        self.outlook = Outlook()
        across.addWidget(self.gallery)
        across.addWidget(self._card, 5)
        across.addWidget(self.outlook, 4)
        self._timer = QTimer(self, singleShot=True, interval=_EXAMINE_AFTER_MS)
        self._timer.timeout.connect(self._examine)
        desk.busy_changed.connect(lambda _: self._fit_run())
        desk.servers_changed.connect(self.load)
        desk.machines_changed.connect(self.load)
        self._restore()
        self._edits = DraftHistory(self.history, self.form, self._state, self._show_state)
        self.load()

    @property
    def draft(self) -> Draft | None:
        """Return the draft in the form; None: not yet, or another plan is being read."""
        return self._draft if self._current and not self._files.reading else None

    def edit(self, plan: Plan) -> None:
        """Show a plan in the form."""
        self._show(plan_data(plan), "")

    def load(self) -> None:
        """Read the resources for planning."""
        self._desk.bridge.submit(resources.load(), self._on_resources, self.notice.show_text)

    def run_this(self) -> None:
        """Request the run, if the plan is valid; recent changes are checked first."""
        draft = self.draft
        if draft is None:
            self._run_then = True
            self._examine()
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

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self._files.read(Path(event.mimeData().urls()[0].toLocalFile()))

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
        made.failed.connect(self._on_failed)
        return made

    def _make_gallery(self) -> Gallery:
        made = Gallery(self._desk.bridge, self.history)
        made.changed.connect(self._on_presets)
        made.taken.connect(self.take)
        made.kept.connect(self._on_kept)
        made.import_requested.connect(self._files.ask)
        return made

    def _make_card(self, form: QWidget) -> QFrame:
        card = frame()
        inside = column(card, margin=1)
        inside.addWidget(Scrolled(form))
        return card

    def _fit(self) -> None:
        """In a narrow window, make the presets a drawer over the preview."""
        narrow = self.width() < _NARROW
        self.head.drawer.setVisible(narrow)
        drawn = self.head.drawer.isChecked()
        self.gallery.setVisible(not narrow or drawn)
        self.outlook.setVisible(not (narrow and drawn))
        wide = self.width() > 1_500
        self.gallery.setFixedWidth(288 if wide else 264)
        self._card.setMaximumWidth(700)

    # The form

    def _restore(self) -> None:
        kept = self._desk.settings.more.get("plan")
        kept = kept if isinstance(kept, dict) else {}
        data, base = kept.get("data"), kept.get("base")
        self.form.machines.set_value(kept.get("machines"))
        if isinstance(data, dict):
            self._base = (str(base or ""), {})
            self._kept_changed = bool(kept.get("changed", True))
            self.form.fill(data)

    def _keep(self) -> None:
        """Save the form for the next start."""
        self._desk.settings.more["plan"] = {
            "base": self._base[0],
            "changed": self._is_changed(),
            "data": self.form.data(),
            "machines": self.form.machines.value(),
        }

    def _is_changed(self) -> bool:
        """Whether the plan differs from its preset, or from what was shown first."""
        return self.form.data() != self._base[1] if self._base[1] else self._kept_changed

    def take(self, preset: Preset) -> None:
        """Show a preset in the form."""
        self.head.drawer.setChecked(False)
        self._fit()
        self._show(plan_data(preset.plan), preset.id)  # type: ignore[arg-type]

    def _show(self, data: dict[str, Any], base: str) -> None:
        """Show another plan; changes of the previous one can be restored."""
        self._run_then = False
        name = self.form.data().get("name") or "your plan"
        said = f"Your changes to {name} were replaced." if self._is_changed() else ""
        self._fill(data, base)
        self._edits.remember(said)

    def _state(self) -> State:
        return (*self._base, self.form.data(), self.form.machines.value())

    def _show_state(self, state: State) -> None:
        """Show an earlier state of the form, or a later one."""
        self._run_then = False
        base, origin, data, machines = state
        preset = self.gallery.list.preset(base)
        self.form.machines.set_value(machines)
        self._fill(data, base, plan_data(preset.plan) if preset and preset.plan else origin)

    def _on_presets(self) -> None:
        """Handle presets that were deleted, restored or changed."""
        preset = self.gallery.list.preset(self._base[0])
        if preset is not None and preset.plan is not None:
            self._fill(self.form.data(), preset.id, plan_data(preset.plan))
            self._edits.settle()

    def _fill(self, data: dict[str, Any], base: str, origin: dict[str, Any] | None = None) -> None:
        self.form.fill(origin or data)
        self._base = (base, self.form.data())
        if origin is not None:
            self.form.fill(data)
        self.gallery.mark(base)
        self._refused.show_text("")
        self.notice.show_text("")
        self._changed()
        self._examine()

    def _on_edited(self) -> None:
        self._run_then = self._run_then and self._edits.following
        self._refused.show_text("")
        self._changed()
        self._edits.remember()
        self._timer.start()

    def _changed(self) -> None:
        self._current = False
        self._keep()
        self.head.name(
            self.form.name.text().strip(),
            changed=self._is_changed(),
            own=self.gallery.own is not None,
        )

    # The draft

    def _on_resources(self, found: PlanResources) -> None:
        first, self._resources = self._resources is None, found
        self._desk.resources_read.emit(found)
        self.gallery.show_presets(found.presets)
        self.form.servers.set_entries(found.entries)
        records = Records(self._desk.settings.more)
        states = {machine.name: records.get(machine.name).state for machine in found.machines}
        seen = {machine.name: records.get(machine.name).found for machine in found.machines}
        self.form.machines.set_machines(found.machines, states, seen)
        self.form.machines.set_tunings(found.tunings)
        self.outlook.set_names({entry.id: entry.name for entry in found.entries})
        self._damaged.show_text(found.machines_remark, "warn")
        preset = self.gallery.list.preset(self._base[0])
        if first and not self.form.servers.value() and not self._base[0]:
            preset = self.gallery.list.preset(_FIRST)
            if preset is not None and preset.plan is not None:
                self._fill(plan_data(preset.plan), _FIRST)
        elif preset is not None and preset.plan is not None and not self._base[1]:
            self._fill(self.form.data(), preset.id, plan_data(preset.plan))
        if found.broken:
            self.notice.show_text(found.remark, "warn")
        self._changed()
        self._edits.settle()
        self._examine()

    def _examine(self) -> None:
        self._timer.stop()
        if self._resources is None:
            return
        self._request += 1
        request, machines = self._request, self.form.machines
        clients = max(1, len(machines.value()["clients"]))
        self._desk.bridge.submit(
            self._resources.examine(
                self.form.data(),
                loopback=machines.alone,
                clients=clients,
                known=machines.facts(self._resources.facts),
                target=machines.value()["target"],
                listens_on=machines.listens_on,
            ),
            lambda draft: self._on_draft(request, draft),
            self._on_failed,
        )

    def _on_failed(self, sentence: str) -> None:
        self._run_then = False
        self.notice.show_text(sentence)

    def _on_draft(self, request: int, draft: Draft) -> None:
        if request != self._request:
            return
        if (plan := draft.plan) is not None:
            presets = self.gallery.list.presets
            self._edits.follow(lambda: self._note.fit(self.form.description, plan, presets))
        self._draft, self._current = draft, not self._timer.isActive()
        self._named = self.form.show_faults(draft.faults)
        if "" in draft.faults:
            self.notice.show_text(draft.faults[""])
        plan = draft.plan
        rates = plan.rates_per_s if plan else ()
        self.form.show_rates(rates, _order(draft), to_ceiling=bool(plan and plan.to_ceiling))
        self.outlook.show_draft(draft, self.form.unplaced)
        if draft.plan is None:
            self.outlook.show_text("")
        else:
            self._desk.bridge.submit(resources.to_yaml(draft.plan), self.outlook.show_text)
        self._fit_run()
        if self._run_then and self.draft is not None:
            self._run_then = False
            self.run_this()

    def _fit_run(self) -> None:
        busy = self._desk.busy
        self.head.judge(self._draft, busy=busy, fault=self.form.machines.fault)
        if busy or self.notice.text == BUSY:
            self.notice.show_text(BUSY if busy else "", "soft")

    def _preview_tuning(self) -> None:
        """Connect to the machines and show what tuning would change."""
        machines = self.form.machines
        where = machines.where
        if where is None or not where.tune:
            return
        machines.show_preview(
            f"Checking {', '.join(dict.fromkeys((where.target, *where.clients)))}…"
        )
        self._desk.bridge.submit(
            resources.preview_tuning(where, self._asker),
            self._on_preview,
            lambda sentence: machines.show_preview(sentence, "bad"),
        )

    def _on_preview(self, plans: list[TuningPlan]) -> None:
        from app.machines.consent import ConsentDialog  # noqa: PLC0415 - seldom needed

        self.form.machines.show_preview("")
        dialog = ConsentDialog(self.window(), plans, self._desk.theme, preview=True)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    # Files

    def _on_read(self, plan: Plan) -> None:
        run = self._run_then
        self.edit(plan)
        if run:
            self.run_this()

    def _on_session(self, path: Path) -> None:
        self._run_then = False
        self._desk.open_requested.emit(path)

    def _ask_name(self) -> None:
        if self._draft is not None and self._draft.plan is not None:
            self.gallery.ask_name(self._draft.plan)

    def _save_over(self) -> None:
        own = self.gallery.own
        if own is not None and self._draft is not None and self._draft.plan is not None:
            plan = self._draft.plan
            self.gallery.save(plan, plan.name or own.name, over=own.id)

    def _on_kept(self, preset: Preset) -> None:
        self.form.name.set_value(preset.name)
        self._base = (preset.id, self.form.data())
        self._edits.settle()
        self._changed()
        self._examine()


def _order(draft: Draft) -> str:
    plan = draft.plan
    if plan is None or not plan.servers:
        return ""
    count = len(plan.servers)
    if count == 1:
        return "1 server"
    if plan.order == "sequential":
        return f"{count} servers, one after another"
    by = f" (seed {plan.seed})" if plan.seed else ""
    return f"{count} servers, random order{by}"
