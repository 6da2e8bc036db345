"""What a session says about the replies to a plan's own requests."""

from __future__ import annotations

from workbench.workloads.gating import GateResult, answering
from workbench.workloads.wire import Reply

GATED = GateResult(
    server="a",
    passed=True,
    sentences=["It answers 'Pong!' at / with 45 bytes on the wire.", "It keeps connections alive."],
    answers="It answers 'Pong!' at / with 45 bytes on the wire.",
    keep_alive=True,
)


def reply(body: bytes) -> Reply:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    return Reply(head + body, len(head + body), 200, len(head), body, len(body))


def test_of_several_requests_each_has_its_bytes_and_the_network_is_checked_for_the_longest() -> (
    None
):
    found = answering(GATED, {"/": reply(b"Pong!"), "POST /orders": reply(b"x" * 5_000)})
    assert found.sentences == [
        "On the wire its replies are 24 bytes at / and 5,019 bytes at POST /orders.",
        "It keeps connections alive.",
    ]
    assert (found.bytes_on_wire, found.kept_bytes, found.header_bytes) == (5_019, 5_019, 19)
    assert len(found.reply) == 4_096


def test_nothing_of_a_reply_that_may_be_private_is_recorded() -> None:
    found = answering(GATED, {"/account": reply(b"Ada Lovelace")}, private=True)
    assert found.sentences[0] == "On the wire its replies are 31 bytes at /account."
    assert "Ada" not in f"{found}"
