"""CPU profiles in the HTML report: graphs without scripts, whatever functions are called."""

from __future__ import annotations

from xml.etree import ElementTree

from tests.canary import SONG, heard
from tests.synthetic import session
from workbench.documents import AnyDocument
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.messages.outcomes import Profile
from workbench.results.render.html import Drawing, flame_svg, render

FRAMES = ["main (server.py)", "send (socket.py)", "recv (socket.py)", "rare"]
STACKS = [700, 2, 0, 1, 299, 2, 0, 2, 1, 2, 0, 3]
DENIED = notice("not-profiled", name="gevent", tool="py-spy", machine="h1", why="denied")


def a_profile(frames: list[str] = FRAMES) -> Profile:
    return Profile(
        name="asyncio streams", tool="py-spy 0.4.3", x=4_000.0, seconds=5.0, samples=1_000,
        frames=frames, stacks=STACKS,
    )  # fmt: skip


def page(*profiles: tuple[str, Profile | Stated]) -> str:
    documents: list[AnyDocument] = list(session(3, 4))
    noted = [found.note(10**9, server=server) for server, found in profiles]
    return render([*documents[:-1], *noted, documents[-1]], Drawing())


def test_every_box_shows_its_share_and_the_narrowest_are_left_out() -> None:
    root = ElementTree.fromstring(flame_svg(a_profile()))
    titles = [each.text for each in root.iter("title")]
    assert titles == [
        "all: 100.0 % (1,000), itself 0 %",
        "main (server.py): 100.0 % (1,000), itself 0 %",
        "send (socket.py): 70.0 % (700), itself 70.0 %",
        "recv (socket.py): 29.9 % (299), itself 29.9 %",
        "rare: 0.1 % (1), itself 0.1 %",
    ]
    many = [n for _ in range(4_000) for n in (1, 1, 0)]
    wide = Profile(
        name="a", tool="t", x=1.0, seconds=1.0, samples=8_000, frames=["f", "g"],
        stacks=[*many, 3_999, 1, 0, 1, 1, 1],
    )  # fmt: skip
    drawn = ElementTree.fromstring(flame_svg(wide)).iter("title")
    assert [str(each.text).partition(":")[0] for each in drawn] == ["all", "f"]


def test_the_profile_is_shown_with_the_cause_of_a_servers_limit() -> None:
    html = page(("asyncio-streams", a_profile()), ("gevent", DENIED))
    assert "CPU time of asyncio streams at 4,000/s: 70 % in send (socket.py)" in html
    assert "gevent was not profiled: py-spy is not permitted on h1" in html
    assert html.count('<svg class="flame"') == 1
    assert "<h2>CPU profiles</h2>" in html


def test_a_session_without_profiles_does_not_mention_them() -> None:
    assert "CPU profile" not in page()


def test_names_of_functions_are_text() -> None:
    html = page(("asyncio-streams", a_profile([f"{n}{SONG}" for n in range(4)])))
    assert not heard(html)
    assert "<img" not in html and "&lt;img" in html
    begin = html.index('<svg class="flame"')
    ElementTree.fromstring(html[begin : html.index("</svg>", begin) + 6])
