"""Examples in the documentation can be used as they are."""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import yaml

from app.export import command, report
from tests import doc_tables
from workbench.machines.profiles import Profile, load_profile
from workbench.plan.model import Plan
from workbench.plan.reading import load_plan
from workbench.servers.entry import Seen, ServerFile
from workbench.servers.entry_reading import load_entry
from workbench.workloads.base import Declaration
from workbench.workloads.options import About, fields, known_keys
from workbench.workloads.registry import WORKLOADS, own_fields

ROOT = Path(__file__).parents[2]


def block(document: str, language: str, containing: str) -> str:
    text = (ROOT / document).read_text()
    blocks = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
    [found] = [code for code in blocks if containing in code]
    return str(found)


@pytest.mark.parametrize("document", ["README.md", "docs/plans.md"])
def test_the_documented_plan_can_be_run(document: str, tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text(block(document, "yaml", "servers:"))
    assert load_plan(path).servers == ["tornado", "twisted"]


@pytest.mark.parametrize("document", ["Makefile", "CONTRIBUTING.md", "docs/tools.md"])
def test_every_benchmark_that_is_named_can_be_run(document: str) -> None:
    named = set(re.findall(r"\bBENCH=(\w+)", (ROOT / document).read_text()))
    assert "tools" in named
    assert named <= {script.stem for script in (ROOT / "tests/bench").glob("*.py")}


@pytest.mark.parametrize("key", [*Plan.__struct_encode_fields__, "protocol"])
def test_every_key_of_a_plan_is_documented(key: str) -> None:
    assert f"`{key}`" in (ROOT / "docs/plans.md").read_text()


def test_the_keys_of_workloads_are_documented() -> None:
    text = (ROOT / "docs/plans.md").read_text()
    for field in own_fields():
        assert f"| `{field.key}` |" in text
    shown = {field.key for each in WORKLOADS.values() for field in fields(each.options)}
    assert known_keys().keys() == shown | {"name", "weight"}


@pytest.mark.parametrize("document", ["docs/plans.md", "docs/sources.md"])
def test_tables_of_the_documentation_are_as_they_are_declared(document: str) -> None:
    text = (ROOT / document).read_text()
    assert doc_tables.written(document, text) == text, "run `make docs`"


@pytest.mark.parametrize("key", Profile.__struct_fields__)
def test_every_key_of_a_profile_is_documented(key: str) -> None:
    assert f"`{key}`" in (ROOT / "docs/machines.md").read_text()


def test_the_documented_profile_is_valid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    folder = tmp_path / "config" / "profiles"
    folder.mkdir(parents=True)
    (folder / "target.yaml").write_text(block("docs/machines.md", "yaml", "connector:"))
    assert load_profile("target").address == "10.0.0.5"


@pytest.mark.parametrize("document", ["README.md", "docs/servers.md"])
def test_the_documented_server_is_valid(document: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "server.yaml").write_text(block(document, "yaml", "family: socket"))
    (folder / "server.py").write_text(block("docs/servers.md", "python", "listener"))
    (folder / "requirements.txt").write_text("")
    assert load_entry(folder).protocols == ["pong"]


@pytest.fixture
def shown_workload(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("shown_workload")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(block("docs/extending.md", "python", "class Echo(Declaration)"), module.__dict__)
    said = yaml.safe_load(block("docs/extending.md", "yaml", "title: Size"))
    for key, about in said.items():
        monkeypatch.setitem(known_keys(), key, msgspec.convert(about, About))
    return module.DECLARATION


def test_the_documented_workload_makes_a_form_and_an_axis(shown_workload: Declaration) -> None:
    size = next(field for field in fields(shown_workload.options) if field.key == "size")
    assert (size.label, size.text(64), size.least, size.most) == ("Size", "64 bytes", 1, 1 << 20)
    axis = shown_workload.axis("size", [64, 1024])
    assert axis is not None and (axis.scale, axis.at(64)) == ("log", "64 bytes")


def test_the_documented_server_of_a_workload_is_valid(shown_workload: Declaration) -> None:
    data = yaml.safe_load(block("docs/extending.md", "yaml", "family: echo"))
    assert data["family"] in shown_workload.families
    assert set(data["protocols"]) <= set(shown_workload.protocols)
    assert data.keys() <= set(ServerFile.__struct_fields__)
    assert (ROOT / f"resources/projects/{data['project']}.yaml").is_file()
    assert msgspec.convert(data["seen"], Seen)


def test_code_shown_in_the_docs_passes_the_checks() -> None:
    path = "workbench/workloads/echo/declaration.py"
    code = block("docs/extending.md", "python", "class Echo(Declaration)")
    for check in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *check, "--stdin-filename", path, "-"]
        ran = subprocess.run(
            command, cwd=ROOT, input=code, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_form_and_option_of_a_report_is_documented(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser()
    command.add_report(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    shown = capsys.readouterr().out
    text = (ROOT / "docs/reports.md").read_text()
    options = set(re.findall(r"--[a-z]+", shown)) - {"--help", "--output"}
    assert options == set(re.findall(r"`(--[a-z]+)`", text))
    assert set(report.ENDINGS) == set(re.findall(r"^\| `(\.[a-z]+)` \|", text, flags=re.MULTILINE))
