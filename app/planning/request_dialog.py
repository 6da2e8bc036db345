"""Edits a request of a plan, and sends it once to a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from PySide6.QtWidgets import QCompleter, QVBoxLayout, QWidget

from app.bridge import Bridge
from app.dialogs import Dialog
from app.fields import Figure, Line, Options, TextField
from app.planning.inputs import TextLines
from app.planning.request_list import HeaderTable
from app.planning.rows import cell_of
from app.theme import Weight
from app.widgets import Inline, button, column, label, reading, row
from workbench.config.schema_errors import complaint
from workbench.converting import convert
from workbench.formatting import capital
from workbench.servers.running import send_once
from workbench.workloads.http.requests import Request, problems
from workbench.workloads.options import fields
from workbench.workloads.registry import declaration

_TYPES = (
    "application/json",
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/xml",
)
_FIELDS = {field.key: field for field in fields(Request)}
_REPLY = ("expect_status", "expect_type", "expect_text", "expect_bytes")
_EXAMPLE = "http://127.0.0.1:8000"
_TYPE = "content-type"
_WIDE = HeaderTable, TextField, TextLines
_WIDTH_PX, _REPLY_PX = 940, 120


class RequestDialog(Dialog):
    """`value` is the request, as a plan has it; `inputs` and `lines` are by its keys."""

    def __init__(
        self,
        parent: QWidget,
        bridge: Bridge,
        request: dict[str, Any],
        *,
        protocol: str,
        servers: Sequence[str],
        insecure: Callable[[str], bool],
    ) -> None:
        """`servers`: addresses of running ones; `insecure`: of which no certificate is checked."""
        super().__init__(parent)
        self._bridge, self._protocol, self._insecure = bridge, protocol, insecure
        keys = declaration(protocol).options.__struct_fields__
        also = ("name", "weight") if "requests" in keys else ()
        self._kept = {key: value for key, value in request.items() if key not in (*keys, *also)}
        """What the protocol has no use for."""
        self.setWindowTitle("Request")
        self.setMinimumWidth(_WIDTH_PX)
        self.inputs: dict[str, Any] = {key: _input(key) for key in _FIELDS if key in (*keys, *also)}
        self.lines: dict[str, Line] = {}
        inside = column(self, margin=20, gap=12)
        beside = row(gap=24)
        beside.addWidget(self._make_request(), 5)
        beside.addWidget(self._make_reply(servers), 4)
        inside.addLayout(beside, 1)
        foot = row()
        foot.addStretch(1)
        foot.addWidget(button("Cancel", "x", on_click=self.reject))
        self.apply = button("Apply", "check", kind="primary", on_click=self.accept)
        self.apply.setDefault(True)
        foot.addWidget(self.apply)
        inside.addLayout(foot)
        for key, field in self.inputs.items():
            field.set_value(request.get(key, _FIELDS[key].default))
            field.edited.connect(self._fit)
        self._fit()
        self.inputs["path"].setFocus()

    def value(self) -> dict[str, Any]:
        found = {key: field.value() for key, field in self.inputs.items()}
        usual = {key: field.default for key, field in _FIELDS.items()}
        own = {key: value for key, value in found.items() if key == "path" or value != usual[key]}
        return self._kept | own

    def _make_request(self) -> QWidget:
        made = QWidget()
        inside = column(made, gap=2)
        inside.addWidget(label("Request", 14, Weight.DemiBold))
        self.kind = Options("Type of the body", [("", "other"), *((each, each) for each in _TYPES)])
        self.kind.edited.connect(self._set_kind)
        self._add_line(inside, "method")
        self._add_line(inside, "path")
        self._add_line(inside, "headers", "Delete removes one; a secret is {secret: NAME}")
        inside.addWidget(Line("Body type", self.kind))
        for key in ("body", "name", "weight"):
            self._add_line(inside, key)
        inside.addStretch(1)
        return made

    def _make_reply(self, servers: Sequence[str]) -> QWidget:
        made = QWidget()
        inside = column(made, gap=2)
        inside.addWidget(label("Expected reply", 14, Weight.DemiBold))
        for key in _REPLY:
            self._add_line(inside, key)
        inside.addWidget(label("Reply", 14, Weight.DemiBold))
        self.server = TextField("Server")
        self.server.setPlaceholderText(_EXAMPLE)
        self.server.setCompleter(QCompleter([*servers], self.server))
        self.server.set_value(next(iter(servers), ""))
        self.server.edited.connect(self._fit)
        self.status = label("", tone="soft", wrap=True)
        self.send = button("Send once", "play", on_click=self._send)
        inside.addWidget(Line("Server", self.server, stretch=False))
        sends = row()
        sends.addWidget(self.send)
        sends.addWidget(self.status, 1)
        inside.addLayout(sends)
        self.error = Inline()
        inside.addWidget(self.error)
        self.reply = reading("Reply")
        self.reply.setMinimumHeight(_REPLY_PX)
        inside.addWidget(self.reply, 1)
        return made

    def _add_line(self, to: QVBoxLayout, key: str, hint: str = "") -> None:
        if key not in self.inputs:
            return
        field = _FIELDS[key]
        wide = isinstance(self.inputs[key], _WIDE) and not isinstance(self.inputs[key], Figure)
        line = Line(field.label, self.inputs[key], *filter(None, [field.unit]), stretch=not wide)
        line.explain(hint)
        self.lines[key] = line
        to.addWidget(line)

    def _fit(self) -> None:
        """Show each problem at its field."""
        value = self.value()
        faults = dict(_faults(value))
        for key, line in self.lines.items():
            line.fault(faults.get(key, ""))
        self.apply.setEnabled(not faults)
        self.send.setEnabled(not faults and bool(self.server.text().strip()))
        given = next((v for k, v in value.get("headers", {}).items() if k.lower() == _TYPE), "")
        self.kind.set_value(given.partition(";")[0].strip() if isinstance(given, str) else "")

    def _set_kind(self) -> None:
        """Give the body's type as its header."""
        headers = self.inputs["headers"]
        kept = {k: v for k, v in headers.value().items() if k.lower() != _TYPE}
        chosen = self.kind.value()
        headers.set_value(kept | ({"Content-Type": chosen} if chosen else {}))
        self._fit()

    def _send(self) -> None:
        address, request = self.server.text().strip(), convert(self.value(), Request)
        self._on_reply(("Sending…", ""))
        insecure = self._insecure(address)
        sent = send_once(address, request, protocol=self._protocol, insecure=insecure)
        self._bridge.submit(sent, self._on_reply, lambda why: self._on_reply(("", ""), why))

    def _on_reply(self, reply: tuple[str, str], why_not: str = "") -> None:
        self.status.setText(reply[0])
        self.reply.setPlainText(reply[1])
        self.error.show_text(why_not)


def _input(key: str) -> Any:
    field = _FIELDS[key]
    if key == "headers":
        return HeaderTable(field.label)
    cell = cell_of(field)
    return cell.kind(cell.name or field.label, *cell.given)


def _faults(request: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the problems by key."""
    try:
        whole = convert(request, Request)
    except msgspec.ValidationError as error:
        key, sentence = complaint(str(error), request, Request, form=True)
        yield key.partition("[")[0].partition(".")[0], capital(sentence)
        return
    for problem in problems(whole):
        yield problem.keys[-1].removeprefix("workload."), problem.text()
