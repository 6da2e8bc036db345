"""Addresses of running servers, as plans and the command line name them."""

from __future__ import annotations

import pytest

from workbench.errors import BadInput
from workbench.plan.checks import check
from workbench.plan.reading import plan_from_data, read_plan, to_data
from workbench.servers.address import Running, is_address, parse
from workbench.servers.catalogue import Catalogue


@pytest.mark.parametrize(
    ("text", "host", "port", "path", "authority"),
    [
        ("http://127.0.0.1:8000/items?page=2", "127.0.0.1", 8000, "/items?page=2", None),
        ("http://shop.example", "shop.example", 80, "/", "shop.example"),
        ("https://shop.example:444/a", "shop.example", 444, "/a", "shop.example:444"),
        ("http://[::1]:8000/", "::1", 8000, "/", "[::1]:8000"),
        ("unix:/run/app.sock", "/run/app.sock", 0, "/", "localhost"),
        ("unix:/run/app.sock:/items", "/run/app.sock", 0, "/items", "localhost"),
        ("tcp://127.0.0.1:9000", "127.0.0.1", 9000, "/", None),
    ],
)
def test_an_address_says_where_and_what(
    text: str, host: str, port: int, path: str, authority: str | None
) -> None:
    found = parse(text)
    assert is_address(text)
    assert (found.host, found.port, found.path) == (host, port, path)
    assert authority in (None, found.authority)


@pytest.mark.parametrize(
    "text",
    [
        "ftp://a/",
        "http://",
        "http://user:secret@a/",
        "http://a:99999/",
        "http://a:0/",
        "http://a/b c",
        "http://a/#part",
        "tcp://a",
        "tcp://a:1/path",
        "unix:relative.sock",
        "unix:/run/app.sock:path",
        "http://a/\N{SNOWMAN}",
        "http://a/" + 2_000 * "x",
    ],
)
def test_an_invalid_address_is_an_error(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)


@pytest.mark.parametrize("address", ["http://a/x", "https://a/", "ws://a/", "tcp://a:1", "unix:/a"])
def test_an_address_alone_is_a_plan(address: str) -> None:
    plan = read_plan(address)
    check(plan)
    assert plan.servers == [address]
    assert plan.declared.serves(plan.workload.protocol, Catalogue()[address].protocols)


def test_what_a_plan_says_of_a_server_survives_being_written() -> None:
    about = {"name": "Shop", "process": "unit:shop.service", "insecure": True}
    data = {"servers": ["tornado", {"address": "http://a/", **about}], "rates": [10], "seconds": 1}
    plan = plan_from_data(data, name="Both")
    assert plan.servers == ["tornado", "http://a/"]
    assert plan.running == {"http://a/": Running(**about)}
    assert plan_from_data(to_data(plan), name="Both") == plan


@pytest.mark.parametrize(
    "server",
    [
        {"address": "http://a/", "nme": "Shop"},
        {"address": "http://a/", "process": "812"},
        {"address": "ftp://a/"},
        {"address": 7},
    ],
)
def test_what_no_server_has_is_an_error(server: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        plan_from_data({"servers": [server], "rates": [10], "seconds": 1}, name="Wrong")


def test_the_catalogue_has_no_entry_of_a_running_server_to_check() -> None:
    with pytest.raises(BadInput):
        Catalogue().find("http://a/")
