"""The presentation as the audience and the presenter see it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.model import ChartModel
from app.charts.series import Quantity
from app.charts.trio import Trio
from app.context import Desk
from app.live.headline import lead
from app.live.present import Presentation
from app.live.run import Outcome
from app.pages.live import LivePage
from app.widgets import Elided
from tests.synthetic import CONTESTANTS, session
from workbench.documents import AnyDocument, Note, PointStart

# The offscreen platform says so of every window that has a least size.
pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

R, T, E = Quantity


class Page(QWidget):
    """Lends its charts, as the window's pages do."""

    def __init__(self, documents: list[AnyDocument]) -> None:
        super().__init__()
        self.model = fed(documents)
        self.trio = Trio(self.model, theme.LIGHT)
        inside = QHBoxLayout(self)
        inside.addWidget(self.trio)
        self.resize(900, 640)
        self.trio.refresh()


def kept(qtbot: QtBot, page: Page) -> Page:
    """Held until it is closed: else the garbage collector may take it while it is painted."""
    qtbot.addWidget(page, before_close_func=lambda _: page)
    return page


def fed(documents: list[AnyDocument]) -> ChartModel:
    model = ChartModel()
    for document in documents:
        model(document)
    return model


def running(documents: list[AnyDocument]) -> list[AnyDocument]:
    """Up to the middle of the last but one point."""
    starts = [i for i, d in enumerate(documents) if isinstance(d, PointStart)]
    return documents[: starts[-2] + 5]


def presented(
    qtbot: QtBot,
    documents: list[AnyDocument],
    keys: Callable[[QKeyEvent], bool] = lambda event: False,
    status: Callable[[], tuple[str, str]] = lambda: ("", ""),
    caption: str = "",
) -> tuple[Page, Presentation]:
    page = kept(qtbot, Page(documents))
    with qtbot.waitExposed(page):
        page.show()
    made = Presentation(page.trio, theme.LIGHT, page, keys=keys, status=status, caption=caption)
    with qtbot.waitExposed(made):
        made.begin()
    return page, made


def test_the_running_server_and_its_rate_are_large(qtbot: QtBot) -> None:
    _, shown = presented(qtbot, running(session(2, 8)))
    message = shown.headline.accessibleName()
    assert message.startswith("asyncio Protocol, offered 7,875/s, answered ")
    assert shown.isFullScreen()
    assert shown.headline.height() >= shown.height() / 12


@pytest.mark.parametrize("size", [(1024, 768), (1920, 1080), (3840, 2160)])
def test_fonts_and_lines_grow_with_the_screen(qtbot: QtBot, size: tuple[int, int]) -> None:
    page, shown = presented(qtbot, session(9, 12))
    shown.setGeometry(0, 0, *size)
    trio, least = page.trio, min(size[1], size[0] * 0.75) / 1080
    assert trio.sizes.label_px >= 24 * least
    assert trio.sizes.axis_font.pixelSize() >= 22 * least
    assert trio.sizes.px(trio.sizes.line) >= 4 * least
    image = trio.charts[R].grab().toImage()
    assert not image.isNull()
    names = {label.key for label in trio.charts[R].names.placed}
    assert names == set(page.model.series)
    assert all(label.x + label.width <= trio.width() + 1 for label in trio.charts[R].names.placed)


def test_the_best_result_is_large_when_the_run_is_over(qtbot: QtBot) -> None:
    _, shown = presented(qtbot, session(3, 8))
    assert shown.headline.accessibleName() == "gevent, sustains 7,875/s"


def test_no_hidden_server_is_large_between_servers() -> None:
    model = fed(session(3, 8))
    best = lead(model, "", 0.0)
    hidden = next(each.id for each in model.ranked() if each.name == best.name)
    assert lead(model, "", 0.0, lambda server: server != hidden).name != best.name


def test_none_is_called_best_where_several_sustain_the_same(qtbot: QtBot) -> None:
    _, shown = presented(qtbot, session(3, rates=[1000.0, 2000.0]))
    assert (
        shown.headline.accessibleName()
        == "asyncio streams, asyncio Protocol and gevent, sustain ≥ 2,000/s"
    )


def test_it_continues_when_the_run_ends(qtbot: QtBot) -> None:
    documents = session(2, 8)
    page, shown = presented(qtbot, running(documents))
    for document in documents[len(running(documents)) :]:
        page.model(document)
    page.trio.refresh()
    shown.refresh()
    assert shown.isVisible()
    assert shown.headline.accessibleName() == "asyncio Protocol, sustains 6,750/s"


def test_arrows_and_digits_work_from_the_keyboard_alone(qtbot: QtBot) -> None:
    page, shown = presented(qtbot, session(3, 8))
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert shown.headline.accessibleName().startswith("gevent, offered 9,000/s, answered")
    qtbot.keyClick(shown, Qt.Key.Key_1)
    assert not page.trio.is_shown("asyncio-streams")
    qtbot.keyClick(shown, Qt.Key.Key_0)
    assert page.trio.is_shown("asyncio-streams")


def test_keys_of_the_page_take_precedence_in_a_presentation(qtbot: QtBot) -> None:
    pressed: list[int] = []

    def keys(event: QKeyEvent) -> bool:
        pressed.append(event.key())
        return event.key() == Qt.Key.Key_Space

    _, shown = presented(qtbot, session(2, 4), keys)
    qtbot.keyClick(shown, Qt.Key.Key_Space)
    assert pressed == [Qt.Key.Key_Space]


def test_a_presentation_shows_the_status_of_the_page(qtbot: QtBot) -> None:
    _, shown = presented(
        qtbot, session(2, 4), status=lambda: ("Tornado ended by signal 9.", "warn")
    )
    assert reads(shown, "Tornado ended by signal 9.")


def test_keys_and_caption_are_shown_together(qtbot: QtBot) -> None:
    _, shown = presented(qtbot, session(2, 4), caption="A: One · B: Two")
    below = " ".join(each.whole for each in shown.findChildren(Elided))
    for text in ("A: One · B: Two", "Esc leave", "T over time", "L log/linear"):
        assert text in below


def reads(shown: Presentation, sentence: str) -> bool:
    return any(each.whole == sentence for each in shown.findChildren(Elided))


def told_below(shown: Presentation) -> str:
    """The text that lists the keys."""
    reported = (each.whole for each in shown.findChildren(Elided))
    return next(each for each in reported if "Esc leave" in each)


def of_a_run(qtbot: QtBot, page: LivePage) -> Presentation:
    """What F11 shows of the live page."""
    qtbot.addWidget(page, before_close_func=lambda _: page)
    with qtbot.waitExposed(page):
        page.show()
    page.present()
    (shown,) = page.findChildren(Presentation)
    return shown


def test_with_nothing_running_it_says_so_and_how_to_begin(qtbot: QtBot, desk: Desk) -> None:
    shown = of_a_run(qtbot, LivePage(desk))
    assert shown.headline.accessibleName() == "Nothing is running"
    assert reads(shown, "Press Esc to go back, then run servers or open a session (Ctrl+O).")
    with qtbot.waitSignal(shown.destroyed):
        qtbot.keyClick(shown, Qt.Key.Key_Escape)


def test_a_run_that_ended_before_its_first_point_shows_none(qtbot: QtBot, desk: Desk) -> None:
    page = LivePage(desk)
    page.end(Outcome(None, None))
    shown = of_a_run(qtbot, page)
    assert shown.headline.accessibleName() == "No measurements"
    assert reads(shown, "Stopped before the first point")


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_F11])
def test_leaving_restores_the_window_exactly(qtbot: QtBot, key: Qt.Key) -> None:
    page = kept(qtbot, Page(session(3, 8)))
    with qtbot.waitExposed(page):
        page.show()
    before = page.grab().toImage()
    shown = Presentation(page.trio, theme.LIGHT, page)
    with qtbot.waitExposed(shown):
        shown.begin()
    assert not page.trio.charts[E].isVisible()
    with qtbot.waitSignal(shown.destroyed):
        qtbot.keyClick(shown, key)
    page.trio.clearFocus()
    assert page.trio.charts[E].isVisible()
    assert page.grab().toImage() == before


def test_esc_leaves_at_once_and_backspace_deselects_a_server(qtbot: QtBot) -> None:
    page, shown = presented(qtbot, session(2, 4))
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    assert "Backspace deselect asyncio" in told_below(shown)
    qtbot.keyClick(shown, Qt.Key.Key_Backspace)
    assert page.trio.pointing.server == ""
    assert "Backspace" not in told_below(shown)
    qtbot.keyClick(shown, Qt.Key.Key_Down)
    with qtbot.waitSignal(shown.destroyed):
        qtbot.keyClick(shown, Qt.Key.Key_Escape)


def test_it_covers_the_screen_with_one_background(qtbot: QtBot) -> None:
    _, shown = presented(qtbot, session(2, 4))
    image = shown.grab().toImage()
    for corner in (QPoint(1, 1), QPoint(shown.width() - 2, shown.height() - 2)):
        assert image.pixelColor(corner) == QColor(theme.LIGHT.card)


def test_before_the_first_point_the_plan_is_named() -> None:
    assert lead(ChartModel(), "", 0.0).name == "Preparing"
    assert lead(fed(session(2, 4)[:1]), "", 0.0).name == "Socket ping-pong"


def test_an_unreliable_share_is_not_shown_as_good() -> None:
    model = fed(session(1, 8, untrusted_from=2000))
    tones = [lead(model, "asyncio-streams", r).figures[1].tone for r in (1125.0, 3375.0)]
    assert tones == ["ok", "muted"]


@pytest.mark.parametrize(("limit", "tone"), [(7000, "muted"), (9500, "ok")])
def test_results_beyond_the_client_limit_are_not_shown_as_good(limit: int, tone: str) -> None:
    fast = dataclasses.replace(CONTESTANTS[0], capacity_per_s=1e6)
    model = fed(running(session([fast], 8)))
    model(Note(t_us=0, topic="ceiling", text="", data={"ceiling_per_s": limit}))
    reported = lead(model, "", 0.0).figures[1]
    assert (reported.value, reported.tone) == ("100", tone)
    assert reported.caption == (
        "answered, beyond the client limit" if tone == "muted" else "answered"
    )


def test_no_figure_is_rounded_up_to_all_answered() -> None:
    documents = session(1, 4)
    model = fed(documents)
    series = next(iter(model.series.values()))
    lossy = next(r for r in series.points if r.errors_pct > 0)
    reported = lead(model, series.id, lossy.x)
    assert "answered 100" not in reported.sentence
