"""How a command for continuous integration ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from workbench.errors import BadInput, ExitCode, why
from workbench.results.criteria import Outcome, exit_code
from workbench.results.render.ci import annotation, junit
from workbench.terminal import say, to_stderr


def conclude(
    name: str, outcomes: Sequence[Outcome], file: Path | None, *, also: Sequence[Outcome] = ()
) -> ExitCode:
    """Report the tests that did not pass, on stderr and, on GitHub, on the page of the job; write
    `file`, with those of `also` first. Raises BadInput if that cannot be written."""
    on_github = os.environ.get("GITHUB_ACTIONS") == "true"
    for each in outcomes:
        if each.state == "passed":
            continue
        to_stderr(f"{each.test}: {each.state}. {each.text}")
        if on_github:
            say(annotation(each), to=sys.stderr)
    if file:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(junit(name, [*also, *outcomes]), encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {why(error)}.") from None
    return exit_code(outcomes)
