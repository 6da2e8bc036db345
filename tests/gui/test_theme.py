"""What can be read and told apart, in both themes."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtGui import QFontInfo, QImage
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.colour import contrast
from app.stylesheet import stylesheet
from app.theme import Theme
from app.widgets import Inline
from workbench.paths import RESOURCES

BOTH = pytest.mark.parametrize("chosen", [theme.DARK, theme.LIGHT], ids=["dark", "light"])


@BOTH
def test_text_is_readable_on_every_ground(chosen: Theme) -> None:
    for ground in (chosen.card, chosen.bg, chosen.rail, chosen.sunken, chosen.floating):
        assert contrast(chosen.text, ground) >= 7
        assert contrast(chosen.soft, ground) >= 7
        assert contrast(chosen.muted, ground) >= 4.5
    for status in (chosen.ok, chosen.warn, chosen.bad):
        assert contrast(status, chosen.card) >= 4.5


@BOTH
def test_words_are_readable_on_tinted_grounds(qtbot: QtBot, chosen: Theme) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    for tone in ("soft", "ok", "warn", "bad"):
        card = Inline()
        card.setParent(page)
        card.setStyleSheet(stylesheet(chosen))
        card.say("The disk is full.", tone)
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
def test_a_switch_that_is_on_has_another_edge(qtbot: QtBot, chosen: Theme) -> None:
    switch = QPushButton("Figures")
    switch.setCheckable(True)
    qtbot.addWidget(switch)
    switch.setStyleSheet(stylesheet(chosen))
    switch.resize(140, 34)

    def edge() -> str:
        image: QImage = switch.grab().toImage()
        return image.pixelColor(0, image.height() // 2).name()

    off = edge()
    switch.setChecked(True)
    assert contrast(edge(), off) >= 3


@BOTH
def test_what_can_be_operated_has_a_visible_edge(chosen: Theme) -> None:
    for ground in (chosen.card, chosen.bg, chosen.rail):
        assert contrast(chosen.edge, ground) >= 3
        assert contrast(chosen.focus, ground) >= 3


@BOTH
def test_a_button_is_drawn_with_that_edge(qtbot: QtBot, chosen: Theme) -> None:
    button = QPushButton("Add a server")
    button.setStyleSheet(stylesheet(chosen))
    qtbot.addWidget(button)
    button.resize(140, 34)
    image: QImage = button.grab().toImage()
    edge = image.pixelColor(0, image.height() // 2).name()
    assert contrast(edge, chosen.card) >= 3


@BOTH
def test_twelve_series_stand_out_and_are_told_apart_without_colour(chosen: Theme) -> None:
    styles = [chosen.series(index) for index in range(12)]
    for style in styles:
        assert contrast(style.colour, chosen.card) >= (5 if chosen.dark else 3.5) - 0.05
    for a, b in combinations(styles, 2):
        assert (a.dashed, a.marker) != (b.dashed, b.marker)


def test_the_bundled_fonts_are_used() -> None:
    assert QFontInfo(theme.font(13)).family() == "Inter"
    assert QFontInfo(theme.font(13, mono=True)).family() == "JetBrains Mono"


@pytest.mark.parametrize("path", sorted((RESOURCES / "icons").glob("*.svg")), ids=lambda p: p.stem)
def test_every_icon_can_be_drawn(path: object) -> None:
    name = getattr(path, "stem", "")
    image = theme.icon_pixmap(name, "#FF0000", 24).toImage()
    assert any(image.pixelColor(x, y).alpha() for x in range(48) for y in range(48))
