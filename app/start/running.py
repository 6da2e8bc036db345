"""Asks for a server that is running already, or for requests to one that a user has."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.dialogs import Dialog, ask_file
from app.fields import Line, Options, TextField
from app.planning.inputs import TextLines
from app.theme import Weight
from app.widgets import Inline, beside, button, column, label, reading, tool
from workbench.bringing import curl
from workbench.bringing.gathering import Gathering, is_here, plan_of, sentences
from workbench.bringing.reading import gather, read_file
from workbench.errors import BadInput
from workbench.formatting import listed, number_of
from workbench.machines.secrets import keep
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers.address import parse

_EXAMPLE = "http://127.0.0.1:8000/items?page=2"
_ABOUT = (
    "Its address, a curl command (from a browser: Copy as cURL), or a file of requests. It is"
    " measured where it is: nothing is deployed, restarted or confined. Load only what is yours;"
    " any other host than this computer is asked about first."
)
_KINDS = "HAR, Postman and OpenAPI files (*.har *.json *.yaml *.yml *.txt)"
_MOST_NAMED = 20
_LEFT_PX = 112


class Pasted(TextLines):
    """Enter is left to the dialog, unless a command goes on."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enters = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enters and not self.toPlainText().rstrip().endswith(("\\", "^")):
            event.ignore()
        else:
            super().keyPressEvent(event)


class RunningDialog(Dialog):
    """Has the plan of a running server run, or shown on the Plan page."""

    def __init__(self, parent: QWidget, desk: Desk) -> None:
        super().__init__(parent)
        self._desk = desk
        self._gathered: Gathering | None = None
        self._name = ""
        self.setWindowTitle("Measure a running server")
        self.setMinimumWidth(560)
        self.address = Pasted("Address or curl command")
        self.address.setPlaceholderText(_EXAMPLE)
        self.address.edited.connect(self._on_edited)
        file = tool("Open a file of requests", "folder-open", self._ask_file)
        self.error, self._found = Inline(), QWidget()
        self._count = label("", tone="soft", wrap=True)
        self.host = Options("Requests to", [])
        """The server that requests went to; None: not chosen."""
        self.host.edited.connect(self._fit)
        self.server = TextField("Send them to")
        self.server.setPlaceholderText("the same server")
        self.server.edited.connect(self._fit)
        self.left = reading("What is not taken over")
        self.left.setFixedHeight(_LEFT_PX)
        lines = Line("Requests to", self.host), Line("Send them to", self.server, stretch=False)
        column(self._found, self._count, *lines, self.left, gap=6)
        self.edit = button("Edit the plan", "list-checks")
        self.edit.clicked.connect(lambda: self._pass_on(desk.plan_requested.emit))
        self.measure = button("Measure", "play", kind="primary")
        self.measure.clicked.connect(
            lambda: self._pass_on(lambda plan: desk.run_requested.emit(plan, None))
        )
        self.measure.setDefault(True)
        cancel = button("Cancel", "x", on_click=self.reject)
        parts = (
            label("Measure a running server", 15, Weight.DemiBold),
            label(_ABOUT, tone="soft", wrap=True),
            beside((self.address, 1), file),
            self.error,
            self._found,
            beside(None, cancel, self.edit, self.measure),
        )
        column(self, *parts, margin=20, gap=12)
        self._show(None)
        self.address.setFocus()

    def _on_edited(self) -> None:
        text = self.address.value().strip()
        self._show(None)
        if curl.is_command(text):
            try:
                self._show(gather(text.encode(), name="The command"))
            except BadInput as error:
                self.error.show_text(str(error))

    def _ask_file(self) -> None:
        ask_file(self, "Open a file of requests", self.read, kind=_KINDS)

    def read(self, path: Path) -> None:

        def done(gathered: Gathering) -> None:
            if self.address.value() == str(path):
                self._show(gathered, path.stem)

        self.address.set_value(str(path))
        self._show(None)
        self._desk.bridge.do(partial(read_file, path), done, self.error.show_text)

    def _show(self, gathered: Gathering | None, name: str = "Pasted requests") -> None:
        """Show the requests that were found; None: an address is given, or nothing yet."""
        self._gathered, self._name = gathered, name
        self.error.show_text("")
        self._found.setVisible(gathered is not None)
        origins = gathered.origins if gathered else {}
        servers = [(origin, _counted(origin, count)) for origin, count in origins.items()]
        first = next(filter(is_here, origins), None)
        self.host.offer([(None, "choose a server"), *servers], first)
        self._count.setText(f"{number_of(sum(origins.values()), 'requests')} found.")
        if gathered:
            secrets = f"Kept as secrets: {', '.join(gathered.secrets)}." if gathered.secrets else ""
            out = [f"Left out: {each}" for each in sentences(gathered, _MOST_NAMED)]
            self.left.setPlainText("\n".join(filter(None, [secrets, *out])))
        self._fit()
        if self.isVisible():
            QTimer.singleShot(0, self, self.adjustSize)

    def _fit(self) -> None:
        text = self.address.value().strip()
        origin = self.host.value()
        named = bool(origin or (origin is not None and self.server.text().strip()))
        requests = curl.is_command(text) or self._gathered is not None
        for each in (self.edit, self.measure):
            each.setEnabled(named if requests else bool(text))

    def _pass_on(self, take: Callable[[Plan], object]) -> None:
        address, gathered, origin = self.address.value().strip(), self._gathered, self.host.value()
        server = self.server.text().strip()
        try:
            if gathered is not None and origin is not None:
                plan = plan_of(gathered, origin, [server] if server else [], name=self._name)
            else:
                parse(address)
                plan = load_plan(address)
        except BadInput as error:
            self.error.show_text(str(error))
            return
        self.accept()
        if gathered is None:
            take(plan)
            return
        names = plan.declared.secrets(plan.workload)
        known = {name: gathered.secrets[name] for name in names if gathered.secrets[name]}
        self._desk.bridge.do(partial(keep, known), partial(self._on_kept, plan, take))

    def _on_kept(self, plan: Plan, take: Callable[[Plan], object], lost: list[str]) -> None:
        take(plan)
        if lost:
            until = "There is no keyring here, so they are known until Pongbench is closed"
            self._desk.notice.emit(f"{until}: {listed(lost)}.", "warn")


def _counted(origin: str, count: int) -> str:
    where = "" if is_here(origin) else ", not this computer"
    return f"{origin or 'a server that is not named'} ({count:,}{where})"
