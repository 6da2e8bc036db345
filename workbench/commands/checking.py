"""The progress of a check of servers, in the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.text import Text

from workbench.servers.checking import Checked
from workbench.servers.entry import ServerEntry
from workbench.terminal import Terminal
from workbench.untrusted import safe


class Checking:
    """Shows the servers being checked, and a line for each completed one."""

    def __init__(self, console: Terminal) -> None:
        self._console = console
        self._status = console.status("Opening the machine")
        self._doing: dict[str, str] = {}

    def __enter__(self) -> Checking:
        self._status.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._status.stop()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop drawing while the user is asked."""
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def doing(self, entry: ServerEntry, text: str) -> None:
        self._doing[entry.id] = text
        self._status.update(Text(safe("; ".join(self._doing.values()))))

    def done(self, checked: Checked) -> None:
        self._doing.pop(checked.entry.id, None)
        if checked.status == "failed":
            first = checked.reason.partition("\n")[0]
            self._console.print(Text.assemble((checked.entry.id, "bold red"), f": {safe(first)}"))
        elif checked.status == "passed":
            passed = Text.assemble((checked.entry.id, "green"), " passed")
            self._console.print(passed, soft_wrap=True)
