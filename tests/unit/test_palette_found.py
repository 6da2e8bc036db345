"""What the command palette finds for what is typed."""

from __future__ import annotations

from app.shell.palette_sources import MOST, Entry, find


def nothing() -> None:
    """What an entry of these tests does."""


def entry(text: str, group: str = "Actions", about: str = "") -> Entry:
    return Entry(text, group, nothing, about=about)


LISTED = [
    entry("Run the plan or session shown"),
    entry("Search this page"),
    entry("Export…"),
    entry("Servers", "Pages"),
    entry("Sessions", "Pages"),
    entry("Tornado", "Servers", "A web framework with its own event loop."),
    entry("asyncio streams", "Servers", "Generators of the standard library."),
    entry("Night in the lab", "Sessions", "21 November, 09:02 · tornado, gevent"),
]


def found(typed: str, *recent: Entry) -> list[str]:
    return [each.text for each in find(LISTED, typed, [each.id for each in recent])]


def test_the_start_of_the_text_comes_before_the_start_of_a_word_and_that_before_the_rest() -> None:
    assert found("ser")[0] == "Servers"
    assert found("ses")[0] == "Sessions"
    assert found("torn") == ["Tornado", "Night in the lab"]


def test_starts_of_words_and_letters_of_a_word_are_enough() -> None:
    assert found("stp")[0] == "Search this page"
    assert found("sethi") == ["Search this page"]
    assert found("exrt") == ["Export…"]
    assert found("NITL") == ["Night in the lab"]


def test_every_word_must_match_in_the_text_or_its_description() -> None:
    assert found("night gevent") == ["Night in the lab"]
    assert found("night asyncio") == []
    assert found("zzz") == []


def test_letters_inside_a_description_find_nothing() -> None:
    """Else "tor" would find every server that mentions generators."""
    assert "asyncio streams" not in found("tor")


def test_among_equals_the_last_used_comes_first() -> None:
    assert found("ses")[0] == "Sessions"
    runs = [entry("Socket ping-pong", "Sessions", f"{day} November") for day in range(1, 4)]
    first, *_ = find(runs, "socket", [runs[2].id])
    assert first is runs[2]


def test_groups_stay_together_the_best_first() -> None:
    groups = [each.group for each in find(LISTED, "s")]
    assert groups == sorted(groups, key=groups.index)
    assert groups[0] == "Pages"


def test_thousands_of_sessions_are_cut_to_what_can_be_read() -> None:
    many = [entry(f"Session {n}", "Sessions") for n in range(5000)]
    assert len(find(many, "")) == MOST
    assert [each.text for each in find(many, "4999")] == ["Session 4999"]
