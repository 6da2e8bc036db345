"""Passes every document to all consumers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from workbench.documents import AnyDocument

Consumer: TypeAlias = Callable[[AnyDocument], object]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Subscription:
    consumer: Consumer
    essential: bool


class Dispatcher:
    """Passes every document to every consumer, essential ones first, in the same order for all.

    A consumer that emits or subscribes while it is called does not disturb the order: its document
    comes after the present one, and its new consumer begins with the next.
    """

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._waiting: list[AnyDocument] = []
        self._emitting = False

    def subscribe(self, consumer: Consumer, *, essential: bool = False) -> Callable[[], None]:
        """Subscribe from the next document on; returns a function that unsubscribes.

        An error in an essential consumer (the recorder) is raised to the emitter; any other
        consumer is dropped at its first error, which is logged.
        """
        subscription = _Subscription(consumer, essential)
        self._subscriptions.append(subscription)
        self._subscriptions.sort(key=lambda s: not s.essential)
        return lambda: self._drop(subscription)

    def emit(self, document: AnyDocument) -> None:
        """Emit a document. Raises an essential consumer's error; no other has seen the document
        then."""
        self._waiting.append(document)
        if self._emitting:
            return
        self._emitting = True
        try:
            while self._waiting:
                self._serve(self._waiting.pop(0))
        finally:
            self._waiting.clear()
            self._emitting = False

    def _serve(self, document: AnyDocument) -> None:
        for subscription in list(self._subscriptions):
            if subscription.essential:
                subscription.consumer(document)
                continue
            try:
                subscription.consumer(document)
            except Exception:
                log.exception("A consumer of documents was dropped: %r", subscription.consumer)
                self._drop(subscription)

    def _drop(self, subscription: _Subscription) -> None:
        self._subscriptions = [s for s in self._subscriptions if s is not subscription]
