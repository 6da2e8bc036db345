"""Each page of docs/guides can be followed as it stands, and so can the workflow of docs/ci.md."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workbench import paths
from workbench.analysis.summary import summarise
from workbench.sessions import read_session

ROOT = Path(__file__).parents[2]
SESSIONS = ROOT / "tests/cases/sessions"
GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
ELSEWHERE = {"machines": "other machines; tests/lab/test_guide.py has them"}
WITHIN_S = 500


@pytest.mark.parametrize(
    "guide", [path for path in GUIDES if path.stem not in ELSEWHERE], ids=lambda path: path.stem
)
def test_a_guide_can_be_followed(guide: Path, home: Path, tmp_path: Path) -> None:
    """`home` is in the environment."""
    text = written(guide, tmp_path)
    commands = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert commands
    follow(commands, tmp_path)


def test_the_workflow_of_the_page_on_ci_runs_as_written(home: Path, tmp_path: Path) -> None:
    written(ROOT / "docs/ci.md", tmp_path)
    workflow = yaml.safe_load((tmp_path / ".github/workflows/limits.yml").read_text("utf-8"))
    steps = [step for step in workflow["jobs"]["limits"]["steps"] if "run" in step]
    assert [step["name"] for step in steps][:2] == ["Install", "Limits"]
    for step in steps[1:]:
        follow(step["run"], tmp_path, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY="summary.md")
    assert "| Server |" in (tmp_path / "summary.md").read_text("utf-8")
    assert (tmp_path / "limits.xml").is_file()


def test_the_page_on_notebooks_runs_as_written(home: Path, tmp_path: Path) -> None:
    recorded = list(SESSIONS.glob("*.pong.yaml"))
    folder = paths.data_dir() / "sessions"
    folder.mkdir(parents=True)
    for path in recorded:
        shutil.copy(path, folder)
    (folder / "broken.yaml").write_text("# pongbench session\n---\nkind: run_start\n")
    text = (ROOT / "docs/notebook.md").read_text("utf-8")
    shell, code = (
        re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("sh", "python")
    )
    assert len(shell) == 2 and len(code) == 1
    follow("".join(shell), tmp_path)
    script = tmp_path / "notebook.py"
    script.write_text(code[0])
    follow("python notebook.py", tmp_path)
    with (tmp_path / "servers.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["session"] for row in rows}) == len(recorded)
    for path in recorded:
        summary = summarise(read_session(path).completed())
        told = {
            row["series"]: row for row in rows if row["session"] == read_session(path).start.session
        }
        assert told.keys() == summary.servers.keys()
        for key, server in summary.servers.items():
            assert float(told[key]["sustained"] or 0) == (server.knee or 0)


def written(page: Path, folder: Path) -> str:
    """Write the files that a page shows, and return its text."""
    text = page.read_text("utf-8")
    for name, content in re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, re.DOTALL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return text


def follow(commands: str, folder: Path, **env: str) -> None:
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-ec", f'PATH="{programs}:$PATH"\n{commands}'],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_guide_is_short_and_every_link_leads_somewhere() -> None:
    for page in [*GUIDES, ROOT / "docs/README.md"]:
        text = page.read_text("utf-8")
        assert len(text.splitlines()) <= 45
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
