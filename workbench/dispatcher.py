"""Passes every document to all consumers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeAlias

from workbench.documents import AnyDocument

Consumer: TypeAlias = Callable[[AnyDocument], object]

log = logging.getLogger(__name__)


class Dispatcher:
    """Passes every document to every consumer, essential ones first. One that a consumer emits
    while it is called, as the recorder does where its file is lost, comes after the present one."""

    def __init__(self) -> None:
        self._essential: list[Consumer] = []
        self._others: list[Consumer] = []
        self._waiting: list[AnyDocument] = []
        """Where any is, the first is being served."""

    def subscribe(self, consumer: Consumer, *, essential: bool = False) -> None:
        """Subscribe from the next document on. An essential consumer's error (the recorder's) is
        raised to the emitter; any other is dropped at its first error, which is logged."""
        (self._essential if essential else self._others).append(consumer)

    def emit(self, document: AnyDocument) -> None:
        """Raises an essential consumer's error; no other has seen the document then."""
        self._waiting.append(document)
        if len(self._waiting) > 1:
            return
        try:
            while self._waiting:
                self._serve(self._waiting[0])
                self._waiting.pop(0)
        finally:
            self._waiting.clear()

    def _serve(self, document: AnyDocument) -> None:
        for consumer in self._essential:
            consumer(document)
        for consumer in list(self._others):
            try:
                consumer(document)
            except Exception:
                log.exception("A consumer of documents was dropped: %r", consumer)
                self._others.remove(consumer)
