"""Versions of a service out of its repository: built, measured and compared, and the repository
left as it is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from workbench import paths
from workbench.cli import main
from workbench.errors import BadInput, ExitCode
from workbench.servers import services
from workbench.servers.catalogue import Catalogue
from workbench.servers.recognising import NoCommand
from workbench.servers.services import Told, Version
from workbench.servers.sources import Repository
from workbench.sessions import read_session

SERVER = """\
import http.server
import os
import pathlib

assert pathlib.Path("prepared").exists() and os.environ["GREETING"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = b"hello"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


Server(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
PREPARE = "import pathlib\npathlib.Path('prepared').write_text('yes')\n"
SECRET = "geheim-7c1f"


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Me", "-c", "user.email=me@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(folder: Path, tag: str, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", tag)
    git(folder, "tag", tag)


@pytest.fixture
def shop(home: Path, tmp_path: Path) -> Path:
    """`home` is in the environment."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, "v1", server_py=SERVER, prepare_py=PREPARE)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_versions_are_compared_those_that_fail_are_named_and_nothing_of_the_repository_changes(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    commit(shop, "unbuilt", requirements_txt="no-such-package-of-ours===1\n")
    git(shop, "rm", "-q", "requirements.txt")
    commit(shop, "dead", server_py="import nothing_of_that_name\n")
    (shop / "server.py").write_text(f"{SERVER}# changed here\n")
    services.beside(shop).write_text(
        "command: python server.py\nbefore: [python prepare.py]\nenv: {GREETING: {secret: HELLO}}\n"
    )
    monkeypatch.setenv("PONGBENCH_SECRET_HELLO", SECRET)
    before, session = contents(shop), tmp_path / "versions.pong.yaml"
    refs = ["v1", ".", "unbuilt", "dead"]
    words = [word for ref in refs for word in ("--of", ref)]
    options = ["--passes", "2", "--brief", "--junit", str(tmp_path / "junit.xml")]
    words += [*options, "--fail-if-slower", "900%", "-o", str(session)]
    code = main(["versions", str(shop), *words])
    out, err = capfd.readouterr()
    # Two of the four were not measured. With two passes on a busy machine all else may be open.
    assert code in (ExitCode.FAILED, ExitCode.UNDECIDED), err
    assert "unbuilt: " in err and "no-such-package-of-ours" in err
    assert "dead: " in err and "nothing_of_that_name" in err
    assert "working tree" in out and "v1" in out
    start = read_session(session).start
    assert [record.name for record in start.servers] == ["v1", "working tree"]
    assert contents(shop) == before
    # The session can be run again, and the secret is nowhere but in its environment.
    assert all(record.id in Catalogue.load() for record in start.servers)
    for folder in (paths.cache_dir(), paths.data_dir(), tmp_path):
        assert not [name for name, data in contents(folder).items() if SECRET.encode() in data]


@pytest.mark.parametrize(
    ("refs", "match"),
    [
        (["v1"], "nothing to be compared"),
        (["v1", "v2"], "no branch, tag or commit 'v2'"),
        (["v1", "HEAD"], "the same commit"),
        (["v1", "--upload-pack=x"], "no branch, tag or commit"),
    ],
)
def test_versions_that_cannot_be_compared_are_refused_in_one_sentence(
    shop: Path, refs: list[str], match: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [f"--of={ref}" for ref in refs]
    assert main(["versions", str(shop), *words]) == ExitCode.BAD_INPUT
    err = capsys.readouterr().err
    assert match in err and len(err.splitlines()) == 1


def test_a_folder_without_git_and_one_that_nothing_starts_are_refused(
    shop: Path, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    with pytest.raises(BadInput, match="in no git repository"):
        Repository(tmp_path / "plain")
    repository = Repository(shop)
    with pytest.raises(NoCommand):
        services.entry(repository, Version("v1", repository.commit("v1")), Told())
    services.beside(shop).write_text("comand: python server.py\n")
    with pytest.raises(BadInput, match="comand"):
        services.told(shop)


def test_a_version_is_a_server_with_the_files_of_its_commit(shop: Path) -> None:
    (shop / "run.sh").write_text("#!/bin/sh\n")
    (shop / "run.sh").chmod(0o755)
    (shop / "link").symlink_to("server.py")
    commit(shop, "v2", Procfile="web: DEBUG=0 python server.py --bind 0.0.0.0:$PORT\n")
    commit(shop, "v3", Procfile="web: cd src && python server.py\n")
    (shop / "untracked.txt").write_text("not of any commit")
    repository = Repository(shop)
    made = services.entry(repository, Version("v2", repository.commit("v2")), Told(path="/items"))
    program = ["{python}", "server.py", "--bind", "{host}:{port}"]
    assert made.command == ["/usr/bin/env", "DEBUG=0", *program]
    assert (made.name, made.path, made.ready) == ("v2", "/items", "http")
    assert (made.folder / "run.sh").stat().st_mode & 0o100
    assert (made.folder / "link").readlink() == Path("server.py")
    assert not (made.folder / "untracked.txt").exists()
    here = services.entry(repository, Version("here", ""), Told(command="python server.py {port}"))
    assert (here.folder / "untracked.txt").exists() and not (here.folder / ".git").exists()
    with pytest.raises(BadInput, match="needs a shell"):
        services.entry(repository, Version("v3", repository.commit("v3")), Told())


def test_a_bisection_divides_the_commits_between_and_can_leave_some_out(shop: Path) -> None:
    for number in range(2, 10):
        commit(shop, f"v{number}", server_py=f"{SERVER}# {number}\n")
    repository = Repository(shop)
    good, bad = repository.commit("v1"), repository.commit("v9")
    between = repository.between([good], bad)
    assert len(between) == 8 and good not in between
    assert between[0] in {repository.commit("v4"), repository.commit("v5")}
    assert repository.between([good, repository.commit("v8")], bad) == [bad]
    assert repository.between([bad], good) == []
