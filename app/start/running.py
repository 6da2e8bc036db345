"""Asks for the address of a server that is running already."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from app.dialogs import Dialog
from app.fields import TextField
from app.theme import Weight
from app.widgets import Inline, button, column, label, row
from workbench.errors import BadInput
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers.address import parse

_EXAMPLE = "http://127.0.0.1:8000/items?page=2"
_ABOUT = (
    "It is measured where it is: nothing is deployed, restarted or confined. Load only what is"
    " yours; any other host than this computer is asked about first."
)


class RunningDialog(Dialog):
    """Passes the plan of a running server to `run`, or to `edit`."""

    def __init__(
        self, parent: QWidget, run: Callable[[Plan], object], edit: Callable[[Plan], object]
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Measure a running server")
        self.setMinimumWidth(480)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label("Measure a running server", 15, Weight.DemiBold))
        inside.addWidget(label(_ABOUT, tone="soft", wrap=True))
        self.address = TextField("Address")
        self.address.setPlaceholderText(_EXAMPLE)
        self.address.edited.connect(self._fit)
        inside.addWidget(self.address)
        self.error = Inline()
        inside.addWidget(self.error)
        self.edit = button("Edit the plan", "list-checks", on_click=lambda: self._pass_on(edit))
        self.measure = button(
            "Measure", "play", kind="primary", on_click=lambda: self._pass_on(run)
        )
        foot = row()
        foot.addStretch(1)
        foot.addWidget(button("Cancel", "x", on_click=self.reject))
        foot.addWidget(self.edit)
        foot.addWidget(self.measure)
        self.measure.setDefault(True)
        inside.addLayout(foot)
        self._fit()
        self.address.setFocus()

    def _fit(self) -> None:
        self.error.show_text("")
        for each in (self.edit, self.measure):
            each.setEnabled(bool(self.address.text().strip()))

    def _pass_on(self, take: Callable[[Plan], object]) -> None:
        address = self.address.text().strip()
        try:
            parse(address)
            plan = load_plan(address)
        except BadInput as error:
            self.error.show_text(str(error))
            return
        self.accept()
        take(plan)
