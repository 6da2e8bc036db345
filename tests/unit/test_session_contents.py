"""Invalid contents are reported when a session is read, with their place, and never later."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import BadInput
from workbench.sessions import read_session

CASES = Path(__file__).parent.parent / "cases" / "hostile" / "sessions"


@pytest.mark.parametrize("case", sorted(CASES.iterdir()), ids=lambda case: case.stem)
def test_documents_no_run_records_are_named_when_read(case: Path) -> None:
    """The second line of a file is the expected message; empty: the file is valid."""
    expected = case.read_text().splitlines()[1].removeprefix("# ").strip("# ")
    try:
        message = read_session(case).damage
    except BadInput as error:
        message = str(error)
    assert expected in message if expected else not message
    assert "\n" not in message
