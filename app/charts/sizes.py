"""Sizes of everything on a chart."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QFont

from app.theme import font


@dataclass(frozen=True)
class Sizes:
    """Sizes in pixels; `scale` 1 in the window, more on projectors and in pictures."""

    scale: float = 1.0
    gutter: float = 118.0
    """Unscaled, for the names right of the plot."""

    head: float = 13.0
    """Unscaled, of the charts' titles."""

    line: float = 2.0
    """Unscaled width of a line; a running one is a quarter wider, the highlighted one 1.9 times as
    wide.
    """

    controls: float = 24.0
    """Unscaled; no name is placed that high in the response time chart: the window's controls are
    there.
    """

    def px(self, size: float) -> float:
        return size * self.scale

    @property
    def axis_font(self) -> QFont:
        return font(self.px(11), figures=True)

    @property
    def label_px(self) -> float:
        return self.px(12)

    @property
    def left(self) -> float:
        return self.px(56)

    @property
    def top(self) -> float:
        return self.px(28)

    @property
    def still_line(self) -> float:
        return self.px(self.line)

    @property
    def running_line(self) -> float:
        return self.px(self.line * 1.25)

    @property
    def highlighted_line(self) -> float:
        return self.px(self.line * 1.9)

    def bottom(self, lowest: bool) -> float:
        return self.px(46 if lowest else 10)
