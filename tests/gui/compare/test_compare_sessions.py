"""Which sessions are compared, and which of their servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from app.comparing.chooser import Chooser
from app.context import Desk
from app.pages.compare import ComparePage
from app.sessions.table import SessionsView
from tests.gui.compare.steps import RATES, compare, elsewhere, holds, ranking, slower
from tests.gui.trios import written
from tests.gui.windows import control, drop, offers, press, refusal, says, shown, the
from tests.recording import record_session
from tests.synthetic import contestants, session
from workbench import paths
from workbench.documents import VERSION
from workbench.results.conditions import conditions
from workbench.sessions.library import shelf

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_an_empty_page_says_what_belongs_there_and_offers_a_choice(page: ComparePage) -> None:
    assert says(page, "Compare sessions")
    assert says(page, "No sessions selected.")
    assert "Servers of the chosen sessions appear here." in written(page.trio)
    assert "during the run" not in written(page.trio)
    assert not offers(page, "Add a session…")
    assert ranking(page) == []
    press(page, "Choose sessions…")
    (chooser,) = page.findChildren(Chooser)
    assert says(chooser, "Your sessions appear here.")
    chooser.reject()


def test_a_page_that_still_reads_a_session_does_not_look_empty(
    qtbot: QtBot, page: ComparePage, a: Path
) -> None:
    page.compare([a])
    assert not offers(page, "Choose sessions…") and not says(page, "No sessions selected.")
    assert says(page, "Reading 1 session")
    holds(qtbot, page, a)
    page.compare([a.with_name("gone.yaml")])
    qtbot.waitUntil(lambda: offers(page, "Choose sessions…"))


def test_one_session_is_ranked_and_another_is_requested(
    qtbot: QtBot, page: ComparePage, a: Path
) -> None:
    compare(qtbot, page, a)
    assert says(page, "3 servers · add another session to compare")
    assert [row.partition(":")[0] for row in ranking(page)] == [
        "gevent",
        "asyncio Protocol",
        "asyncio streams",
    ]
    assert not page.conditions.isVisible()


def test_the_rates_of_a_server_in_two_sessions_are_one_below_another_with_their_limits(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    assert says(page, "3 servers in both sessions")
    assert ranking(page)[0] == (
        "gevent in A: sustains 8,000/s, its limit lies within 8,000 to 9,000/s"
    )
    assert ranking(page)[1] == (
        "gevent in B: sustains 4,000/s, its limit lies within 4,000 to 5,000/s"
    )


def test_unreadable_files_are_refused_with_a_message_and_the_others_stay(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text("just: yaml\n")
    page.compare([foreign, a, tmp_path / "gone.yaml"])
    holds(qtbot, page, a)
    assert refusal(foreign) in page.refused.text
    assert "gone.yaml" in page.refused.text
    assert len(ranking(page)) == 3
    press(page, "Dismiss")
    assert not page.refused.isVisible()


def test_the_understood_part_of_a_newer_session_can_be_compared(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    newer = record_session(tmp_path / "newer.yaml", session(1, rates=RATES))
    newer.write_text(newer.read_text().replace(f"\nv: {VERSION}\n", "\nv: 99\n", 1))
    page.compare([a, newer])
    holds(qtbot, page, a, newer)
    assert "newer.yaml is from a newer Pongbench" in page.refused.text
    assert len(ranking(page)) == 4


def test_a_cut_off_session_is_compared_and_marked_as_one(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    cut = record_session(tmp_path / "cut.pong.yaml", session(2, rates=RATES, end="crashed"))
    compare(qtbot, page, a, cut)
    assert says(page, "The recording ends before the run did; the recorded part is compared.")


def test_more_than_six_sessions_are_refused_by_the_page(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    files = [
        record_session(tmp_path / f"{n}.pong.yaml", session(1, rates=RATES[:3], seed=n + 1))
        for n in range(7)
    ]
    page.compare(files)
    holds(qtbot, page, *files[:6])
    assert "A comparison has at most 6 sessions; one session not added." in page.refused.text
    assert not control(page, "Add a session…").isEnabled()


def test_a_session_that_is_already_compared_is_reported(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    page.add([a])
    reported = "a.pong.yaml is already in the comparison."
    qtbot.waitUntil(lambda: page.refused.text == reported)
    assert page.selection.paths() == [a, b]


def test_a_copy_of_a_session_is_marked_as_one(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_bytes(a.read_bytes())
    compare(qtbot, page, a, copy)
    (warning,) = conditions(page.selection.sides).warnings
    assert warning in page.conditions.accessibleName()


def test_an_unticked_server_disappears_from_charts_ranking_and_table(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    control(page, "Servers of B").click()
    control(page, "Show gevent in B").click()
    assert not page.trio.is_shown("B/gevent")
    assert not any("gevent in B" in row for row in ranking(page))
    assert page.figures.table.model().rowCount() == 5
    assert says(page, "5 of 6 lines shown")
    control(page, "Show gevent in B").click()
    assert page.trio.is_shown("B/gevent")


def test_a_digit_hides_a_line_and_unticks_its_server(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    qtbot.keyClick(page, Qt.Key.Key_1)
    assert len(ranking(page)) == 5
    control(page, "Servers of A").click()
    assert not control(page, "Show asyncio streams in A").isChecked()
    qtbot.keyClick(page, Qt.Key.Key_0)
    assert control(page, "Show asyncio streams in A").isChecked()


def test_servers_common_to_all_sessions_come_first(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    many = record_session(tmp_path / "many.yaml", session(12, rates=RATES))
    few = record_session(tmp_path / "few.yaml", session(slower(4, 0.5), rates=RATES))
    compare(qtbot, page, many, few)
    shown_servers = {key.partition("/")[2] for key in page.selection.shown()}
    assert {c.id for c in contestants(4)} <= shown_servers
    assert len(page.selection.shown()) <= 12
    assert says(page, "10 of 16 lines shown")


def test_another_session_can_be_the_one_the_others_are_compared_with(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    control(page, "Servers of B").click()
    press(page, "Use as the baseline")
    holds(qtbot, page, b, a)
    assert ranking(page)[0].startswith("gevent in A: sustains 4,000/s")


def test_removing_a_session_makes_the_other_the_first(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Remove A from the comparison")
    holds(qtbot, page, b)
    assert ranking(page)[0].startswith("gevent: sustains 4,000/s")
    press(page, "Remove A from the comparison")
    assert offers(page, "Choose sessions…")


def test_a_file_dropped_where_sessions_are_compared_is_added(
    qtbot: QtBot, a: Path, b: Path
) -> None:
    with shown(qtbot) as window:
        window.show_page("Compare")
        page = window.page("Compare")
        assert isinstance(page, ComparePage)
        compare(qtbot, page, a)
        drop(window, b)
        holds(qtbot, page, a, b)


def test_sessions_of_this_computer_are_found_and_added_with_the_keyboard(
    qtbot: QtBot, page: ComparePage, desk: Desk, home: Path, a: Path
) -> None:
    home.mkdir(parents=True)
    known = record_session(home / "old.pong.yaml", elsewhere(session(1, rates=RATES)))
    record_session(home / "other.pong.yaml", session(1, rates=RATES))
    desk.set_shelf(shelf())
    compare(qtbot, page, a)
    page.search()
    (chooser,) = page.findChildren(Chooser)
    (field,) = chooser.findChildren(QLineEdit)
    qtbot.keyClicks(field, "kernel")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    holds(qtbot, page, a, known)


def test_sessions_of_the_same_name_and_minute_are_distinguished_by_file(
    qtbot: QtBot, page: ComparePage, desk: Desk, tmp_path: Path
) -> None:
    folder = paths.data_dir() / "sessions"
    folder.mkdir(parents=True)
    taken = record_session(folder / "one.pong.yaml", session(1, rates=RATES))
    for name in ("two", "three"):
        record_session(folder / f"{name}.pong.yaml", session(1, rates=RATES))
    desk.set_shelf(shelf())
    compare(qtbot, page, folder / ".." / "sessions" / taken.name)
    page.search()
    (chooser,) = page.findChildren(Chooser)
    listed = the(chooser, SessionsView).model()
    assert {listed.index(n, 0).data() for n in range(listed.rowCount())} == {
        "Socket ping-pong · two",
        "Socket ping-pong · three",
    }
    chooser.reject()
