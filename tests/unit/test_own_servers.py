"""The user's own servers: created, copied, checked, saved, set aside."""

from __future__ import annotations

import errno
import os
import re
import shlex
from pathlib import Path

import pytest

from app.servers import known
from workbench import paths, trash
from workbench.cli import main
from workbench.errors import BadInput
from workbench.servers import user_servers
from workbench.servers.catalogue import Catalogue


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return paths.data_dir() / "servers"


def test_a_new_server_is_in_the_catalogue_under_the_name_given(home: Path) -> None:
    made = user_servers.new("Zoë's: first")
    assert made.id == "zoe-s-first"
    assert made.folder == home / "zoe-s-first"
    assert Catalogue.load()["zoe-s-first"].name == "Zoë's: first"
    assert "zoe-s-first" not in Catalogue.load().broken


def test_a_copy_brings_the_code_but_not_the_history() -> None:
    made = user_servers.duplicate(Catalogue.load()["tornado"], "Tornado, tuned")
    assert made.name == "Tornado, tuned"
    assert made.in_2009 is None and made.seen is None
    assert made.today.licence is not None
    assert made.source_path.read_text() == Catalogue.load()["tornado"].source_path.read_text()


@pytest.mark.parametrize("like", ["", "tornado", "cheroot", "flask", "zeromq-pair", "chosen-path"])
def test_a_new_server_can_be_run_by_the_suggested_command(
    like: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if like == "chosen-path":
        user_servers.new("Chosen path")
        file = home / like / "server.yaml"
        text = file.read_text().replace("[pong]", "[http/1.0]")
        file.write_text(f"{text}path: /chosen?a=1&b=2\n")
    assert main(["catalogue", "new", "Mine", *(["--like", like] if like else [])]) == 0
    (advised,) = re.findall(r"  run    pongbench (.*)", capsys.readouterr().out)
    assert "--server mine" in advised
    assert main([*shlex.split(advised), "--preview"]) == 0, capsys.readouterr().err


def test_running_is_not_suggested_for_a_server_that_only_its_own_program_can_test(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    user_servers.duplicate(Catalogue.load().find("zeromq-pair"), "Own messages")
    file = home / "own-messages" / "server.yaml"
    file.write_text(file.read_text().replace("[zeromq]", "[messages]"))
    assert main(["catalogue", "new", "Mine", "--like", "own-messages"]) == 0
    output = capsys.readouterr().out
    assert "catalogue check mine" in output
    assert "pongbench run" not in output


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("...", "needs a name with letters or digits"),
        ("../../x", "no slash, for it is what people call it and no path; choose another"),
        ("x" * 61, "has at most 60 characters"),
        ("Tornado", "a server that comes with Pongbench with the id 'tornado'"),
        ("Taken", "a server of yours with the id 'taken'"),
    ],
)
def test_an_invalid_name_is_refused_with_a_message(name: str, sentence: str) -> None:
    user_servers.new("taken")
    with pytest.raises(BadInput, match=sentence):
        user_servers.new(name)


def test_a_shipped_server_is_never_removed() -> None:
    shipped = Catalogue.load()["tornado"].folder
    with pytest.raises(BadInput, match="not one of your servers"):
        user_servers.remove(shipped)


def test_a_removed_server_is_in_the_trash_and_its_name_is_free_again() -> None:
    made = user_servers.new("Mine")
    removed = user_servers.remove(made.folder)
    ((_, kept),) = removed
    assert (kept / "server.py").is_file()
    assert "mine" not in Catalogue.load()
    user_servers.new("Mine")
    with pytest.raises(BadInput, match="There is another"):
        trash.restore(removed)
    user_servers.remove(made.folder)
    trash.restore(removed)
    assert "mine" in Catalogue.load()


def test_the_command_creates_a_server_and_says_what_to_do_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalogue", "new", "My own"]) == 0
    output = capsys.readouterr().out
    assert "its id is my-own" in output
    assert "pongbench catalogue check my-own" in output
    assert main(["catalogue", "new", "Copy", "--like", "gevent"]) == 0
    assert Catalogue.load()["copy"].framework == "gevent"


def test_the_command_refuses_a_name_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["catalogue", "new", "Gevent"]) == 2
    assert "choose another name" in capsys.readouterr().err


def test_a_full_disk_is_reported_in_one_short_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(BadInput) as reported:
        user_servers.new("Mine")
    assert str(reported.value) == f"The folder {home / 'mine'} cannot be made: the disk is full."


@pytest.mark.parametrize("id", ["django", "go", "uvicorn"])
def test_a_copy_has_the_code_worth_reading_to_change_also_where_servers_share_it(id: str) -> None:
    shipped = Catalogue.load()[id]
    mine = user_servers.duplicate(shipped, f"My {id}")
    assert mine.source_path.parent == mine.folder
    assert mine.files()[mine.source] == shipped.files()[shipped.source]
    mine.source_path.write_text("changed")
    assert mine.files()[mine.source] != shipped.files()[shipped.source]


def test_a_server_that_python_cannot_read_is_not_ready(home: Path) -> None:
    made = user_servers.new("Mine")
    assert [k.problem for k in known.load() if k.id == made.id] == [""]
    source = made.folder / "server.py"
    source.write_text(source.read_text("utf-8").replace("import socket\n", "import socket,\n"))
    (broken,) = (k for k in known.load() if k.id == made.id)
    assert broken.state.word == "Syntax error"
    assert broken.problem.startswith("server.py, line 3: Syntax error: ")
