"""What the command palette lists, from what the window and its pages offer, and how it is found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QWidget

from app import actions, page_registry, scale, words
from app.actions import Action
from workbench.untrusted import one_line

if TYPE_CHECKING:
    from app.pages.machines import MachinesPage
    from app.pages.plan import PlanPage
    from app.pages.servers import ServersPage
    from app.planning.resources import PlanResources
    from app.shell.paged_window import PagedWindow
    from workbench.plan.library import Preset
    from workbench.sessions.library import Shelved

HERE, ACTIONS, PAGES, SETTINGS = "On this page", "Actions", "Pages", "Settings"
SESSIONS, PRESETS, SERVERS, MACHINES = "Sessions", "Presets", "Servers", "Machines"
_COLOURS = ("system", "dark", "light")
_WORD = re.compile(r"[^\W_]+")
MOST = 60
"""Entries shown at once; whoever looks for another one types on."""


@dataclass(frozen=True)
class Entry:
    """One line of the palette."""

    text: str
    group: str
    run: Callable[[], object]
    icon: str = "arrow-right"
    about: str = ""
    """Shown beside the text, and searched after it."""
    keys: str = ""

    @property
    def id(self) -> str:
        """Return a key by which it is remembered."""
        return f"{self.group}/{self.text}/{self.about}"


def entries(window: PagedWindow, resources: PlanResources | None) -> list[Entry]:
    """Return what can be done now. `resources`: None until servers and presets are read."""
    found = [
        *_on_page(window),
        *_actions(window),
        *_pages(window),
        *_elsewhere(window),
        *_settings(window),
        *_sessions(window),
    ]
    if resources is not None:
        found += [*_presets(window, resources), *_servers(window, resources)]
        found += _machines(window, resources)
    return found


def press(page: QWidget, name: str) -> bool:
    """Press the button of a page with this accessible name, if it can be pressed."""
    for each in page.findChildren(QAbstractButton):
        if each.accessibleName() == name and _can_press(each):
            each.click()
            return True
    return False


def _can_press(button: QAbstractButton) -> bool:
    return button.isVisible() and button.isEnabled()


def _on_page(window: PagedWindow) -> Iterator[Entry]:
    """What the shown page offers: its buttons, and the keys without one."""
    page = window.shown
    if page is None:
        return
    seen = {action.text for action in (*actions.WINDOW, *actions.PAGES)}
    for each in page.findChildren(QPushButton):
        name, icon = each.accessibleName(), each.property("icon_name")
        if (icon or each.text()) and name and name not in seen and _can_press(each):
            seen.add(name)
            yield Entry(name, HERE, partial(press, page, name), icon or "arrow-right")
    for action in actions.SHOWN_ON.get(window.desk.settings.page, ()):
        if action.key and action.text not in seen:
            seen.add(action.text)
            yield _entry(action, HERE, partial(_send, page, action.key))


def _actions(window: PagedWindow) -> Iterator[Entry]:
    for action in actions.PAGES:
        # While a run is in progress, that is what is stopped.
        stops = action.method == "press_stop"
        can = action.page or hasattr(window.shown, action.method)
        if can and not (stops and (window.desk.busy or window.shown is window.live)):
            yield _entry(action, ACTIONS, partial(window.act, action))
    if window.desk.busy:
        for action in actions.RUN:
            yield _entry(action, ACTIONS, partial(_steer, window, action))
    history = window.history
    steps = {"undo": history and history.latest, "redo": history and history.next, "find": None}
    for action in actions.WINDOW:
        step = steps.get(action.method)
        if step is not None or action.method not in steps:
            about = step.text if step else ""
            yield _entry(action, ACTIONS, partial(window.act, action), about)


def _pages(window: PagedWindow) -> Iterator[Entry]:
    for name, place in page_registry.ALL.items():
        if place.key or name == "Start":
            icon = place.icon or "arrow-right"
            yield Entry(
                place.title or name, PAGES, partial(window.show_page, name), icon, "", place.key
            )


def _elsewhere(window: PagedWindow) -> Iterator[Entry]:
    """Buttons of pages that are not shown."""
    for page, place in page_registry.ALL.items():
        if window.desk.settings.page != page:
            for name in place.offers:
                run = partial(_show_and_press, window, page, name)
                yield Entry(name, ACTIONS, run, place.icon or "arrow-right", page)


def _show_and_press(window: PagedWindow, page: str, name: str) -> None:
    window.show_page(page)
    press(window.page(page), name)


def _settings(window: PagedWindow) -> Iterator[Entry]:
    desk = window.desk

    def colours(name: str) -> None:
        desk.settings.colours = name
        desk.theme_changed.emit()

    def calm(on: bool) -> None:
        desk.settings.calm = on
        desk.calm_changed.emit(on)

    for name in _COLOURS:
        if name != desk.settings.colours:
            icon = {"dark": "moon", "light": "sun"}.get(name, "monitor")
            yield Entry(f"Colours: {name}", SETTINGS, partial(colours, name), icon)
    if desk.settings.calm:
        yield Entry("Animate the running point", SETTINGS, partial(calm, False), "activity")
    else:
        yield Entry("Reduce motion", SETTINGS, partial(calm, True), "activity")
    for percent in scale.SIZES:
        if percent != desk.settings.size:
            name = f"Text size: {percent} %"
            run = partial(_show_and_press, window, "Settings", name)
            yield Entry(name, SETTINGS, run, "settings", "and of controls")


def _sessions(window: PagedWindow) -> Iterator[Entry]:
    def about(session: Shelved) -> str:
        servers = session.start.servers if session.start else ()
        names = ", ".join(server.name for server in servers)
        return " · ".join(filter(None, (words.when(session.start), session.path.name, names)))

    for session in window.desk.shelf:
        if session.start is not None:
            run = partial(window.open, session.path)
            yield Entry(one_line(session.title), SESSIONS, run, "film", one_line(about(session)))


def _presets(window: PagedWindow, resources: PlanResources) -> Iterator[Entry]:
    for preset in resources.presets:
        if preset.plan is not None:
            run, about = partial(_take, window, preset), preset.plan.description
            yield Entry(one_line(preset.name), PRESETS, run, "list-checks", one_line(about))


def _servers(window: PagedWindow, resources: PlanResources) -> Iterator[Entry]:
    for entry in resources.entries:
        run = partial(_choose, window, "Servers", str(entry.folder))
        yield Entry(one_line(entry.name), SERVERS, run, "server", one_line(entry.description))


def _machines(window: PagedWindow, resources: PlanResources) -> Iterator[Entry]:
    for machine in resources.machines:
        local = machine.connector == "local"
        name = "This computer" if local else machine.name
        run = partial(_choose, window, "Machines", machine.name)
        yield Entry(name, MACHINES, run, "monitor", machine.address)


def _steer(window: PagedWindow, action: Action) -> None:
    window.show_page(action.page)
    getattr(window.live, action.method)()


def _take(window: PagedWindow, preset: Preset) -> None:
    page: PlanPage = window.page("Plan")  # type: ignore[assignment]
    page.take(preset)
    window.show_page("Plan")


def _choose(window: PagedWindow, name: str, key: str) -> None:
    """Show a server or a machine on its page."""
    page: ServersPage | MachinesPage = window.page(name)  # type: ignore[assignment]
    page.choose(key)
    window.show_page(name)


def _entry(action: Action, group: str, run: Callable[[], object], about: str = "") -> Entry:
    return Entry(action.text, group, run, action.icon, about, action.shown_keys)


def _send(page: QWidget, key: str) -> None:
    """Press a key on a page."""
    pressed = QKeySequence(key)[0]
    QApplication.sendEvent(
        page, QKeyEvent(QEvent.Type.KeyPress, pressed.key(), pressed.keyboardModifiers())
    )


def find(entries: Iterable[Entry], typed: str, recent: Sequence[str] = ()) -> list[Entry]:
    """Return the entries that contain every typed word: the groups of the best first, within a
    group the best first. `recent`: ids of those run last, latest first; they win a tie,
    then the shorter one does.
    """
    rank = {id_: place for place, id_ in enumerate(recent)}
    words = typed.casefold().split()
    found = []
    for place, entry in enumerate(entries):
        score = _score(entry, words)
        if score is not None:
            length = len(entry.text) if words else 0
            found.append((score, rank.get(entry.id, len(rank)), length, place, entry))
    found.sort(key=lambda each: each[:4])
    order: dict[str, int] = {}
    for *_, entry in found[:MOST]:
        order.setdefault(entry.group, len(order))
    return sorted((each[4] for each in found[:MOST]), key=lambda entry: order[entry.group])


def _score(entry: Entry, words: Sequence[str]) -> int | None:
    """Return how well the words match, 0 best; None: one of them is not there."""
    total = 0
    text, beside = entry.text.casefold(), f"{entry.about} {entry.group}".casefold()
    for word in words:
        score = _match(text, word)
        if score is None:
            other = _match(beside, word)
            if other is None or other > _WORD_START:
                return None
            score = _BESIDE + other
        total += score
    return total


_START, _WORD_START, _PIECES, _INSIDE, _SCATTERED, _BESIDE = range(6)


def _match(text: str, word: str) -> int | None:
    if text.startswith(word):
        return _START
    words = _WORD.findall(text)
    if _begins_in(text, word):
        return _WORD_START
    if _in_pieces(words, word):
        return _PIECES
    if word in text:
        return _INSIDE
    return _SCATTERED if any(_scattered(each, word) for each in words) else None


def _begins_in(text: str, typed: str) -> bool:
    """Whether it stands where a word begins, with marks in or before it: "nine.pong", ".yaml"."""
    before = r"(?<![^\W_])" if typed[0].isalnum() else ""
    return re.search(before + re.escape(typed), text) is not None


def _in_pieces(words: Sequence[str], typed: str) -> bool:
    """Whether it consists of starts of words in their order: "opse" is in "open a session"."""
    for place, word in enumerate(words):
        for length in range(1, len(typed) + 1):
            if not word.startswith(typed[:length]):
                break
            if length == len(typed) or _in_pieces(words[place + 1 :], typed[length:]):
                return True
    return False


def _scattered(word: str, typed: str) -> bool:
    """Whether the word begins with the first letter, and the others follow in their order."""
    rest = iter(word)
    return word[0] == typed[0] and all(letter in rest for letter in typed)
