"""Replies of any size and framing, and connections that end with a reset: what any client sees."""

from __future__ import annotations

import pytest
from agents import HTTP, outcome_of

ONCE = {**HTTP, "mode": "closed", "concurrency": 4, "connections": 40}
KEPT = {**ONCE, "connections": 8, "calls_per_connection": 5}


@pytest.mark.parametrize("protocol", ["http/1.0", "http/1.1", "pong"])
def test_a_whole_reply_counts_although_a_reset_follows_it(protocol: str) -> None:
    outcome = outcome_of("resets", **{**ONCE, "protocol": protocol})
    assert (outcome.total("replies"), outcome.errors) == (40, {})


@pytest.mark.parametrize("protocol", ["http/1.0", "http/1.1", "pong"])
def test_a_reset_within_a_reply_is_a_reset_and_no_timeout(protocol: str) -> None:
    outcome = outcome_of("resets", "40", **{**ONCE, "protocol": protocol})
    assert outcome.errors == {"connreset": 40}


def test_a_server_that_answers_before_it_has_read_a_long_request_is_heard() -> None:
    load = {**ONCE, "requests": [{"method": "POST", "path": "/", "body": "x" * 1_000_000}]}
    outcome = outcome_of("resets", **load)
    assert (outcome.total("replies"), outcome.errors) == (40, {})


@pytest.mark.parametrize("chunk", [0, 30, 100, 16_384])
@pytest.mark.parametrize("size", [100_000, 1 << 20, 10 << 20])
def test_long_replies_are_read_whole_one_after_another(size: int, chunk: int) -> None:
    outcome = outcome_of("long", f"{size}/{chunk}", **KEPT)
    assert (outcome.total("replies"), outcome.errors) == (40, {})


def test_why_a_reply_is_malformed_is_told_with_its_line() -> None:
    outcome = outcome_of("odd header", **ONCE)
    assert outcome.errors == {"protocol-malformed": 40}
    assert (
        outcome.reports[0]["faults"]["protocol-malformed"]["why"]
        == "header line b'no header' is not one"
    )
    secret = outcome_of("odd header", **ONCE, private=True)
    assert secret.reports[0]["faults"]["protocol-malformed"]["why"] == ""
