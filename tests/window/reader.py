"""What a screen reader knows of a window: AT-SPI, read through libatspi as Orca reads it.

The library is called by ctypes: its binding for Python would have to match the system's Python.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_void_p
from typing import Any

LIBRARY = "libatspi.so.0"
LAUNCHER = "/usr/libexec/at-spi-bus-launcher"
_FOCUSED, _SHOWING = 12, 25
"""Of `AtspiStateType`."""
_TIMEOUT_MS = 60_000
_NO_CACHE = 0


class _Event(Structure):
    """The begin of `AtspiEvent`."""

    _fields_ = (("type", c_char_p), ("source", c_void_p), ("detail1", c_int), ("detail2", c_int))


_CALLBACK = ctypes.CFUNCTYPE(None, POINTER(_Event), c_void_p)


@contextmanager
def bus() -> Iterator[str]:
    """The address of a session bus of its own; the accessibility bus starts with its first use."""
    reading, writing = os.pipe()
    daemon = subprocess.Popen(
        ["dbus-daemon", "--session", "--nofork", f"--print-address={writing}"],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as stream:
        address = stream.readline().strip()
    try:
        yield address
    finally:
        daemon.terminate()
        daemon.wait()


class Reader:
    """One for a process: libatspi finds its bus once. Every focus that it hears of is in `stops`,
    as role and name.
    """

    def __init__(self) -> None:
        self._atspi = ctypes.CDLL(LIBRARY)
        self._glib = ctypes.CDLL("libglib-2.0.so.0")
        self._glib.g_main_context_iteration.argtypes = [c_void_p, c_int]
        self.stops: list[tuple[str, str]] = []
        self._atspi.atspi_init()
        self._atspi.atspi_set_timeout(_TIMEOUT_MS, _TIMEOUT_MS)
        self._heard = _CALLBACK(self._on_focus)  # as long as it may be called
        listener = self._call("event_listener_new", c_void_p, self._heard, None, None)
        name = b"object:state-changed:focused"
        assert self._asked("event_listener_register", c_bool, c_void_p(listener), name)

    def hear(self) -> list[tuple[str, str]]:
        """Return `stops`, with what has come meanwhile."""
        while self._glib.g_main_context_iteration(None, 0):
            pass
        return self.stops

    def read(self) -> list[tuple[str, str]]:
        """Return role and name of everything that is to be seen in all windows, in their order."""
        return [self._named(part) for part in self._seen()]

    def focused(self) -> list[str]:
        """Return the name of what has the focus now; of a list, then that of its current item."""
        return [self._named(part)[1] for part in self._seen() if self._is(part, _FOCUSED)]

    def _seen(self) -> Iterator[int]:
        self.hear()
        for program in self._children(self._call("get_desktop", c_void_p, 0)):
            self._call("accessible_set_cache_mask", None, c_void_p(program), _NO_CACHE)
            yield from self._below(program)

    def _below(self, parent: int) -> Iterator[int]:
        for child in self._children(parent):
            # Cells that are out of sight are reached through their table.
            if self._is(child, _SHOWING) or self._named(child)[0] == "table cell":
                yield child
                yield from self._below(child)

    def _is(self, part: int, state: int) -> bool:
        states = self._call("accessible_get_state_set", c_void_p, c_void_p(part))
        return bool(states and self._call("state_set_contains", c_bool, c_void_p(states), state))

    def _children(self, parent: int) -> Iterator[int]:
        for place in range(self._asked("accessible_get_child_count", c_int, c_void_p(parent))):
            if child := self._asked(
                "accessible_get_child_at_index", c_void_p, c_void_p(parent), place
            ):
                yield child

    def _on_focus(self, event: Any, _: object) -> None:
        if event.contents.detail1 and event.contents.source:
            self.stops.append(self._named(event.contents.source))

    def _named(self, part: int) -> tuple[str, str]:
        role, name = (
            self._asked(f"accessible_get_{what}", c_char_p, c_void_p(part)) or b""
            for what in ("role_name", "name")
        )
        return role.decode(), name.decode()

    def _asked(self, name: str, kind: Any, *given: object) -> Any:
        """Of what is gone meanwhile, it returns None, -1 or nothing."""
        return self._call(name, kind, *given, byref(c_void_p()))

    def _call(self, name: str, kind: Any, *given: object) -> Any:
        function = getattr(self._atspi, f"atspi_{name}")
        function.restype = kind
        return function(*given)
