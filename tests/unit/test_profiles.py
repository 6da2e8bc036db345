"""Machine profiles, and which cores a server and the agents get."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.cli import main
from workbench.errors import BadInput
from workbench.machines.profiles import (
    Cores,
    Cpus,
    Placement,
    duplicate_profile,
    is_own,
    load_profile,
    make_profile,
    place,
    profile_names,
    remove_profile,
    save_profile,
)


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
        ("name: mine\nrole: [target]", "unknown key 'role'. Did you mean 'roles'?"),
        ("name: mine\nroles: [boss]", "expected client or target, got 'boss'"),
        ("name: mine\nroles: []", "roles: expected a list of at least 1 in length"),
        ("name: mine\nconnector: carrier-pigeon", "expected local or ssh, got 'carrier-pigeon'"),
        ("name: mine\ncpus: {server: [-1]}", "cpus.server[1]: expected a whole number of at least"),
        ("name: mine\ncpus: {server: some}", "cpus.server: expected"),
        ("name: yours", "name: expected 'mine' like the file, got 'yours'"),
        ("roles: [target]", "the key 'name' is missing"),
        ("just text", "mine.yaml: expected keys with values"),
        ("name: &a mine", "is an anchor"),
        ("", "is empty"),
    ],
)
def test_invalid_values_are_refused_in_one_sentence_with_their_place(
    profiles: Path, text: str, sentence: str
) -> None:
    (profiles / "mine.yaml").write_text(text)
    with pytest.raises(BadInput) as refused:
        load_profile("mine")
    assert str(refused.value).startswith(f"profile {profiles / 'mine.yaml'}")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("connector: ssh", "address: the key is missing; give a name"),
        (
            "connector: ssh\naddress: -oProxyCommand=x",
            "address: '-oProxyCommand=x' is not an address",
        ),
        ("connector: ssh\naddress: a\nbind: 10.0.0.1:22", "write `bind: 10.0.0.1`"),
        ("connector: ssh\naddress: fe80::1%eth0", "address: fe80::1%eth0 is a link-local address"),
        ("connector: ssh\naddress: a\nbind: fe80::1", "bind: fe80::1 is a link-local address"),
        ("connector: ssh\naddress: a\nreach: '[fd00::1]'", "write `reach: fd00::1`"),
        ("connector: ssh\naddress: a\njump: b, c:x", "'c:x' is not a jump host"),
        ("connector: ssh\naddress: a b", "address: 'a b' is not an address"),
        ("connector: ssh\naddress: a\nuser: a b", "user: 'a b' is not a user name"),
        ("connector: ssh\naddress: a\nuser: bob@", "user: 'bob@' is not a user name"),
        ("connector: ssh\naddress: a\nport: 70000", "port: expected a whole number of at most"),
        ("connector: ssh\naddress: a\nauth: key", "key: `auth: key` needs the file"),
        ("connector: ssh\naddress: a\njump: mine", "jump: a machine cannot be reached through"),
        ("connector: ssh\naddress: a\nwork_dir: tmp", "work_dir: give a whole path"),
        ("address: a", "address: this is for `connector: ssh`"),
        ("connector: ssh\naddress: a\npassword: p", "unknown key 'password'"),
    ],
)
def test_an_unreachable_profile_is_refused_with_its_key(
    profiles: Path, text: str, sentence: str
) -> None:
    (profiles / "mine.yaml").write_text(f"name: mine\n{text}")
    with pytest.raises(BadInput) as refused:
        load_profile("mine")
    assert sentence in str(refused.value)


def test_a_file_may_have_address_user_and_port_in_one(profiles: Path) -> None:
    (profiles / "mine.yaml").write_text("name: mine\nconnector: ssh\naddress: bob@10.0.0.1:2222\n")
    mine = load_profile("mine")
    assert (mine.address, mine.user, mine.port) == ("10.0.0.1", "bob", 2222)


def test_a_profile_is_saved_copied_and_removed(profiles: Path) -> None:
    profile = make_profile({"name": "mine", "connector": "ssh", "address": "10.0.0.5", "port": 22})
    path = save_profile(profile)
    assert load_profile("mine") == profile
    assert "auth" not in path.read_text()  # what is usual is not written
    assert is_own("mine") and not is_own("localhost")
    duplicate_profile("mine", "other")
    assert load_profile("other").address == "10.0.0.5"
    with pytest.raises(BadInput, match="'localhost' already; choose another name"):
        duplicate_profile("mine", "localhost")
    with pytest.raises(BadInput, match="name: use letters, digits"):
        duplicate_profile("mine", "../escape")
    remove_profile("other")
    assert "other" not in profile_names()
    with pytest.raises(BadInput, match="is shipped with Pongbench and cannot be removed"):
        remove_profile("localhost")


def test_an_unknown_name_gets_a_suggestion(profiles: Path) -> None:
    with pytest.raises(BadInput, match=r"no machine profile 'locahost'\. Did you mean 'localhost'"):
        load_profile("locahost")
    with pytest.raises(BadInput, match=r"no machine profile '\.\./x'\. There is only localhost"):
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
def test_server_and_agents_get_separate_cores(
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
def test_sharing_a_core_is_reported(
    server: Cores, agent: Cores, allowed: list[int], expected: tuple[tuple[int, ...], ...]
) -> None:
    placement = place(Cpus(server, agent), allowed, machine="m")
    assert (placement.server, placement.agents) == expected
    assert placement.shared is not None


def test_on_separate_machines_the_server_keeps_its_core_and_agents_have_all() -> None:
    assert place(Cpus(), [2, 3], machine="m", roles=["target"]).server == (2,)
    assert place(Cpus(), [2, 3], machine="m", roles=["client"]).agents == (2, 3)
    assert place(Cpus([3, 4]), [2, 3, 4], machine="m", roles=["target"]).server == (3, 4)
    with pytest.raises(BadInput, match=r"there is no core 9 to use"):
        place(Cpus("auto", [9]), [2, 3], machine="m", roles=["client"])


def test_a_core_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadInput, match=r"cpus\.agent: there is no core 7 to use; there are 0, 1\."):
        place(Cpus("auto", [7]), [0, 1], machine="m")


def test_a_machine_is_described_changed_and_copied_from_the_command_line(
    profiles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--address", "10.0.0.5", "--user", "bench", "--role", "target"]
    assert main(["machines", "add", "bolt", *words, "--server-cpus", "2,4-6"]) == 0
    bolt = load_profile("bolt")
    assert (bolt.address, bolt.roles, bolt.cpus.server) == ("10.0.0.5", ["target"], [2, 4, 5, 6])
    assert main(["machines", "edit", "bolt", "--agent-cpus", "1", "--sudo", "passwordless"]) == 0
    assert main(["machines", "duplicate", "bolt", "nut"]) == 0
    nut = load_profile("nut")
    assert (nut.cpus.server, nut.cpus.agent, nut.sudo) == ([2, 4, 5, 6], [1], "passwordless")
    assert main(["machines", "edit", "nut", "--server-cpus", "auto"]) == 0
    assert load_profile("nut").cpus.server == "auto"
    capsys.readouterr()
    assert main(["machines", "remove", "nut"]) == 0
    assert "Moved to" in capsys.readouterr().err
    assert main(["machines", "show", "nut"]) == 2
    assert capsys.readouterr().err.startswith("pongbench: There is no machine profile 'nut'.")


@pytest.mark.parametrize(
    ("written", "parts", "shown"),
    [
        ("10.0.0.1", ("10.0.0.1", 0, ""), "10.0.0.1"),
        ("10.0.0.1:2222", ("10.0.0.1", 2222, ""), "10.0.0.1:2222"),
        ("fd00::1", ("fd00::1", 0, ""), "fd00::1"),
        ("[fd00::1]", ("fd00::1", 0, ""), "fd00::1"),
        ("[fd00::1]:2222", ("fd00::1", 2222, ""), "[fd00::1]:2222"),
        ("bob@host", ("host", 0, "bob"), "bob@host"),
        ("bob@fd00::1", ("fd00::1", 0, "bob"), "bob@fd00::1"),
        ("ssh://bob@host:2222", ("host", 2222, "bob"), "bob@host:2222"),
        ("SSH://[fd00::1]/", ("fd00::1", 0, ""), "fd00::1"),
        ("CORP\\bob@host", ("host", 0, "CORP\\bob"), "CORP\\bob@host"),
        (
            "bob@corp.example@host:2222",
            ("host", 2222, "bob@corp.example"),
            "bob@corp.example@host:2222",
        ),
    ],
)
def test_an_address_is_understood_as_people_write_it(
    profiles: Path,
    capsys: pytest.CaptureFixture[str],
    written: str,
    parts: tuple[str, int, str],
    shown: str,
) -> None:
    assert main(["machines", "add", "bolt", "--address", written]) == 0
    bolt = load_profile("bolt")
    assert (bolt.address, bolt.port, bolt.user) == parts
    assert f": {shown}." in capsys.readouterr().err


@pytest.mark.parametrize(
    "written",
    [
        *("10.0.0.1:", "10.0.0.1:0", "10.0.0.1:70000", "10.0.0.1:ssh", "host:1:2", "[fd00::1"),
        *(
            "[10.0.0.1]",
            "@host",
            "bob:secret@host",
            "fe80::1%eth0",
            "[fe80::1%eth0]:22",
            "http://host",
            "-oHost=x",
            "h/x",
        ),
    ],
)
def test_what_is_no_address_is_refused(
    profiles: Path, capsys: pytest.CaptureFixture[str], written: str
) -> None:
    assert main(["machines", "add", "bolt", f"--address={written}"]) == 2
    assert "profile bolt" in capsys.readouterr().err


def test_an_address_with_a_port_replaces_the_one_before(profiles: Path) -> None:
    assert main(["machines", "add", "bolt", "--address", "h:2222", "--port", "22"]) == 2
    assert main(["machines", "add", "bolt", "--address", "h:2222", "--port", "2222"]) == 0
    assert main(["machines", "edit", "bolt", "--address", "ann@h:23"]) == 0
    assert load_profile("bolt").reached == "ann@h:23"


@pytest.mark.parametrize("cores", ["two", "1-", "3-1", "-1", "1;2", "0-99999", ""])
def test_an_invalid_core_list_is_refused(
    profiles: Path, cores: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["machines", "add", "bolt", "--address", "b", f"--server-cpus={cores}"]) == 2
    assert "names no cores; write auto, or numbers such as 2,4-7." in capsys.readouterr().err
