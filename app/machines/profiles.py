"""The profiles of machines, and the actions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.history import History, deletion
from app.machines import work
from app.machines.editor import Editor, values_of
from app.machines.records import HERE
from app.machines.work import Known
from workbench.machines import profiles
from workbench.machines.profiles import Profile
from workbench.trash import Trashed


class Profiles(QObject):
    """Asks the user where needed, and works in the engine's thread."""

    loaded = Signal(bool)
    """Whether the profiles have changed."""
    saved = Signal(str)
    """The name of a new or changed profile."""
    removed = Signal(str)
    """The name of the removed profile."""
    reported = Signal(str, str)
    """What could not be done, in one sentence, and its tone; empty: the last problem is solved."""

    def __init__(self, page: QWidget, desk: Desk) -> None:
        super().__init__(page)
        self._page, self._desk = page, desk
        self.history = History(desk.bridge, page)
        self.history.failed.connect(self._on_refused)
        self.machines: Sequence[Known] = ()

    def load(self) -> None:
        """Read the profiles."""
        self._desk.bridge.do(work.profiles, self._on_loaded, self._report)

    def known(self, name: str) -> Known | None:
        return next((known for known in self.machines if known.name == name), None)

    def get(self, name: str) -> Profile | None:
        """Return a profile; None: there is none of this name, or it cannot be read."""
        known = self.known(name)
        return known.profile if known else None

    def add(self) -> None:
        self._edit({"connector": "ssh", "name": ""}, "new")

    def edit(self, name: str) -> None:
        if (profile := self.get(name)) is not None:
            self._edit(values_of(profile), "edit")

    def copy(self, name: str) -> None:
        """Duplicate a profile under another name, which can be changed."""
        if (profile := self.get(name)) is not None:
            free = work.free_name(name, {known.name for known in self.machines})
            self._edit(values_of(profile) | {"like": name, "name": free}, "copy")

    def open_file(self, name: str) -> None:
        """Open a damaged profile in the desktop's editor, since no form can show it."""
        path = profiles.path_of(name)
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self._report(f"No program opens this file. Its path is {path}.", "warn")

    def remove(self, name: str, restored: Callable[[], object]) -> None:
        """Move a profile to the trash; nothing happens on the machine. `restored`: called when this
        is undone or done again.
        """
        what = "the settings of this computer" if name == HERE else f"the profile {name}"

        def done(kept: Trashed) -> None:
            self.history.add(deletion(what, kept, lambda: profiles.remove_profile(name), restored))
            self.removed.emit(name)

        self._report("")
        self._desk.bridge.do(lambda: profiles.remove_profile(name), done, self._on_refused)

    def consent(self, name: str, tuning: bool) -> None:
        """Save whether kernel settings may be changed for the length of a run."""
        if (profile := self.get(name)) is not None:
            values = {"tuning": tuning}
            self.do(
                lambda: profiles.change_profile(profile.name, values),
                lambda _: self._desk.machines_changed.emit(),
            )

    def do(self, action: Callable[[], Any], then: Callable[[Any], object]) -> None:
        """Start an action; if it is refused, the profiles are read again."""
        self._report("")
        self._desk.bridge.do(action, then, self._on_refused)

    def _on_refused(self, sentence: str) -> None:
        self._report(sentence)
        self.load()

    def _report(self, sentence: str, tone: str = "bad") -> None:
        self.reported.emit(sentence, tone)

    def _edit(self, values: dict[str, Any], task: str) -> None:
        dialog = Editor(self._page, self._desk, values, task=task)
        dialog.saved.connect(self.saved)
        dialog.open()

    def _on_loaded(self, found: list[Known]) -> None:
        new = found != self.machines
        self.machines = found
        self.loaded.emit(new)
