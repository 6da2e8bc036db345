"""A timer that calls back at an instant of the monotonic clock, accurate to a few microseconds."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable
from typing import Any

_CLOCK_MONOTONIC = 1
_TFD_FLAGS = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)
_TFD_TIMER_ABSTIME = 1
_SECOND_NS = 1_000_000_000


class Alarm:
    """A timerfd. The event loop's own timers have a resolution of 1 ms, which alone would make
    connections up to 1 ms late."""

    def __init__(self, loop: Any, callback: Callable[[], None]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_FLAGS)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._settime = libc.timerfd_settime
        self._value = ctypes.create_string_buffer(32)
        self._watcher = loop.io(self._fd, 1)
        self._watcher.start(callback)

    def set(self, at_ns: int) -> None:
        """Call back at `at_ns`, or at once when that has passed; replaces an earlier alarm.

        Setting also resets the descriptor's readiness, so it need not be read.
        """
        seconds, nanoseconds = divmod(max(at_ns, 1), _SECOND_NS)
        struct.pack_into("qqqq", self._value, 0, 0, 0, seconds, nanoseconds)
        self._settime(self._fd, _TFD_TIMER_ABSTIME, self._value, None)

    def close(self) -> None:
        self._watcher.stop()
        self._watcher.close()
        os.close(self._fd)
