"""Each page of docs/guides can be followed as it stands, and so can the workflow of docs/ci.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
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
