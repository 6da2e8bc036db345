"""The bar above the machines shows how many there are, which are unusable, and why."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.machines import records
from app.machines.records import KEPT, now, stamp
from app.pages.machines import Head
from tests import furniture
from tests.gui.machines.steps import opened
from tests.gui.windows import says, sees, the
from workbench.machines.profiles import make_profile, save_profile

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

KINDS = {"cedar": "key changed", "dune": "new key", "elm": "busy", "oak": "ready", "yew": ""}


def test_unusable_machines_are_counted_and_named_with_the_reason(qtbot: QtBot, desk: Desk) -> None:
    for name in KINDS:
        save_profile(make_profile({"name": name, "connector": "ssh", "address": "10.0.0.9"}))
    at = stamp(now())
    desk.settings.more[KEPT] = {
        name: {"at": at, "kind": kind, "words": "lena" if kind == "busy" else ""}
        for name, kind in KINDS.items()
    }
    page = opened(qtbot, desk)
    chip = the(page, Head).chip
    assert says(page, f"{len(KINDS) + 1} machines")
    qtbot.waitUntil(lambda: chip.text == "3 not usable")
    assert chip.toolTip() == "cedar: key changed\ndune: unknown key\nelm: in use by lena"


def test_results_fade_while_they_are_shown(
    qtbot: QtBot, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    furniture.machines(desk.settings.more)
    page = opened(qtbot, desk)
    qtbot.waitUntil(lambda: "atlas" in page.listing.rows)
    page.listing.rows["atlas"].click()
    light = page.listing.rows["atlas"].state
    assert (light.word, light.tone) == ("ready just now", "ok")
    later = records.now() + timedelta(hours=25)
    monkeypatch.setattr(records, "now", lambda: later)
    page.ageing.timeout.emit()
    light = page.listing.rows["atlas"].state
    assert (light.word, light.tone) == ("ready 25 h ago", "")
    sees(qtbot, page, "More than a day old")
