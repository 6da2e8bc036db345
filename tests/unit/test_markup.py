"""No widget of the window interprets foreign text as markup, by construction: see app/plain.py."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BARE = {
    *("QLabel", "QMessageBox", "QTextBrowser", "QTextEdit", "QTextDocument", "QStaticText"),
    *("QErrorMessage", "QInputDialog", "QProgressDialog", "QWhatsThis", "QSplashScreen"),
    *("TextItem", "LabelItem", "QGraphicsTextItem"),
    *("setHtml", "insertHtml", "appendHtml", "setMarkdown", "setTextFormat", "setWhatsThis"),
    *("setStatusTip", "setDetailedText"),
}
"""What takes text for markup, or may."""
HERE = {
    "plain.py": {"QLabel", "QStaticText", "setTextFormat"},
    "question.py": {"QMessageBox", "QInputDialog", "setTextFormat"},
}
TIPS = {"setToolTip": -1, "setTabToolTip": -1, "showText": 1}
"""Which argument of them is read out."""


def _name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


@pytest.mark.parametrize("path", sorted((ROOT / "app").rglob("*.py")), ids=lambda path: path.stem)
def test_no_text_in_the_window_is_interpreted_as_markup(path: Path) -> None:
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            used = {_name(base) for base in node.bases} & BARE
        elif isinstance(node, ast.Call):
            used = {_name(node.func)} & BARE
            if (place := TIPS.get(_name(node.func))) is not None:
                text = node.args[place]
                plain = isinstance(text, ast.Call) and _name(text.func) == "tip"
                if not plain and not isinstance(text, ast.Constant):
                    used.add(f"{_name(node.func)} without tip()")
        else:
            continue
        found += [f"line {node.lineno}: {each}" for each in used - HERE.get(path.name, set())]
    assert not found, "see app/plain.py"
