"""CPU profiles in the window: calls and functions, read without a mouse."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.film import FilmPage
from app.profiling import ProfileViewer
from tests.canary import SONG, heard
from tests.gui.windows import offers, sees, the
from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import AnyDocument, PointStart, PointStop
from workbench.messages.notes import notice
from workbench.messages.outcomes import Profile

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

FRAMES = ["main (server.py)", "handle (server.py)", "send (socket.py)", "recv (socket.py)", "gc"]
STACKS = [60, 3, 0, 1, 2, 25, 3, 0, 1, 3, 10, 1, 0, 5, 2, 0, 4]


def a_profile(name: str, frames: list[str] = FRAMES) -> Profile:
    return Profile(
        name=name, tool="py-spy 0.4.3", x=4_000.0, seconds=5.0, samples=100, frames=frames,
        stacks=STACKS,
    )  # fmt: skip


DENIED = notice("not-profiled", name="Two", tool="py-spy", machine="h1", why="denied")


@pytest.fixture
def viewer(qtbot: QtBot) -> Iterator[ProfileViewer]:
    made = ProfileViewer(None, {"two": DENIED, "one": a_profile("One")})  # type: ignore[arg-type]
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    made.close()


def test_a_profile_is_chosen_first_and_says_what_it_is(viewer: ProfileViewer, qtbot: QtBot) -> None:
    assert viewer.server.currentText() == "One"
    sees(qtbot, viewer, "100 samples in 5 s at 4,000/s, py-spy 0.4.3")
    rows = [viewer.functions.topLevelItem(n) for n in range(3)]
    assert [[row.text(n) for n in range(3)] for row in rows] == [
        ["send (socket.py)", "60.0 %", "60.0 %"],
        ["recv (socket.py)", "25.0 %", "25.0 %"],
        ["main (server.py)", "10.0 %", "100.0 %"],
    ]


def test_calls_stand_below_their_callers_and_keys_reach_them(
    viewer: ProfileViewer, qtbot: QtBot
) -> None:
    calls = viewer.calls
    for key, row in (
        (Qt.Key.Key_Home, ["all", "0 %", "100.0 %"]),
        (Qt.Key.Key_Down, ["main (server.py)", "10.0 %", "100.0 %"]),
        (Qt.Key.Key_Down, ["handle (server.py)", "0 %", "85.0 %"]),
        (Qt.Key.Key_Down, ["send (socket.py)", "60.0 %", "60.0 %"]),
        (Qt.Key.Key_Left, ["handle (server.py)", "0 %", "85.0 %"]),
    ):
        qtbot.keyClick(calls, key)
        assert [calls.currentItem().text(n) for n in range(3)] == row
    qtbot.keyClick(calls, Qt.Key.Key_Escape)
    assert not viewer.isVisible()


def choose(viewer: ProfileViewer, server: str) -> None:
    viewer.server.setCurrentIndex(viewer.server.findData(server))
    viewer.server.activated.emit(viewer.server.currentIndex())


def test_a_server_without_a_profile_says_why(viewer: ProfileViewer, qtbot: QtBot) -> None:
    choose(viewer, "two")
    sees(qtbot, viewer, "set kernel.yama.ptrace_scope to 0")
    assert not viewer.calls.isVisible()
    choose(viewer, "one")
    assert viewer.calls.isVisible()


def test_hostile_names_stay_on_their_line(qtbot: QtBot) -> None:
    hostile = a_profile("One", [f"{n}{SONG}" for n in range(5)])
    made = ProfileViewer(None, {"one": hostile})  # type: ignore[arg-type]
    qtbot.addWidget(made)
    shown = [made.functions.topLevelItem(n).text(0) for n in range(5)]
    assert not heard("".join(shown)) and not any("\n" in text for text in shown)


def profiled() -> list[AnyDocument]:
    documents = list(session(2, 3))
    *before, stop = documents
    last = [d for d in documents if isinstance(d, PointStart | PointStop)][-2:]
    pass_ = [replace(d, purpose="profile", point=99, t_us=stop.t_us) for d in last]
    note = a_profile("asyncio streams").note(stop.t_us, server="asyncio-streams")
    return [*before, *pass_, note, stop]


@pytest.mark.parametrize("with_profiles", [True, False])
def test_a_session_with_profiles_has_them_on_its_page(
    qtbot: QtBot, desk: Desk, tmp_path: Path, with_profiles: bool
) -> None:
    path = record_session(tmp_path / "a.pong.yaml", profiled() if with_profiles else session(2, 3))
    page = FilmPage(desk)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    page.open(path)
    qtbot.waitUntil(lambda: page.reel is not None)
    qtbot.waitUntil(lambda: offers(page, "CPU profiles") == with_profiles)
    page.show_profiles()
    at = page.transport.timeline.describe_at(page.reel.duration_us) if page.reel else ""
    assert (at == "CPU profiles") == with_profiles
    if with_profiles:
        found = the(page, ProfileViewer)
        assert found.server.currentText() == "asyncio streams"
        found.close()
    else:
        assert not page.findChildren(ProfileViewer)
