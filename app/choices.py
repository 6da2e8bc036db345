"""Input widgets for choices: a check box, radio buttons and a combo box."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QComboBox, QRadioButton

from workbench.untrusted import one_line


class Tick(QCheckBox):
    """A check box whose text may come from anywhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(one_line(text).replace("&", "&&"))

    def text(self) -> str:
        return super().text().replace("&&", "&")


class Pick(QRadioButton):
    """A radio button with a description of the option after its text."""

    def __init__(self, text: str, name: str = "", about: str = "") -> None:
        """`name`: the accessible name, where the text alone is not enough."""
        super().__init__(f"{text}: {about}" if about else text)
        self.setAccessibleName(name or text)
        self.setAccessibleDescription(about)


class Choice(QComboBox):
    """A combo box with a name for screen readers."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setAccessibleName(name)
        self.setAccessibleDescription(name)  # on Linux Qt gives the current text as the name
