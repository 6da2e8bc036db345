"""Readability and distinguishable colours in both themes."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFontInfo, QImage, QTextLayout
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QProgressBar, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app import stylesheet as sheets
from app import theme
from app.style_places import style_places
from app.stylesheet import stylesheet
from app.theme import Theme, contrast
from app.widgets import Inline, TopBar, button, column, dress, frame, label, row, tool
from workbench.paths import RESOURCES

BOTH = pytest.mark.parametrize("chosen", [theme.DARK, theme.LIGHT], ids=["dark", "light"])


def grounds(chosen: Theme) -> tuple[str, ...]:
    return (
        *(chosen.card, chosen.bg, chosen.rail, chosen.sunken),
        *(chosen.raised, chosen.floating),
    )


@BOTH
def test_text_is_readable_on_every_background(chosen: Theme) -> None:
    for ground in grounds(chosen):
        assert min(contrast(each, ground) for each in (chosen.text, chosen.soft)) >= 7
        for each in (chosen.muted, chosen.focus, chosen.ok, chosen.warn, chosen.bad):
            assert contrast(each, ground) >= 4.5
    assert contrast(chosen.on_primary, chosen.primary) >= 4.5


@BOTH
def test_every_mark_is_visible_on_every_background(chosen: Theme) -> None:
    for ground in grounds(chosen):
        for mark in (chosen.edge, chosen.focus, *chosen.hues):
            assert contrast(mark, ground) >= 3


@BOTH
def test_text_is_readable_on_tinted_backgrounds(qtbot: QtBot, chosen: Theme) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    for tone in ("soft", "ok", "warn", "bad"):
        card = Inline()
        card.setParent(page)
        card.setStyleSheet(stylesheet(chosen))
        card.show_text("The disk is full.", tone)
        card.resize(300, 60)
        ground = card.grab().toImage().pixelColor(150, 5).name()
        for words in (chosen.text, chosen.soft, chosen.muted):
            assert contrast(words, ground) >= 4.5
    for tone in ("focus", "ok", "warn", "bad"):
        colour = getattr(chosen, tone)
        assert contrast(colour, chosen.tinted(colour)) >= 4.5


@BOTH
def test_a_hint_in_an_empty_field_is_readable(qtbot: QtBot, chosen: Theme) -> None:
    field = QLineEdit()
    qtbot.addWidget(field)
    field.setStyleSheet(stylesheet(chosen))
    field.setPlaceholderText("Search")
    field.ensurePolished()
    assert contrast(field.palette().placeholderText().color().name(), chosen.sunken) >= 4.5


@BOTH
@pytest.mark.parametrize(
    ("kind", "differs"), [("", True), ("ghost", False)], ids=["switch", "eye of a server"]
)
def test_of_what_can_be_switched_only_switches_have_another_edge_when_on(
    qtbot: QtBot, chosen: Theme, kind: str, *, differs: bool
) -> None:
    switch = button("Figures", kind=kind)
    switch.setCheckable(True)
    ground = frame()
    column(ground, margin=16).addWidget(switch)
    qtbot.addWidget(ground)
    ground.setStyleSheet(stylesheet(chosen))

    def edge() -> str:
        image: QImage = ground.grab().toImage()
        return image.pixelColor(switch.x(), image.height() // 2).name()

    off = edge()
    switch.setChecked(True)
    assert (contrast(edge(), off) >= 3) is differs


@BOTH
def test_a_button_is_drawn_with_a_visible_edge(qtbot: QtBot, chosen: Theme) -> None:
    button = QPushButton("Add a server")
    button.setStyleSheet(stylesheet(chosen))
    qtbot.addWidget(button)
    button.resize(140, 34)
    image: QImage = button.grab().toImage()
    edge = image.pixelColor(0, image.height() // 2).name()
    assert contrast(edge, chosen.card) >= 3


@BOTH
def test_24_series_are_distinguishable_without_colour(chosen: Theme) -> None:
    styles = [chosen.series(index) for index in range(24)]
    for style in styles:
        assert contrast(style.colour, chosen.card) >= (5 if chosen.dark else 3.5) - 0.05
    for a, b in combinations(styles, 2):
        assert (a.pattern, a.marker) != (b.pattern, b.marker)


def test_versions_of_a_server_share_a_hue_and_others_keep_their_places() -> None:
    ids = ["twisted@9.0.0", "tornado", "twisted", "gevent", "tornado@0.2", "twisted@10.0.0"]
    places = style_places(ids)
    assert list(places.values()) == [0, 1, 8, 2, 9, 16]
    assert style_places(ids[:3]) == dict(list(places.items())[:3])
    old, new = (theme.LIGHT.series(places[id_]) for id_ in ("tornado@0.2", "tornado"))
    assert old.colour == new.colour and old.pattern != new.pattern and old.marker != new.marker
    assert list(style_places(f"s{n}" for n in range(30)).values()) == list(range(30))


SIGHT = {
    "any": np.eye(3),
    "no red": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "no green": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "no blue": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}
"""What is left of linear RGB: Machado, Oliveira and Fernandes, 2009, at their full strength."""


@BOTH
@pytest.mark.parametrize("sight", SIGHT)
def test_hues_are_distinguishable_with_any_colour_vision(chosen: Theme, sight: str) -> None:
    rgb = np.array([QColor(hue).getRgbF()[:3] for hue in chosen.hues])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = oklab(np.clip(linear @ np.array(SIGHT[sight]).T, 0, 1))
    # 0.02 can just be distinguished side by side.
    least = 0.135 if sight == "any" else 0.105
    for a, b in combinations(range(len(seen)), 2):
        assert np.linalg.norm(seen[a] - seen[b]) > least, (chosen.hues[a], chosen.hues[b])


def oklab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of linear RGB, (n, 3): equal distances look equal. Ottosson, 2020."""
    cones = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
    axes = [[0.21045, 0.79362, -0.00407], [1.978, -2.42859, 0.45059], [0.0259, 0.78277, -0.80868]]
    found: NDArray[np.float64] = np.cbrt(linear @ np.array(cones).T) @ np.array(axes).T
    return found


def test_the_bundled_fonts_are_used() -> None:
    assert QFontInfo(theme.font(13)).family() == "Inter"
    assert QFontInfo(theme.font(13, mono=True)).family() == "JetBrains Mono"


AS_WINDOWS = """
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication, QListView, QMenu
from app import stylesheet, theme

class Application(QApplication):
    def setStyleSheet(self, sheet):
        super().setStyleSheet(sheet)
        for kind in ("QAbstractItemView", "QMenu"):
            self.setFont(QFont("JetBrains Mono", 20), kind)

app = Application(["pongbench", *stylesheet.FUSION])
for chosen in (theme.DARK, theme.LIGHT):
    stylesheet.apply(app, chosen)
    made = QListView(), QMenu()
    for each in made:
        each.ensurePolished()
    print({(each.font().family(), each.font().pixelSize()) for each in made})
"""


def test_fonts_that_a_system_has_for_some_widgets_are_not_used() -> None:
    """As Windows has for lists and menus, and brings back with a style sheet."""
    said = subprocess.check_output([sys.executable, "-c", AS_WINDOWS], text=True)
    assert said.splitlines() == ["{('Inter', 13)}"] * 2


def test_an_x_between_digits_stays_an_x(qtbot: QtBot) -> None:
    def glyphs(text: str) -> list[int]:
        layout = QTextLayout(text, theme.font(13))
        layout.beginLayout()
        layout.createLine()
        layout.endLayout()
        return [index for run in layout.glyphRuns() for index in run.glyphIndexes()]

    assert glyphs("k3x9")[2:3] == glyphs("x")


@pytest.mark.parametrize("path", sorted((RESOURCES / "icons").glob("*.svg")), ids=lambda p: p.stem)
def test_every_icon_can_be_drawn(path: object) -> None:
    name = getattr(path, "stem", "")
    image = theme.icon_pixmap(name, "#FF0000", 24).toImage()
    assert any(image.pixelColor(x, y).alpha() for x in range(48) for y in range(48))


def test_a_changed_theme_looks_as_if_the_window_had_begun_with_it(
    qtbot: QtBot, qapp: QApplication
) -> None:
    sheets.apply(qapp, theme.DARK)
    changed = components(qtbot)
    changed.grab()
    sheets.apply(qapp, theme.LIGHT)
    dress(changed, theme.LIGHT)
    assert changed.grab().toImage() == components(qtbot).grab().toImage()


def components(qtbot: QtBot) -> QWidget:
    """Some of everything, nested, as in a page."""
    page = QWidget()
    outer = column(page, margin=8)
    card = frame()
    inside = column(card, margin=8, gap=4)
    bar = TopBar("Servers")
    bar.chip.show_text("ready", "ok")
    line = row(gap=4)
    choice, field = QComboBox(), QLineEdit("cedar")
    choice.addItem("p99")
    for each in (choice, field, button("Run", "play", kind="primary"), tool("Copy", "copy", list)):
        line.addWidget(each)
    inside.addWidget(bar)
    inside.addLayout(line)
    inside.addWidget(label("muted", tone="muted"))
    inside.addWidget(QProgressBar())
    outer.addWidget(card)
    page.resize(500, 220)
    qtbot.addWidget(page)
    dress(page, theme.LIGHT)
    return page
