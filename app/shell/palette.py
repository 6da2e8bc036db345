"""The command palette: what can be done and shown now, found by typing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFrame,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app import actions, page_registry, words
from app.plain import tip
from app.planning import resources
from app.widgets import TOP, column, label, row
from workbench.untrusted import one_line

if TYPE_CHECKING:
    from app.planning.resources import PlanResources

_MOST_SIZE, _MARGIN, _ROW = QSize(720, 480), 64, QSize(0, 30)
_MOST = 60
"""Entries shown at once; whoever looks for another one types on."""
_MOVES = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


@dataclass(frozen=True)
class Entry:
    text: str
    group: str
    run: Callable[[], object]
    about: str = ""
    """Searched, too."""
    keys: str = ""


class Palette(QWidget):
    """Lies over the whole window. Enter runs the chosen entry; Escape or a click beside the list
    closes it. Servers, presets and machines are read while it is open. `window`: the `MainWindow`.
    """

    def __init__(self, window: Any) -> None:
        super().__init__(window)
        self._window, self._before = window, QApplication.focusWidget()
        self._entries = list(_entries(window))
        hint = "Find an action, page, server, session, preset or setting"
        self._field = QLineEdit(placeholderText=hint, accessibleName="Find")
        self._field.textChanged.connect(self._sift)
        self._field.installEventFilter(self)
        self._list = QTreeWidget(accessibleName="Found", columnCount=3, headerHidden=True)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        head = self._list.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column_number in (0, 1):
            head.setSectionResizeMode(column_number, QHeaderView.ResizeMode.Stretch)
        self._list.itemClicked.connect(self._run)
        self._none = label("", tone="soft")
        box = QFrame(objectName="floating")
        box.setMaximumSize(_MOST_SIZE)
        box.setMinimumHeight(min(_MOST_SIZE.height(), window.height() - 2 * _MARGIN))
        column(box, self._field, self._none, self._list, margin=8, gap=6)
        row(self, (None, 0), (box, 1000, TOP), (None, 0), margin=(24, _MARGIN, 24, _MARGIN))
        window.installEventFilter(self)
        self.setGeometry(window.rect())
        self._sift()
        self._reading = window.desk.bridge.submit(resources.load(), self._on_resources)
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_again(self) -> None:
        """Close it, and give the focus back."""
        if self._field.hasFocus() and self._before is not None and self._before.isVisible():
            self._before.setFocus()
        self._reading.cancel()
        self.hide()
        self.deleteLater()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.close_again()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Have the field's keys choose in the list, and follow the window's size."""
        if watched is self._window:
            if event.type() == QEvent.Type.Resize:
                self.setGeometry(self._window.rect())
            return False
        if event.type() == QEvent.Type.FocusOut and self.isActiveWindow() and self.isVisible():
            self.close_again()  # a shortcut has shown another page
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if event.key() == Qt.Key.Key_Escape:
            self.close_again()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if (chosen := self._list.currentItem()) is not None:
                self._run(chosen)
        elif event.key() in _MOVES:
            QApplication.sendEvent(self._list, event)
        else:
            return event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        return True

    def _on_resources(self, found: PlanResources) -> None:
        self._entries += _read(self._window, found)
        self._sift()

    def _sift(self) -> None:
        typed = self._field.text().strip()
        self._list.clear()
        for entry in find(self._entries, typed):
            item = QTreeWidgetItem([entry.text, entry.about or entry.group, entry.keys])
            item.setData(0, Qt.ItemDataRole.UserRole, entry)
            item.setToolTip(1, tip(entry.about))
            item.setSizeHint(0, _ROW)
            self._list.addTopLevelItem(item)
        self._list.setCurrentItem(self._list.topLevelItem(0))
        self._none.setText(f"Nothing matches “{typed}”.")
        self._none.setVisible(self._list.topLevelItemCount() == 0)

    def _run(self, item: QTreeWidgetItem) -> None:
        entry: Entry = item.data(0, Qt.ItemDataRole.UserRole)
        self.close_again()
        entry.run()


def find(entries: Iterable[Entry], typed: str) -> list[Entry]:
    """Return the entries that contain every typed word: first those whose text begins with what
    was typed, then those in which a word begins with it, then the others; the shorter first."""
    typed = typed.casefold()

    def place(entry: Entry) -> tuple[int, int]:
        text = entry.text.casefold()
        begins = 0 if text.startswith(typed) else 1 if f" {typed}" in text else 2
        return begins, len(text) if typed else 0

    found = [
        entry
        for entry in entries
        if all(
            word in f"{entry.text} {entry.about} {entry.group}".casefold() for word in typed.split()
        )
    ]
    return sorted(found, key=place)[:_MOST]


def _entries(window: Any) -> Iterator[Entry]:
    """What is known at once."""
    for name, at in page_registry.ALL.items():
        if at.key or name == "Start":
            yield Entry(at.title or name, "Page", partial(window.show_page, name), "", at.key)
    page, settings = window.shown, window.page("Settings")
    if page is not None:
        yield from _buttons(page, "On this page", lambda: None)
    known = [*actions.WINDOW, *actions.PAGES, *(actions.RUN if window.desk.busy else ())]
    for action in known:
        if action.page or action in actions.WINDOW or hasattr(page, action.method):
            yield Entry(action.text, "Action", partial(window.act, action), "", action.shown_keys)
    for action in actions.SHOWN_ON.get(window.desk.settings.page, ()):
        if page is not None and action.key:
            run = partial(_send, page, action.key)
            yield Entry(action.text, "On this page", run, "", action.shown_keys)
    if settings is not page:
        yield from _buttons(settings, "Settings", partial(window.show_page, "Settings"))
    for session in window.desk.shelf:
        if session.start is not None:
            names = ", ".join(server.name for server in session.start.servers)
            about = one_line(f"{words.when(session.start)} · {session.path.name} · {names}")
            run = partial(window.open, session.path)
            yield Entry(one_line(session.title), "Session", run, about)


def _buttons(page: QWidget, group: str, show: Callable[[], object]) -> Iterator[Entry]:
    """What the buttons of a page do, once it is shown."""

    def press(button: QAbstractButton) -> None:
        show()
        button.click()

    for each in page.findChildren(QAbstractButton):
        # Qt hides all of a page that was never shown.
        chosen = each.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide)
        hidden = chosen and each.isHidden()
        name = each.accessibleName() or each.text()
        if name and each.isEnabled() and not hidden and not each.isChecked():
            yield Entry(name, group, partial(press, each))


def _read(window: Any, found: PlanResources) -> Iterator[Entry]:
    """What has to be read first."""
    desk = window.desk
    for preset in found.presets:
        if preset.plan is not None:
            run = partial(desk.preset_requested.emit, preset)
            about = one_line(preset.plan.description)
            yield Entry(one_line(preset.name), "Preset", run, about)
    for server in found.entries:
        run = partial(window.lead, "Servers", "choose", str(server.folder))
        yield Entry(one_line(server.name), "Server", run, one_line(server.description))
    for machine in found.machines:
        name = "This computer" if machine.connector == "local" else machine.name
        run = partial(window.lead, "Machines", "choose", machine.name)
        yield Entry(name, "Machine", run, machine.address)


def _send(page: QWidget, key: str) -> None:
    pressed = QKeySequence(key)[0]
    QApplication.sendEvent(
        page, QKeyEvent(QEvent.Type.KeyPress, pressed.key(), pressed.keyboardModifiers())
    )
