"""Widgets are tested without a display."""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication

from app import theme


@pytest.fixture(autouse=True, scope="session")
def dressed(qapp: QApplication) -> None:
    theme.apply(qapp, theme.LIGHT)
