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
from app.widgets import Inline, beside, button, column, label, reading, stack
from workbench.config.schema_errors import complaint
from workbench.converting import convert
from workbench.formatting import capital
from workbench.servers.running import send_once
from workbench.workloads.http.requests import Request, problems
from workbench.workloads.options import fields
from workbench.workloads.registry import declaration

_TYPES = ("application/json", "application/x-www-form-urlencoded", "text/plain", "application/xml")
_FIELDS = {field.key: field for field in fields(Request)}
_BEFORE, _AFTER = ("method", "path", "headers"), ("body", "name", "weight")
"""The lines of a request before and after that of the body's type."""
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
        self.lines = {key: self._line(key) for key in self.inputs}
        self.apply = button("Apply", "check", kind="primary", on_click=self.accept)
        self.apply.setDefault(True)
        sides = (self._make_request(), 5), (self._make_reply(servers), 4)
        foot = beside(None, button("Cancel", "x", on_click=self.reject), self.apply)
        column(self, (beside(*sides, gap=24), 1), foot, margin=20, gap=12)
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

    def _make_request(self) -> QVBoxLayout:
        self.kind = Options("Type of the body", [("", "other"), *((each, each) for each in _TYPES)])
        self.kind.edited.connect(self._set_kind)
        if "headers" in self.lines:
            self.lines["headers"].explain("Delete removes one; a secret is {secret: NAME}")
        kind = Line("Body type", self.kind)
        before, after = self._of(_BEFORE), self._of(_AFTER)
        return stack(label("Request", 14, Weight.DemiBold), *before, kind, *after, None, gap=2)

    def _make_reply(self, servers: Sequence[str]) -> QVBoxLayout:
        self.server = TextField("Server")
        self.server.setPlaceholderText(_EXAMPLE)
        self.server.setCompleter(QCompleter([*servers], self.server))
        self.server.set_value(next(iter(servers), ""))
        self.server.edited.connect(self._fit)
        self.status = label("", tone="soft", wrap=True)
        self.send = button("Send once", "play", on_click=self._send)
        self.error, self.reply = Inline(), reading("Reply")
        self.reply.setMinimumHeight(_REPLY_PX)
        return stack(
            label("Expected reply", 14, Weight.DemiBold),
            *self._of(_REPLY),
            label("Reply", 14, Weight.DemiBold),
            Line("Server", self.server, stretch=False),
            beside(self.send, (self.status, 1)),
            self.error,
            (self.reply, 1),
            gap=2,
        )

    def _of(self, keys: Sequence[str]) -> list[Line]:
        return [self.lines[key] for key in keys if key in self.lines]

    def _line(self, key: str) -> Line:
        field, input_ = _FIELDS[key], self.inputs[key]
        wide = isinstance(input_, _WIDE) and not isinstance(input_, Figure)
        return Line(field.label, input_, *filter(None, [field.unit]), stretch=not wide)

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
