"""Requests of HTTP: what a plan may state, what is sent, and which replies are as wanted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.planning.resources import load
from workbench import metrics
from workbench.analysis.faults import is_fault
from workbench.analysis.usage import Usage
from workbench.cli import main
from workbench.documents import Counts, error_class, server_errors
from workbench.errors import BadInput, ExitCode
from workbench.load.events import RequestPart, TlsPart
from workbench.load.merge import merge_reports
from workbench.machines.secrets import named
from workbench.messages.errors import error_label, unexpected
from workbench.metrics import Measured
from workbench.plan.editing import plan_data
from workbench.plan.library import to_yaml
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan, plan_from_data, with_set
from workbench.remote.agent.parser import ProtocolError, Response
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import Mix, Wanted, http_request
from workbench.remote.agent.tally import Tally
from workbench.servers.catalogue import Catalogue

TWO = [{"path": "/a", "weight": 3}, {"path": "/b", "method": "POST", "body": "x"}]


def plan(**workload: Any) -> Plan:
    data = {"servers": ["go"], "rates": [1000], "seconds": 2}
    return plan_from_data(data | {"workload": {"protocol": "http/1.1", **workload}}, name="p")


def sent(**options: Any) -> bytes:
    return http_request(Load("h", 80, "http", options={"protocol": "http/1.1", **options}))


@pytest.mark.parametrize(
    ("workload", "said"),
    [
        ({"path": "/a\r\nX: 1"}, "workload.path: it must begin with /"),
        ({"headers": {"X": "a\r\nY: b"}}, "workload.headers: the value of X has line breaks"),
        ({"headers": {"X\r\nY": "a"}}, "the header name 'X\\r\\nY' has characters"),
        ({"headers": {"Content-Length": "5"}}, "Content-Length follows from the protocol"),
        ({"headers": {"Authorization": "Bearer x"}}, "give {secret: NAME} in place of the value"),
        ({"headers": {"X-Api-Key": "x"}}, "give {secret: NAME} in place of the value"),
        ({"body": "x" * 65_537}, "the body has 65,537 bytes; a body has at most 65,536."),
        ({"method": "BREW"}, "workload.method: expected DELETE, GET, HEAD, OPTIONS, PATCH, POST"),
        ({"requests": [{"weight": 2}]}, "workload.requests[1]: the key 'path' is missing"),
        ({"requests": [{"path": "/", "weight": 0}]}, "workload.requests[1].weight: expected"),
        ({"requests": [{"path": "/"}, {"path": "b"}]}, "request 2: the path must begin with /"),
        ({"requests": TWO, "path": "/x"}, "workload.path: requests are given, too"),
        (
            {"expect_type": "text/html; charset=utf-8"},
            "expect_type: it must be a media type without",
        ),
        ({"method": "HEAD", "expect_bytes": 5}, "expect_bytes: a reply to HEAD has no body"),
        ({"expect_status": 99}, "workload.expect_status: expected a whole number of at least 200"),
    ],
)
def test_a_wrong_request_is_refused_with_its_key(workload: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        plan(**workload)
    assert said in str(refused.value)


def test_requests_are_set_on_the_command_line_and_saved_as_they_were_written() -> None:
    changed = with_set(plan(), ["requests=[{path: /a, weight: 3}, {path: /b}]"])
    assert changed.declared.requests(changed.workload) == ["/a", "/b"]
    assert "requests:\n  - {path: /a, weight: 3}\n  - {path: /b}" in to_yaml(changed)


def test_a_request_is_sent_as_the_plan_states_it() -> None:
    assert sent() == b"GET / HTTP/1.1\r\nHost: h:80\r\nUser-Agent: pongbench\r\n\r\n"
    made = sent(method="POST", path="/x", headers=[("host", "example"), ("A", "1")], body="ä")
    assert made == (
        b"POST /x HTTP/1.1\r\nUser-Agent: pongbench\r\nhost: example\r\nA: 1\r\n"
        b"Content-Length: 2\r\n\r\n\xc3\xa4"
    )
    assert b"Content-Length: 0\r\n" in sent(method="PUT")


def response(status: int = 200, body: bytes = b"Pong!", kind: str = "text/plain") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("checks", "reply", "failed"),
    [
        ({"text": "ong"}, response(), ""),
        ({"text": "ping"}, response(), "text"),
        ({"status": 404}, response(404), ""),
        ({"status": 404}, response(), "200"),
        ({"type": "Text/Plain"}, response(kind="text/plain; charset=utf-8"), ""),
        ({"type": "application/json"}, response(), "type"),
        ({"bytes": 5}, response(), ""),
        ({"bytes": 0}, response(), "length"),
    ],
)
def test_a_check_of_the_plan_is_about_one_call(
    checks: dict[str, Any], reply: bytes, failed: str
) -> None:
    wanted = Wanted({"checks": checks})
    for _ in range(2):
        assert judged(wanted, reply).failed == failed
    assert (reply in wanted.replies) == (not failed)


def test_a_status_that_the_plan_does_not_state_is_the_servers_fault() -> None:
    with pytest.raises(ProtocolError) as error:
        judged(Wanted({"checks": {"text": "x"}}), response(503))
    assert error.value.kind == "503"


def test_a_reply_to_head_has_no_body() -> None:
    wanted = Wanted({"status": 200, "body": "Pong!"}, "HEAD")
    head = response().partition(b"Pong!")[0]
    assert judged(wanted, head).status == 200


def judged(wanted: Wanted, reply: bytes) -> Response:
    """A reply that comes at once on a connection that stays open."""
    if found := wanted.known(reply, closed=False):
        return found
    parser = wanted.parser()
    assert parser.feed(reply) == len(reply)
    return wanted.judge(parser, reply)


def test_a_failed_check_has_an_error_class_of_its_own() -> None:
    assert error_class("check-text") == "check"
    assert server_errors({"check-text": 3, "check-404": 1}) == 4
    assert is_fault("check-404")
    assert error_label("check-404") == "failed check: 404"
    assert unexpected("check-text", 0, 1) == "fails the plan's check of the text"
    assert unexpected("check-locustfile", 0, 1) == "fails the locustfile's own checks"


def requests(seed: int, share: int = 0) -> list[bytes]:
    each = [{"path": "/a", "weight": 30}, {"path": "/b", "weight": 10}]
    load = Load("h", 80, "http", options={"requests": each}, seed=seed, share=share, shares=2)
    mix = Mix.of(load, Tally())
    assert mix is not None
    return [call.request.split()[1] for call in mix.draw(400)]


def test_a_mix_is_reproducible_and_has_exact_shares() -> None:
    assert requests(1) == requests(1)
    assert requests(1) != requests(2)
    assert requests(1) != requests(1, share=1)
    assert Counter(requests(1)) == {b"/a": 300, b"/b": 100}
    assert Counter(requests(1)[:100]) == {b"/a": 75, b"/b": 25}


def test_results_of_each_request_are_metrics() -> None:
    several = plan(requests=TWO)
    labels = several.declared.requests(several.workload)
    assert [m.label for m in metrics.records(labels)][:4] == [
        "Replies of /a",
        "Replies of POST /b",
        "p50 of /a",
        "p50 of POST /b",
    ]
    report = replace(
        merge_reports([], []),
        schedule_s=2.0,
        counts=Counts(scheduled=425, unsent=0, sent=425, late=0, established=0, succeeded=400),
        requests=[
            RequestPart(replies=300, failed=0, latency=[1000, 300]),
            RequestPart(replies=100, failed=25, latency=[1500, 100]),
        ],
    )
    found = metrics.values(Measured(report, [], Usage(), answered_per_s=200.0), labels)
    assert found["request_1_replies_per_s"] == 150.0
    assert found["request_2_p50_ms"] == pytest.approx(1.5, rel=0.01)
    assert found["request_2_mean_ms"] == pytest.approx(found["request_2_p50_ms"], rel=0.02)
    assert found["request_1_errors_pct"] == 0.0
    assert found["request_2_errors_pct"] == 20.0


def test_errors_of_http_are_split_as_wrk_has_them() -> None:
    several = plan(requests=TWO)
    assert several.declared.statuses
    recorded = {metric.key: metric.label for metric in metrics.records(statuses=True)}
    lost = {
        "client-timo": 30,
        "socket-timo": 10,
        "connreset": 5,
        "other-read": 3,
        "protocol-closed": 2,
        "protocol-503": 15,
        "check-404": 5,
        "protocol-body": 100,  # of no kind
        "tls-closed": 30,
    }
    kinds = "timeouts_pct", "socket_errors_pct", "status_errors_pct"
    assert set(kinds) <= set(recorded)

    def split(errors: dict[str, int]) -> list[float | None]:
        report = merge_reports([], [])
        calls = {"scheduled": 1_000, "unsent": 0, "sent": 1_000, "late": 0, "established": 100}
        report = replace(report, counts=Counts(**calls, succeeded=800, errors=errors))
        found = metrics.values(Measured(report, [], Usage(), statuses=True))
        return [found[kind] for kind in kinds]

    assert split(lost) == [4.0, 1.0, 2.0]
    # Where nothing failed there is nothing to split, and no column.
    assert split({}) == [None, None, None]


def test_the_share_of_resumed_handshakes_is_known_where_any_were_made() -> None:
    def share(tls: TlsPart | None = None) -> float | None:
        report = replace(merge_reports([], []), tls=tls)
        return metrics.values(Measured(report, [], Usage()))["tls_resumed_pct"]

    version = {"version": "TLSv1.3", "cipher": "TLS_AES_256_GCM_SHA384"}
    assert share(TlsPart(**version, handshakes=40, resumed=30)) == 75.0
    assert share(TlsPart(**version, handshakes=40, resumed=0)) == 0.0
    assert share(TlsPart(**version, handshakes=0, resumed=0)) is None
    assert share() is None


def test_an_empty_list_of_requests_in_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text(
        "servers: [go]\nrates: [100]\nseconds: 2\nworkload: {protocol: http/1.1, requests: []}\n"
    )
    with pytest.raises(BadInput, match=r"requests: the list is empty; name at least one"):
        load_plan(file)


async def test_a_missing_secret_is_named_while_the_plan_is_edited() -> None:
    headers = {"Authorization": {"secret": "SHOP"}}
    found = await (await load()).examine(plan_data(plan(headers=headers)))
    # Where Go is missing, that is another one.
    assert any("PONGBENCH_SECRET_SHOP" in warning.text() for warning in found.warnings)


def test_a_missing_secret_is_named_by_the_preview(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "shop.yaml"
    file.write_text(to_yaml(plan(headers={"Authorization": {"secret": "SHOP"}})))
    assert main(["run", str(file), "--preview"]) == ExitCode.BAD_INPUT
    told = capsys.readouterr()
    assert "Takes" in told.out
    assert "The secret SHOP is missing; set the environment" in told.err


async def test_a_secret_comes_from_the_environment_and_is_in_no_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = plan(headers={"Authorization": {"secret": "SHOP"}})
    assert one.declared.secrets(one.workload) == {"SHOP"}
    with pytest.raises(BadInput, match="set the environment variable PONGBENCH_SECRET_SHOP"):
        await named(["SHOP"])
    monkeypatch.setenv("PONGBENCH_SECRET_SHOP", "a\nb")
    with pytest.raises(BadInput, match="line breaks"):
        await named(["SHOP"])
    monkeypatch.setenv("PONGBENCH_SECRET_SHOP", "Bearer x")
    driven = one.declared.driven(one.workload, await named(["SHOP"]))
    assert driven["headers"] == [("Authorization", "Bearer x")]
    assert driven["private"]


def test_failures_of_tls_are_a_class_of_the_server() -> None:
    assert error_class("tls-certificate-verify-failed") == "tls"
    assert server_errors({"tls-closed": 2}) == 2
    assert error_label("tls-closed") == "TLS failure: closed"


def test_https_needs_a_server_that_terminates_tls() -> None:
    one = plan(tls="full")
    catalogue = Catalogue.load()
    assert one.declared.unfit(one.workload, catalogue["waitress"]).startswith(
        "Waitress does not terminate"
    )
    assert not one.declared.unfit(one.workload, catalogue["uvicorn"])
    assert [one.declared.suits(one.workload, catalogue[s]) for s in ("go", "waitress")] == [
        True,
        False,
    ]
