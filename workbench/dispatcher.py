"""One document, every consumer."""

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
    """Hands every document to every consumer, essential ones first, in one order for all.

    A consumer that emits or subscribes while it is being served does not disturb the order: its
    document comes after the present one, its consumer begins with the next.
    """

    def __init__(self) -> None:
        self._subscriptions: list[_Subscription] = []
        self._waiting: list[AnyDocument] = []
        self._emitting = False

    def subscribe(self, consumer: Consumer, *, essential: bool = False) -> Callable[[], None]:
        """From the next document on; the answer ends it.

        An error in an essential consumer (the recorder) reaches whoever emits; any other
        consumer is dropped at its first error, which is logged.
        """
        subscription = _Subscription(consumer, essential)
        self._subscriptions.append(subscription)
        self._subscriptions.sort(key=lambda s: not s.essential)
        return lambda: self._drop(subscription)

    def emit(self, document: AnyDocument) -> None:
        """Raises what an essential consumer raises; nobody else has seen that document then."""
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
