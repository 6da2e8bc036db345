"""Machine profiles, and which cores a server and the agents get."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import BadInput
from workbench.machines.placement import Placement, place
from workbench.machines.profiles import Cores, Cpus, load_profile, profile_names


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    folder = tmp_path / "config" / "profiles"
    folder.mkdir(parents=True)
    return folder


def test_localhost_is_shipped_and_needs_nothing(profiles: Path) -> None:
    profile = load_profile("localhost")
    assert profile.connector == "local"
    assert profile.roles == ["target", "client"]
    assert profile.cpus == Cpus("auto", "auto")


def test_the_users_own_profile_hides_the_shipped_one(profiles: Path) -> None:
    (profiles / "localhost.yaml").write_text("name: localhost\ncpus: {server: [3], agent: [1, 2]}")
    assert load_profile("localhost").cpus == Cpus([3], [1, 2])
    (profiles / "other.yaml").write_text("name: other")
    assert {"localhost", "other"} <= set(profile_names())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name: mine\nrole: [target]", "there is no key 'role'; did you mean 'roles'?"),
        ("name: mine\nroles: [boss]", "expected client or target, got 'boss'"),
        ("name: mine\nroles: []", "roles: expected a list of at least 1 in length"),
        ("name: mine\nconnector: carrier-pigeon", "expected local, got 'carrier-pigeon'"),
        ("name: mine\ncpus: {server: [-1]}", "cpus.server[1]: expected a whole number of at least"),
        ("name: mine\ncpus: {server: some}", "cpus.server: expected"),
        ("name: yours", "name: expected 'mine' like the file, got 'yours'"),
        ("roles: [target]", "the key 'name' is missing"),
        ("just text", "mine.yaml: expected keys with values"),
        ("name: &a mine", "is an anchor"),
        ("", "is empty"),
    ],
)
def test_nonsense_is_refused_in_one_sentence_with_its_place(
    profiles: Path, text: str, sentence: str
) -> None:
    (profiles / "mine.yaml").write_text(text)
    with pytest.raises(BadInput) as refused:
        load_profile("mine")
    assert str(refused.value).startswith(f"profile {profiles / 'mine.yaml'}")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unknown_name_gets_a_suggestion(profiles: Path) -> None:
    with pytest.raises(BadInput, match=r"no machine profile 'locahost'\. Did you mean 'localhost'"):
        load_profile("locahost")
    with pytest.raises(BadInput, match=r"no machine profile '\.\./x'\. There are localhost"):
        load_profile("../x")


@pytest.mark.parametrize(
    ("server", "agent", "allowed", "expected"),
    [
        ("auto", "auto", [0, 1, 2, 3], Placement((0,), (1, 2, 3))),
        ("auto", "auto", [4, 6], Placement((4,), (6,))),
        ("auto", [0], [0, 1, 2], Placement((1,), (0,))),
        ([2, 3], "auto", [0, 1, 2, 3], Placement((2, 3), (0, 1))),
        ([1], [0], [0, 1], Placement((1,), (0,))),
    ],
    ids=["all", "an affinity set", "agents given", "server given", "both given"],
)
def test_server_and_agents_get_cores_of_their_own(
    server: Cores, agent: Cores, allowed: list[int], expected: Placement
) -> None:
    assert place(Cpus(server, agent), allowed, machine="m") == expected


@pytest.mark.parametrize(
    ("server", "agent", "allowed", "expected"),
    [
        ("auto", "auto", [5], ((5,), (5,))),
        ("auto", [0, 1], [0, 1], ((0,), (0, 1))),
        ([0, 1], "auto", [0, 1], ((0, 1), (0, 1))),
        ([0], [0], [0, 1], ((0,), (0,))),
    ],
    ids=["one core", "agents have all", "server has all", "both the same"],
)
def test_sharing_a_core_is_said(
    server: Cores, agent: Cores, allowed: list[int], expected: tuple[tuple[int, ...], ...]
) -> None:
    placement = place(Cpus(server, agent), allowed, machine="m")
    assert (placement.server, placement.agents) == expected
    assert placement.note.startswith("Server and agents share core ")


def test_a_core_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match=r"cpus\.agent: there is no core 7 to use; there are 0, 1\."):
        place(Cpus("auto", [7]), [0, 1], machine="m")
