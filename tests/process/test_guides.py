"""Each page of docs/guides can be followed as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
ELSEWHERE = {"machines": "other machines; tests/lab/test_guide.py has them"}
WITHIN_S = 500


@pytest.mark.parametrize(
    "guide", [path for path in GUIDES if path.stem not in ELSEWHERE], ids=lambda path: path.stem
)
def test_a_guide_can_be_followed(guide: Path, home: Path, tmp_path: Path) -> None:
    """`home` is in the environment."""
    text = guide.read_text("utf-8")
    for name, plan in re.findall(r"```yaml\n# (\S+)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(plan)
    commands = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))
    assert commands
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-ec", f'PATH="{programs}:$PATH"\n{commands}'],
        cwd=tmp_path,
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
