"""YAML syntax errors, reworded for users who never learned YAML: the parser's texts address
programmers."""

from __future__ import annotations

from typing import Any

import yaml

_SLIPS = (
    (
        "mapping values are not allowed",
        "a colon stands where none can; put the text into quotes, or give the key a line of its"
        " own, as far right as its neighbours.",
    ),
    (
        "block sequence entries are not allowed",
        "a list begins here, behind something else; begin it on the next line.",
    ),
    (
        "cannot start any token",
        "a value cannot begin with this character; put the value into quotes.",
    ),
    (
        "unknown escape character",
        "there is no such character behind a backslash; use single quotes, or two backslashes.",
    ),
    (
        "could not find expected ':'",
        "the line before has no colon; write 'key: value'.",
    ),
    (
        "did not find expected '-' indicator",
        "this line is no part of the list above it; begin it with '- ', or indent it.",
    ),
    (
        "did not find expected key",
        "this line stands neither below the one before nor beside it; indent it like its"
        " neighbours.",
    ),
    (
        "did not find expected <document start>",
        "this line stands further left than the first one; begin both at the same column.",
    ),
    (
        "did not find expected node content",
        "a value is missing before this, or a bracket is too many.",
    ),
    (
        "did not find expected comment or line break",
        "behind | or > the line must end; begin the text on the next one.",
    ),
    (
        "directive",
        "a line cannot begin with %; remove it, or put the value into quotes.",
    ),
)


def explained(error: yaml.MarkedYAMLError, text: str, first_line: int = 1) -> str:
    """Describe the error and its fix, to follow the place; in the parser's words if there is no
    better text. `first_line`: the number of the text's first line."""
    problem = error.problem or "this is not YAML"
    mark, lines = error.problem_mark, text.splitlines()
    if mark and mark.line < len(lines) and lines[mark.line][mark.column :].startswith("\t"):
        return "a tab stands where only spaces may; indent with spaces."
    if "end of stream" in problem and "quoted" in (error.context or ""):
        return (
            f"the quotation mark{_begun(error.context_mark, first_line)} is never closed; close it."
        )
    for bracket, opened in (("]", "list begun with '['"), ("}", "group begun with '{'")):
        if f"or '{bracket}'" in problem:
            begun = _begun(error.context_mark, first_line)
            return (
                f"the {opened}{begun} goes on until here; put commas between its values, and"
                f" '{bracket}' at its end."
            )
    text = next((words for slip, words in _SLIPS if slip in problem), "")
    return text or (f"{problem} ({error.context})." if error.context else f"{problem}.")


def _begun(mark: Any, first_line: int) -> str:
    """Return where it began. `mark` is the parser's; its C variant is no `yaml.Mark`."""
    return f" of line {mark.line + first_line}" if mark else ""
