"""Several requests with weights, in an order that is random and reproducible."""

from __future__ import annotations

import math
import random
from typing import Any

from .protocol import Load
from .request import http_request
from .tally import RequestTally, Tally
from .wanted import Wanted

_LEAST = 100
"""Calls in which the shares of the requests are exact, at least."""


class Call:
    """One of several requests, the reply that it is to get, and its results."""

    __slots__ = ("request", "tally", "wanted")

    def __init__(self, request: bytes, wanted: Wanted) -> None:
        self.request = request
        self.wanted = wanted
        self.tally = RequestTally()


class Mix:
    """Draws requests from a shuffled deck, in which each occurs by its weight.

    So the shares are exact over every deck, and a worker's n-th call is the same request in every
    run with the same seed, for every server.
    """

    def __init__(self, calls: list[Call], weights: list[int], seed: str) -> None:
        common = math.gcd(*weights)
        deck: list[Call] = []
        for call, weight in zip(calls, weights, strict=True):
            deck += [call] * (weight // common)
        self._deck = deck * -(-_LEAST // len(deck))
        self._left: list[Call] = []
        self._random = random.Random(seed).random

    @classmethod
    def of(cls, load: Load, tally: Tally) -> Mix | None:
        """Return the mix of a load; None: it has one request. Registers the requests' results."""
        requests: list[dict[str, Any]] = load.options.get("requests", [])
        if not requests:
            return None
        replies = load.reply.get("each") or [{}] * len(requests)
        calls = [
            Call(http_request(load, each), Wanted(reply, each.get("method", "GET")))
            for each, reply in zip(requests, replies, strict=True)
        ]
        tally.requests = [call.tally for call in calls]
        weights = [each.get("weight", 1) for each in requests]
        return cls(calls, weights, f"{load.seed}/{load.share}/{load.shares}/requests")

    def draw(self, count: int) -> list[Call]:
        """Return the next requests."""
        return [self._next() for _ in range(count)]

    def _next(self) -> Call:
        left = self._left
        if not left:
            left.extend(self._deck)
        place = int(self._random() * len(left))
        left[place], left[-1] = left[-1], left[place]
        return left.pop()
