"""What differs between the sessions of a comparison: set-up, workload, trust, published figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.comparisons import RATES, changed, said_of, side
from tests.synthetic import contestants, session
from workbench.analysis.published import figures_of, question_of, sources
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, PointStop, RunStart
from workbench.results.comparison import compare
from workbench.results.conditions import conditions
from workbench.results.differences import difference_text
from workbench.results.render.data import of_session
from workbench.results.setup import Setup


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"facts": {"kernel": "Linux 5.10.0-32"}},
            "Kernel of the target: A Linux 6.1.0-41-amd64, B Linux 5.10.0-32.",
        ),
        ({"facts": {"cpu_count": 2}}, "Cores of the target: A 4, B 2."),
        ({"backlog": 128}, "Backlog in force: A 512, B 128."),
        ({"plan": {"seconds": 5.0}}, "Point length: A 2 s, B 5 s."),
        ({"plan": {"nofile": 1024}}, "Descriptor limit: A 20,000, B 1,024."),
        ({"workload": {"timeout_s": 2.0}}, "Timeout: A 5 s, B 2 s."),
        ({"version": "uvloop 9"}, "Version of asyncio streams: A CPython 3.11.7, B uvloop 9."),
    ],
    ids=["kernel", "cores", "backlog", "length", "descriptors", "timeout", "version"],
)
def test_differences_are_named_with_both_values(change: dict[str, Any], text: str) -> None:
    differing, warnings = said_of(session(1), changed(session(1), **change))
    assert differing == [text]
    assert warnings


def test_a_session_that_other_programs_disturbed_did_not_have_the_same_conditions() -> None:
    rates = [1000.0 * n for n in range(1, 13)]

    def taking(pct: float, *, above: float = 7000) -> list[AnyDocument]:
        def taken(stop: PointStop) -> dict[str, float]:
            return {"others_cpu_pct": pct if stop.rate_per_s > above else 0.0}

        return [
            msgspec.structs.replace(d, evidence=taken(d)) if isinstance(d, PointStop) else d
            for d in session(1, rates=rates)
        ]

    differing, warnings = said_of(taking(3.0), taking(153.0))
    assert differing == [
        "Background load: A took next to no CPU, B took up to 153 % of a core, at 5 of 12 points."
    ]
    assert warnings[-1].startswith("Differences between sessions may come from their set-up")
    # A single difference is listed and is not a different set-up.
    differing, warnings = said_of(taking(3.0), taking(36.0, above=11_000))
    assert differing == [
        "Background load: A took next to no CPU, B took up to 36 % of a core, at 1 of 12 points."
    ]
    assert not any("set-ups" in warning for warning in warnings)


def test_failed_audits_are_listed_with_what_they_taint_in_each_session() -> None:
    def taking(pct: float) -> list[AnyDocument]:
        taken = {"others_cpu_pct": pct}
        return [
            msgspec.structs.replace(d, evidence=taken) if isinstance(d, PointStop) else d
            for d in session(1, rates=RATES)
        ]

    def audits(*documents: list[AnyDocument]) -> list[str]:
        sides = [side(tag, each) for tag, each in zip("AB", documents, strict=True)]
        return [audit.text for audit in conditions(sides).audits]

    failed = f"{len(RATES)} points of asyncio streams"
    (one,) = audits(taking(3.0), taking(153.0))
    assert one == f"Audit failed in B: quiet host: A passed, B {failed}."
    (both,) = audits(taking(153.0), taking(153.0))
    assert both == f"Audit failed in A and B: quiet host: A {failed}, B {failed}."
    assert not audits(session(1), session(2))


def test_the_reason_for_no_difference_names_what_was_seen_above() -> None:
    message = "The sustained rates of asyncio streams and asyncio Protocol cannot be compared: "
    small = [replace(each, capacity_per_s=1e6) for each in contestants(2)]
    for documents, why in (
        (session(small, rates=RATES), "the limit was not reached."),
        (
            session(2, rates=RATES, untrusted_from=2000.0),
            "no reliable point of either shows a limit.",
        ),
    ):
        a, b = side("A", documents).contenders
        between = compare([side("A", documents)]).difference(a, b)
        assert difference_text(a, b, between, tagged=False) == message + why


def test_a_kernel_setting_that_differs_is_named() -> None:
    one, other = ({"sysctls": {"net.core.somaxconn": n}} for n in (4096, 128))
    differing, _ = said_of(changed(session(1), facts=one), changed(session(1), facts=other))
    assert differing == ["net.core.somaxconn of the target: A 4096, B 128."]


def test_servers_that_agreed_on_different_versions_of_tls_are_named() -> None:
    def over(version: str) -> list[AnyDocument]:
        start, *others = session(1)
        assert isinstance(start, RunStart)
        servers = [
            msgspec.structs.replace(each, gate=each.gate | {"tls": version})
            for each in start.servers
        ]
        return [msgspec.structs.replace(start, servers=servers), *others]

    documents = over("TLSv1.3, A")
    assert [each["tls"] for each in of_session(summarise(documents))["servers"].values()] == [
        "TLSv1.3, A"
    ]
    start = documents[0]
    assert isinstance(start, RunStart)
    start = msgspec.structs.replace(
        start, plan={"workload": {"protocol": "http/1.1", "tls": "full"}}
    )
    assert Setup(start).protocol == "HTTP/1.1, full TLS handshakes, TLS 1.3 with A"
    stays = {"calls_per_connection": 13, "think_time_s": 0.75, "think_times": "exponential"}
    start = msgspec.structs.replace(start, plan={"workload": stays})
    assert Setup(start).calls == "13 calls per connection, think time 0.75 s on average"
    name = next(iter(summarise(documents).servers.values())).name
    differing, _ = said_of(documents, over("TLSv1.2, B"))
    assert differing == [f"TLS of {name}: A TLSv1.3, A, B TLSv1.2, B."]


def test_a_different_workload_is_listed_before_a_different_set_up() -> None:
    other = changed(
        session(1),
        facts={"kernel": "Linux 5.10"},
        workload={"protocol": "http/1.1"},
        plan={"repeats": 3},
    )
    differing, warnings = said_of(session(1), other)
    assert [text.partition(":")[0] for text in differing] == [
        "Protocol",
        "Kernel of the target",
        "Passes",
    ]
    assert warnings == (
        "Not comparable: the sessions measured different workloads (protocol). A difference is not"
        " one between servers.",
    )


def test_rates_that_count_different_things_are_warned_of_and_not_subtracted() -> None:
    requests = changed(session(1), plan={"rate_of": "requests"})
    _, warnings = said_of(session(1), requests)
    assert warnings[0].startswith("Not comparable: A counts connections, B counts requests.")
    found = compare([side("A", session(1)), side("B", requests)])
    assert [c.tag for c in found.comparable()] == ["A"]
    assert found.difference(*found.contenders) is None


def test_the_same_session_twice_has_no_differences_and_is_reported() -> None:
    found = conditions([side("A", session(2)), side("B", session(2))])
    reported = ("A and B are the same session; keep one of them.",)
    assert (found.differing, found.warnings) == ([], reported)
    assert found.same_text().startswith("The same: point length, CPU, cores, kernel and ")


def test_what_an_old_session_did_not_record_is_no_difference() -> None:
    old = session(1)
    assert isinstance(old[0], RunStart)
    (machine,) = old[0].machines
    bare = msgspec.structs.replace(machine, facts={})
    old[0] = msgspec.structs.replace(old[0], machines=[bare])
    assert said_of(session(1), old) == ([], ())


def test_published_figures_are_compared_only_with_the_same_workload() -> None:
    plan = session(1)[0].plan  # type: ignore[union-attr]
    assert [each.at for each in figures_of(plan, ["tornado"])] == [7400]
    assert not figures_of(plan, ["circuits"])[0].at, "that entry uses epoll, that of 2009 did not"
    assert not figures_of(plan | {"workload": {"protocol": "http/1.1"}}, ["tornado"])
    asked = plan | {"source": "gasc-2015-slow-db", "workload": {"mode": "open", "path": "/agents"}}
    assert [each.mean_ms for each in figures_of(asked, ["flask"])] == [18.74]
    assert question_of(asked | {"workload": {"mode": "closed", "path": "/agents"}}) is None
    assert len(sources()) >= 4
