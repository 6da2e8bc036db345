"""Sources that no registry has, fetched from a git server on loopback; the code is a stand-in of
our own."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from gate_checks import KEPT, passed

from workbench.errors import BadInput, PongbenchError
from workbench.machines.local import open_local
from workbench.servers import sources
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import check
from workbench.servers.entry import ServerEntry, SourceAt
from workbench.servers.entry_reading import load_entry
from workbench.servers.programs import PROGRAMS, MissingPrograms, Program
from workbench.servers.runtimes.provide import provide

GONE = Path(__file__).parents[1] / "cases" / "gone"


def git(folder: Path, *words: str) -> str:
    env = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        **{f"GIT_{who}_NAME": "Nobody" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "nobody@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceAt]:
    """A repository with the stand-in for MultiTask, a link and a submodule, behind git's daemon."""
    base = tmp_path_factory.mktemp("public")
    folder = shutil.copytree(GONE / "multitask", base / "python-multitask")
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "docs").mkdir()
    (folder / "docs" / "README").write_text("A stand-in.\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = ../nowhere\n')
    git(folder, "add", ".")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},x")
    git(folder, "commit", "--quiet", "--message", "A stand-in")
    commit = git(folder, "rev-parse", "HEAD")

    class Daemon(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            argv = ["git", "daemon", "--inetd", "--export-all", f"--base-path={base}", str(base)]
            subprocess.run(argv, stdin=self.request, stdout=self.request, check=False)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Daemon) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        yield SourceAt(
            git=f"git://127.0.0.1:{port}/python-multitask", commit=commit, licence="MIT-0"
        )
        server.shutdown()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return tmp_path


def multitask(source: SourceAt) -> ServerEntry:
    return msgspec.structs.replace(
        Catalogue.load(extra_dirs=[])["multitask"], source_at=source, unavailable=None
    )


async def fetched(entry: ServerEntry, *, install: bool = True) -> Path:
    folder = await sources.provide(entry, install=install, notify=lambda _: None)
    assert folder is not None
    return folder


async def test_a_source_is_fetched_once_with_consent_checked_and_kept(
    public: SourceAt, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = multitask(public)
    with pytest.raises(MissingPrograms) as caught:
        await fetched(entry, install=False)
    assert caught.value.offer == (
        "MultiTask needs its source code (licence: MIT-0). It can be fetched from"
        f" {public.git} (commit {public.short}) and unpacked into Pongbench's cache."
    )
    assert caught.value.commands == [f"git fetch {public.git} {public.short}"]
    assert not (home / "cache").exists()

    # A configuration of the user could run programs, or lead elsewhere.
    evil = home / "gitconfig"
    evil.write_text(f'[url "file:///nowhere/"]\n\tinsteadOf = {public.git}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(evil))
    folder = await fetched(entry)
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert names == {"multitask.py", "docs/README", ".gitmodules"}  # neither link nor submodule
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]

    monkeypatch.setenv("PATH", "")  # kept: git is no longer needed
    assert await fetched(entry, install=False) == folder
    right = msgspec.structs.replace(public, sha256=sources.digest(folder))
    assert await fetched(multitask(right), install=False) == folder
    (folder / "multitask.py").write_text("changed\n")
    with pytest.raises(PongbenchError, match=r"has the SHA-256 .* remove that folder\.$"):
        await fetched(multitask(right))


CHANGES: list[tuple[dict[str, str], str]] = [
    ({"git": "git://127.0.0.1:9/x"}, r"cannot be fetched: git://127\.0\.0\.1:9/x is out of reach"),
    ({"git": "https://nowhere.invalid/x"}, r"its name cannot be resolved \(DNS\); to run Multi"),
    ({"git": "file:///nowhere/x"}, r"cannot be fetched: file:///nowhere/x: .*; to run"),
    ({"commit": "0" * 40}, r"cannot be fetched: git://.* 0{40}; to run MultiTask without"),
    ({"sha256": "0" * 64}, r"^What was fetched for MultiTask .* nothing of it was kept\.$"),
]


@pytest.mark.parametrize(("change", "sentence"), CHANGES, ids=lambda x: "".join(x)[:8])
async def test_a_source_that_cannot_be_had_is_one_sentence_and_leaves_nothing(
    public: SourceAt, home: Path, change: dict[str, str], sentence: str
) -> None:
    entry = multitask(msgspec.structs.replace(public, **change))
    with pytest.raises(PongbenchError, match=sentence) as caught:
        await fetched(entry)
    assert "\n" not in str(caught.value)
    assert not list((home / "cache").rglob("*.py"))
    assert not list((home / "cache" / "sources").iterdir())


async def test_without_git_a_sentence_says_what_to_put_where(
    public: SourceAt, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    entry = multitask(public)
    with pytest.raises(PongbenchError, match=r"^git, which .* put commit \w{12} into /") as caught:
        await fetched(entry)
    where = Path(str(caught.value).removesuffix(".").rpartition(" ")[2])
    shutil.copytree(GONE / "multitask", where)
    assert await fetched(entry) == where == sources.at_hand(entry)


def test_an_address_that_git_would_run_or_read_as_an_option_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(Catalogue.load(extra_dirs=[])["multitask"].folder, folder)
    file = folder / "server.yaml"
    for address in ("ext::sh -c true", "--upload-pack=true", "ssh://host/x"):
        file.write_text(re.sub(r"git: .*", f'git: "{address}"', file.read_text()))
        with pytest.raises(BadInput, match=r"source_at\.git"):
            load_entry(folder)


@pytest.mark.timeout(900)
async def test_a_server_runs_with_what_was_fetched_and_with_what_is_compiled_of_it_in_confinement(
    public: SourceAt, home: Path
) -> None:
    # Beside the kept Python 2.7, only the source is fetched.
    (home / "cache").mkdir()
    for name in ("debs", "programs", "runtimes"):
        (KEPT / "cache" / name).mkdir(parents=True, exist_ok=True)
        (home / "cache" / name).symlink_to(KEPT / "cache" / name)
    machine = await open_local(cache_dir=home / "cache")
    try:
        without = await check(machine, multitask(public), lambda _: None)
        assert (without.status, without.reason.split(".")[0]) == (
            "needs source",
            "MultiTask needs its source code (licence: MIT-0)",
        )
        record, _ = await passed(machine, multitask(public))
        kept = sources.at_hand(multitask(public))
        assert kept and record.files["source"] == sources.digest(kept)

        folder = shutil.copytree(multitask(public).folder, home / "data" / "servers" / "compiled")
        file, outside = folder / "server.yaml", home / "outside"
        text = re.sub(r"git: .*", f"git: {public.git}", file.read_text())
        text = re.sub(r"commit: .*", f"commit: {public.commit}", text)
        file.write_text(f'{text}\nmake: [["{{python}}", build.py, "{{made}}", "{outside}"]]\n')
        (folder / "build.py").write_text(BUILD)
        compiled = Catalogue.load()["compiled"]
        with pytest.raises(MissingPrograms) as caught:
            await sources.provide(
                msgspec.structs.replace(
                    compiled, source_at=msgspec.structs.replace(public, commit="1" * 40)
                ),
                install=False,
                notify=lambda _: None,
            )
        assert caught.value.commands[1].startswith("confined: {python} build.py")
        await passed(machine, compiled)
        (made,) = (home / "cache" / "made").glob("compiled-*/made.py")
        assert made.read_text() == (GONE / "multitask" / "multitask.py").read_text()
        assert made.stat().st_uid == os.geteuid() and not outside.exists()
    finally:
        await machine.close()


async def test_a_program_that_nobody_packages_is_compiled_of_its_source_with_one_consent(
    public: SourceAt, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Program(
        title="wrk2",
        files=("nowhere/wrk2",),
        git=public.git,
        commit=public.commit,
        licence=public.licence,
        make=(("cp", "source/multitask.py", "{made}/wrk2"),),
        unpacked=("wrk2",),
    )
    monkeypatch.setitem(PROGRAMS, "wrk2", program)
    machine = await open_local(cache_dir=home / "cache")
    try:
        with pytest.raises(MissingPrograms) as caught:
            await provide(machine, ["wrk2"], install=False, notify=lambda _: None)
        assert caught.value.commands == [
            f"git fetch {public.git} {public.short}",
            "confined: cp source/multitask.py {made}/wrk2",
        ]
        asked = [
            await provide(machine, ["wrk2"], install=install, notify=lambda _: None)
            for install in (True, False)  # the second time it is there
        ]
    finally:
        await machine.close()
    for found in asked:
        assert filecmp.cmp(found.paths["wrk2"], GONE / "multitask" / "multitask.py")


BUILD = """
import shutil, sys
shutil.copy("source/multitask.py", sys.argv[1] + "/made.py")
try:
    open(sys.argv[2], "w")
except IOError:
    pass
"""
