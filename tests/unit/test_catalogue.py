"""The catalogue: shipped entries are complete, and problems of an entry are reported."""

import re
import shutil
from pathlib import Path

import pytest

from workbench import paths
from workbench.cli import main
from workbench.errors import BadInput
from workbench.plan.reading import load_plan
from workbench.run.factory import left_out, of_families
from workbench.servers import sources
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import WORKLOADS

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "catalogue"
LOCKS = ("Cargo.lock", "go.mod", "package-lock.json", "play.xml", "pom.xml")
SHIPPED = Catalogue.load(extra_dirs=[])

SERVER = """\
name: Mine
family: socket
command: ["{python}", server.py, "{port}"]
protocols: [pong]
"""


def make_server(folder: Path, text: str = SERVER) -> Path:
    folder.mkdir(parents=True)
    (folder / "server.yaml").write_text(text)
    (folder / "server.py").write_text("print('hello')\n")
    return folder


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.name)
def test_a_broken_entry_is_described_in_one_sentence(case: Path) -> None:
    with pytest.raises(BadInput) as caught:
        load_entry(case)
    sentence = str(caught.value)
    assert re.search((case / "problem.txt").read_text().strip(), sentence), sentence
    assert case.name in sentence
    assert "\n" not in sentence


def test_a_huge_entry_is_refused_without_being_read(tmp_path: Path) -> None:
    folder = make_server(tmp_path / "huge")
    with (folder / "server.yaml").open("ab") as file:
        file.truncate(1 << 30)
    with pytest.raises(BadInput, match=r"1,024\.0 MiB; a server has at most 1 MiB"):
        load_entry(folder)


def test_all_servers_of_the_sources_are_shipped_or_listed_as_unavailable() -> None:
    assert not SHIPPED.broken
    families = {"socket": 29, "wsgi": 30, "macro": 14, "hello": 9, "message": 7}
    for family, fewest in families.items():
        assert sum(entry.family == family for entry in SHIPPED) >= fewest, family
    gone = {entry.id for entry in SHIPPED if entry.unavailable}
    assert gone == {"friendlyflow", "ape", "cometd", "stackless"}


def test_a_version_of_then_answers_as_its_framework_of_today_does() -> None:
    versions = [entry for entry in SHIPPED if "@" in entry.id]
    assert len(versions) >= 16
    for old in versions:
        new = SHIPPED[old.id.partition("@")[0]]
        assert (old.family, old.path, old.replies) == (new.family, new.path, new.replies)
        assert old.pinned_version == old.id.partition("@")[2] != new.pinned_version
        assert set(old.protocols) <= set(new.protocols)


def test_an_improved_listing_names_the_published_one() -> None:
    for entry in SHIPPED:
        if entry.improves:
            published = SHIPPED[entry.improves]
            assert not published.improves and published.protocols == entry.protocols


def test_every_fact_of_the_table_of_2009_is_there() -> None:
    rows = {entry.name for entry in SHIPPED if entry.in_2009}
    assert len({name.partition(" ")[0] for name in rows}) == 14


@pytest.mark.parametrize("entry", SHIPPED.contestants(), ids=lambda entry: entry.id)
def test_every_server_that_runs_has_facts_of_today_and_test_results(entry: ServerEntry) -> None:
    if entry.unavailable:
        return
    assert entry.today.licence and entry.today.tls and entry.today.tests
    if entry.source_at:
        return
    assert entry.seen and entry.seen.processes >= entry.processes and entry.seen.memory_mb > 1


def test_an_unavailable_server_runs_from_a_copy_with_its_source(tmp_path: Path) -> None:
    gone = SHIPPED["friendlyflow"]
    assert gone.unavailable and gone.unavailable.instead in SHIPPED
    folder = shutil.copytree(gone.folder, tmp_path / "friendlyflow")
    text = (folder / "server.yaml").read_text()
    (folder / "server.yaml").write_text(
        re.sub(r"^unavailable:\n(  .*\n)+", "", text, flags=re.MULTILINE)
    )
    catalogue = Catalogue.load(extra_dirs=[tmp_path])
    assert catalogue["friendlyflow"].unavailable is None
    assert catalogue["friendlyflow"].folder == folder
    assert not catalogue.broken


def test_shared_files_count_among_a_servers_own() -> None:
    assert "pong_wsgi.py" in SHIPPED["cheroot"].files()
    assert SHIPPED["uvicorn"].source_path.name == "pong_asgi.py"


def test_the_null_server_exists_but_is_not_compared() -> None:
    nulls = {workload.null_server for workload in WORKLOADS.values()} - {""}
    assert nulls <= {entry.id for entry in SHIPPED}
    assert not nulls & {entry.id for entry in SHIPPED.contestants()}


@pytest.mark.parametrize("entry", list(SHIPPED), ids=lambda entry: entry.id)
def test_shipped_servers_can_be_installed_as_they_were_tested(entry: ServerEntry) -> None:
    if entry.source.endswith(".py") and entry.runtime == "python":
        compile(entry.source_path.read_text(), entry.source, "exec")
    if entry.requirements_path and not entry.unavailable:
        pins = re.findall(r"^\S+==\S+", entry.requirements_path.read_text(), re.MULTILINE)
        hashed = entry.requirements_path.read_text().split("--hash=sha256:")
        assert len(hashed) > len(pins) >= (0 if entry.source_at else 1)


DECLARED = [entry for entry in SHIPPED if entry.version]


@pytest.mark.parametrize("entry", DECLARED, ids=lambda entry: entry.id)
def test_a_declared_version_is_the_one_that_is_compiled(entry: ServerEntry) -> None:
    files = [path for path in (*entry.folder.iterdir(), *entry.shared_paths) if path.name in LOCKS]
    assert files
    version = re.escape(entry.pinned_version)
    assert any(re.search(rf'["v>]{version}["<\n]', path.read_text()) for path in files)


def test_a_command_is_filled_in() -> None:
    argv = SHIPPED["tornado"].argv(python="/python", host="::1", port="80", backlog="512")
    assert argv == ["/python", "server.py", "--host", "::1", "--port", "80", "--backlog", "512"]


def test_the_users_own_servers_are_found_without_any_registration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    make_server(paths.data_dir() / "servers" / "mine")
    mine = Catalogue.load()["mine"]
    assert (mine.name, mine.shipped) == ("Mine", False)


def test_a_broken_entry_never_hides_the_others(tmp_path: Path) -> None:
    make_server(tmp_path / "good")
    make_server(tmp_path / "bad", "name: [")
    (tmp_path / "stray file").write_text("")
    catalogue = Catalogue.load(extra_dirs=[tmp_path])
    assert "good" in catalogue
    assert set(catalogue.broken) == {"bad"}
    with pytest.raises(BadInput, match=r"bad/server\.yaml, line 2"):
        catalogue["bad"]


def test_a_second_server_of_one_id_is_named_and_the_first_stays(tmp_path: Path) -> None:
    second = make_server(tmp_path / "tornado")
    catalogue = Catalogue.load(extra_dirs=[tmp_path])
    assert catalogue["tornado"].shipped
    (broken,) = catalogue.broken.values()
    assert broken.problem == (
        f"There are two servers 'tornado': {paths.RESOURCES / 'servers' / 'tornado'} is used,"
        f" {second} is not; rename the second folder."
    )


def test_an_unknown_server_is_answered_with_the_closest_name() -> None:
    with pytest.raises(BadInput, match=r"^There is no server 'tornadoes' .* mean 'tornado'\?$"):
        SHIPPED["tornadoes"]
    with pytest.raises(BadInput, match="`pongbench catalogue` lists them all"):
        SHIPPED["zzz"]


def test_a_server_is_found_by_the_path_of_its_folder(tmp_path: Path) -> None:
    assert SHIPPED.find(str(make_server(tmp_path / "mine"))).id == "mine"
    with pytest.raises(BadInput, match="There is no folder /nowhere/mine; a server is a folder"):
        SHIPPED.find("/nowhere/mine")


def test_every_file_of_a_server_counts_in_its_record(tmp_path: Path) -> None:
    folder = make_server(tmp_path / "mine")
    before = load_entry(folder).files()
    (folder / "templates").mkdir()
    (folder / "templates" / "a.html").write_text("<p>")
    shutil.copytree(folder / "templates", folder / "__pycache__")
    after = load_entry(folder).files()
    assert set(after) - set(before) == {"templates/a.html"}


def test_a_family_means_all_its_servers_that_the_plan_can_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    make_server(paths.data_dir() / "servers" / "mine")
    sockets = of_families(load_plan("quick"), ["socket"])
    assert {"epoll", "twisted", "mine"} <= set(sockets)
    assert not {"friendlyflow", "multitask", "concurrence", "gunicorn", "null"} & set(sockets)
    kept = of_families(load_plan("keep-alive"), ["wsgi", "hello"])
    assert {"cheroot", "go"} <= set(kept) and "gunicorn" not in kept
    with pytest.raises(BadInput, match=r"^No server of the family macro supports pong at /;"):
        of_families(load_plan("quick"), ["macro"])


def test_the_servers_that_a_family_lacks_for_want_of_their_source_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    assert main(["run", "quick", "--family", "socket", "--preview"]) == 0
    assert capsys.readouterr().err == (
        "pongbench: Left out, because their source is not at hand: Chiral, Concurrence, MultiTask,"
        " pyev 0.5 and Syncless; `pongbench catalogue show ID` says where it is.\n"
    )
    built = SHIPPED["pyev-0.5"].source_at
    assert built
    sources.place(built).mkdir(parents=True)
    assert "pyev-0.5" in of_families(load_plan("quick"), ["socket"])
    assert left_out(load_plan("quick"), ["socket"]).count("pyev") == 0
    assert left_out(load_plan("gasc-2015-slow-db"), ["macro"]) == ""


def test_a_sweep_of_the_catalogue_has_every_server_that_a_workload_can_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    recipe = (ROOT / "Makefile").read_text().partition("\ncatalogue-sweep:")[2].partition("\n\n")[0]
    swept: set[str] = set()
    for plan, families in re.findall(r"run (\S+\.yaml)((?: --family \w+)+)", recipe):
        swept |= set(of_families(load_plan(ROOT / plan), families.split()[1::2]))
    able = {each.id for each in SHIPPED.contestants() if not (each.unavailable or each.source_at)}
    assert able - swept == {"orbited-comet"}


def test_an_old_interpreter_is_not_comparable_with_a_current_one() -> None:
    wanted = {
        "python2.7": ["Runs on Python 2.7, most servers on a current Python 3."],
        "python3.9": ["Runs on Python 3.9, most servers on a current Python 3."],
    }
    for entry in SHIPPED:
        said = [each for each in entry.differences if "current Python" in each]
        assert said == wanted.get(entry.runtime, []), entry.id
