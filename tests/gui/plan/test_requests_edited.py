"""Requests of HTTP are edited in a list and a dialog, and sent once to a server."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.planning.request_dialog import RequestDialog
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import edit, judged, plan_of
from tests.gui.windows import the
from workbench.plan.reading import load_plan, plan_from_data

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


class _Echo(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", str(len(body) + 2))
        self.end_headers()
        self.wfile.write(self.headers["X-A"].encode() + b" " + body)

    def log_message(self, *_: object) -> None:
        pass


def test_a_request_is_added_by_keys_checked_at_its_fields_sent_once_and_applied(
    qtbot: QtBot, window: MainWindow, page: PlanPage
) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    workload = {"protocol": "http/1.1", "path": "/a", "headers": {"X-A": "1"}}
    plan = {"servers": [address], "workload": workload, "rates": [200], "seconds": 1}
    edit(qtbot, page, plan_from_data(plan, name="Shop"))
    requests = page.form.inputs["workload.requests"]
    add = the(requests, QAbstractButton, "Add")
    add.setFocus()
    qtbot.keyClick(add, Qt.Key.Key_Space)
    dialog = window.findChild(RequestDialog)
    for key, text in (("path", "orders"), ("body", "tea"), ("weight", "0")):
        dialog.inputs[key].selectAll()
        qtbot.keyClicks(dialog.inputs[key], text)
    assert dialog.lines["weight"].tone == "bad" and not dialog.apply.isEnabled()
    dialog.inputs["weight"].set_value(3)
    qtbot.keyClick(dialog.inputs["weight"], Qt.Key.Key_End)
    dialog.inputs["path"].selectAll()
    qtbot.keyClicks(dialog.inputs["path"], "orders/")
    assert dialog.lines["path"].tone == "bad" and dialog.lines["weight"].tone != "bad"
    qtbot.keyClick(dialog.inputs["path"], Qt.Key.Key_Home)
    qtbot.keyClicks(dialog.inputs["path"], "/")
    dialog.inputs["method"].setCurrentText("POST")
    headers = dialog.inputs["headers"]
    headers.item(0, 0).setText("X-A")
    headers.item(0, 1).setText("2")
    assert headers.rowCount() == 2, "there is always a row for another"
    dialog.send.click()
    qtbot.waitUntil(lambda: dialog.status.text().startswith("201"))
    assert dialog.reply.toPlainText().endswith("2 tea")
    dialog.apply.click()
    server.shutdown()
    server.server_close()
    judged(qtbot, page)
    first, second = plan_of(page).workload.requests  # type: ignore[attr-defined]
    assert (first.path, first.headers) == ("/a", {"X-A": "1"})
    assert (second.method, second.path, second.body) == ("POST", "/orders/", "tea")
    assert (second.weight, second.headers) == (3, {"X-A": "2"})
    the(requests, QAbstractButton, "Remove the request").click()
    judged(qtbot, page)
    alone = plan_of(page).workload
    assert (alone.path, alone.requests) == ("/a", [])  # type: ignore[attr-defined]


def test_a_locustfile_is_chosen_and_shows_its_users_and_tasks(
    qtbot: QtBot, page: PlanPage, tmp_path: Path
) -> None:
    edit(qtbot, page, load_plan("locust"))
    file = tmp_path / "mine.py"
    file.write_text("class Me(HttpUser):\n    @task(3)\n    def buy(self):\n        pass\n")
    page.form.inputs["workload.locustfile"].choose(file)
    judged(qtbot, page)
    assert plan_of(page).workload.locustfile == str(file)  # type: ignore[attr-defined]
    assert page.form.lines["workload.locustfile"].note == "Me: buy (3)"
