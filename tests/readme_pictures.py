"""The pictures in docs/, of the last two sessions of `make demo`."""

from __future__ import annotations

from pathlib import Path

from app import theme
from tests.stage import Stage

ROOT = Path(__file__).parents[1]


class ReadmePictures(Stage):
    def shoot(self) -> None:
        self.camera.rest(1.5)
        self.camera.until(self.window.start.quick.isEnabled)
        made = sorted(ROOT.glob("out/demo*.yaml"), key=lambda path: path.stat().st_mtime)
        if len(made) < 2:
            raise SystemExit("these pictures need two sessions: run `make demo` twice")
        if self.desk.theme is theme.DARK:
            self._window(made[-1])
        else:
            self._plan()
            self._compare(made[-2:])

    def _window(self, session: Path) -> None:
        self.window.open(session)
        film = self.window.film
        self.camera.until(lambda: film.isVisible() and film.board.model.over)
        self._take("window")

    def _plan(self) -> None:
        page = self.show("Plan")
        self.camera.until(lambda: page.draft)
        self._take("plan")

    def _compare(self, sessions: list[Path]) -> None:
        self.desk.compare_requested.emit(sessions)
        page = self.show("Compare")
        self.camera.until(lambda: len(page.selection.sides) == 2)
        self._take("compare")

    def _take(self, name: str) -> None:
        self.camera.rest(0.8)
        self.camera.take(self.window, ROOT / "docs" / f"{name}.png")
