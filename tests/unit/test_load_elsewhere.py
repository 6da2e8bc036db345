"""Load that another server got is not booked on this one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.evidence import HELD
from workbench.analysis.verdicts import judge
from workbench.remote.generators.locust.naming import place_of


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1:8000/a?b=http://other/", ""),
        ("HTTP://127.0.0.1:8000", ""),
        ("http://localhost:8000/", ""),
        ("http://user:pass@127.0.0.1:8000/", ""),
        ("http://127.0.0.1:8001/", "127.0.0.1:8001"),
        ("https://shop.example/cart", "shop.example:443"),
        ("http://shop.example?page=2", "shop.example:80"),
        ("http://[::1]:99999/", "an invalid URL"),
        ("/a", ""),
    ],
)
def test_where_a_url_leads(url: str, place: str) -> None:
    assert place_of(url, "127.0.0.1", 8000) == place


@pytest.mark.parametrize(
    ("figures", "verdict", "codes"),
    [
        ({"elsewhere": {"a:80": 9}, "requests": 1_000}, "ok", []),
        ({"elsewhere": {"a:80": 11}, "requests": 1_000}, "inconclusive", ["load-went-elsewhere"]),
        ({"uncounted": 1, "requests": 1_000}, "inconclusive", ["hosts-uncounted"]),
        ({"least_cpu_s": 0.3, "server_cpu_pct": 20.0}, "ok", []),
        ({"least_cpu_s": 0.3, "server_cpu_pct": 1.0}, "inconclusive", ["too-little-work"]),
        ({"least_cpu_s": 0.3, "server_cpu_pct": None}, "ok", []),
    ],
)
def test_nothing_is_stated_of_a_server_that_did_not_do_the_work(
    figures: dict[str, Any], verdict: str, codes: list[str]
) -> None:
    found, reasons = judge(replace(HELD, **figures))
    assert (found, [each.code for each in reasons]) == (verdict, codes)
