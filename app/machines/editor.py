"""The form for a machine's profile; errors are shown beside their fields."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.dialogs import Dialog, ask_file
from app.fields import Figure, Flag, Line, Options, TextField
from app.scrolling import Scrolled
from app.theme import Weight
from app.widgets import Inline, beside, button, column, fill, label, tool
from workbench.errors import BadInput
from workbench.formatting import capital
from workbench.machines.profiles import Profile, cores_in, make_profile, profile_names, save_profile

_CORES = "Expected auto or core numbers, such as 2, 4-7."
_MESSAGES = {"cpus.server": _CORES, "cpus.agent": _CORES, "key": "Enter the path of a private key."}
"""Where a form's message is clearer than that for a file."""
_ROLES = [
    ("target client", "Target and client"),
    ("target", "Target: runs servers"),
    ("client", "Client: generates load"),
]
_AUTH = [
    ("auto", "SSH defaults, then password"),
    ("agent", "SSH agent"),
    ("key", "Private key file"),
    ("password", "Password"),
]
_KEYS = {"auto": "Empty: the keys that ssh would use", "key": "A private key"}
"""Hints for its file, by authentication."""
_SUDO = [
    ("no", "No sudo"),
    ("passwordless", "sudo without password"),
    ("password", "sudo with password"),
]
_ADDRESS = "Name, IP address or Host in ~/.ssh/config"
_PASSWORDS = "Passwords are asked for when needed and never stored in a profile."
_FORM: dict[str, tuple[tuple[str, str, Callable[[str], Any], str], ...]] = {
    "": (
        ("address", "Address", TextField, _ADDRESS),
        ("user", "User", TextField, "Empty: from ~/.ssh/config, or your local user name"),
        ("name", "Name", TextField, "Letters, digits, . _ -"),
    ),
    "Use": (
        ("description", "Description", TextField, ""),
        ("roles", "Role", lambda name: Options(name, _ROLES), ""),
    ),
    "Connection": (
        ("ssh_config", "SSH settings", lambda _: Flag("Use ~/.ssh/config"), ""),
        (
            "port",
            "Port",
            lambda name: Figure(name, grouped=False),
            "Empty: from ~/.ssh/config, or 22",
        ),
        ("auth", "Authentication", lambda name: Options(name, _AUTH), _PASSWORDS),
        ("key", "Key file", TextField, ""),
        ("jump", "Jump host", TextField, "A machine listed here, or [user@]host[:port]"),
    ),
    "Permissions": (("sudo", "Privileges", lambda name: Options(name, _SUDO), ""),),
    "Locations": (
        ("cpus.server", "Server cores", TextField, "auto, or core numbers: 2, 4-7"),
        ("cpus.agent", "Client cores", TextField, "auto, or core numbers: 2, 4-7"),
        ("work_dir", "Work directory", TextField, "The only directory kept there"),
        ("python", "Python", TextField, "Empty: the first 3.10 or later"),
        ("reach", "Public address", TextField, "For other machines. Empty: the SSH address"),
        ("bind", "Listen address", TextField, "For servers. Empty: the SSH address"),
    ),
}
"""By section: key of a profile, caption, how the field is made from it, and a note. A new machine
needs the first only."""
_LOCAL = ("description", "roles", "cpus.server", "cpus.agent", "reach", "bind")
"""What the profile of this computer has of these."""
_DEFAULTS = {"roles": ["target", "client"], "ssh_config": True, "work_dir": "~/.cache/pongbench"}
_WIDE, _LEAST_HIGH = 620, 480
_TITLES = {"new": "Add a machine", "copy": "Duplicate {}", "edit": "Edit {}"}


class Editor(Dialog):
    """Stays open until the profile is valid and saved."""

    saved = Signal(str, bool)
    """The machine's name, and whether it is to be checked."""

    def __init__(self, parent: QWidget, desk: Desk, values: dict[str, Any], *, task: str) -> None:
        """`values`: as of a profile. `task`: new, copy or edit."""
        super().__init__(parent)
        self._desk, self._values, self._task = desk, values, task
        self._ssh = values.get("connector", "ssh") == "ssh"
        self._touched: set[str] = set()
        self._lines: dict[str, Line] = {}
        self._fields: dict[str, Any] = {}
        name = "this computer" if not self._ssh else str(values.get("like") or values.get("name"))
        self.setWindowTitle(_TITLES[task].format(name))
        self.wrong = Inline()
        form = QWidget()
        self._form = column(form, margin=(0, 0, 12, 0), gap=8)
        self._others = QWidget()
        self._make_fields()
        self._form.addStretch(1)
        self._scroll = Scrolled(form)
        self._more = button("More settings", "sliders-horizontal", kind="ghost")
        self._more.clicked.connect(self._unfold)
        self._more.setVisible(task == "new")
        cancel = button("Cancel", on_click=self.reject)
        self.keep = button("Save", "save", kind="" if self._ssh else "primary", on_click=self.save)
        self.check = button("Save and check", "activity", kind="primary")
        self.check.clicked.connect(lambda: self.save(check=True))
        self.check.setVisible(self._ssh)
        (self.check if self._ssh else self.keep).setDefault(True)
        foot = beside(self._more, None, cancel, self.keep, self.check)
        column(self, self.wrong, (self._scroll, 1), foot, margin=20, gap=12)
        self.finished.connect(lambda _: self.deleteLater())
        self._others.setVisible(task != "new")
        self._fit_height()
        first = self._fields.get({"new": "address", "copy": "name"}.get(task, "description"))
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            first.selectAll()

    def values(self) -> dict[str, Any]:
        """Return the values as a profile has them; empty ones are left out."""
        given: dict[str, Any] = {"name": self._values.get("name", "")}
        given["connector"] = "ssh" if self._ssh else "local"
        for key, field in self._fields.items():
            value = field.value()
            if isinstance(value, str):
                value = value.strip()
            if key.startswith("cpus."):
                given.setdefault("cpus", {})[key[5:]] = cores_in(value or "auto")
            elif key == "roles":
                given[key] = value.split()
            elif value not in ("", None):
                given[key] = value
        if "tuning" in self._values:
            given["tuning"] = self._values["tuning"]
        return given

    def _fit_height(self) -> None:
        """Be as high as the fields, within the window."""
        form = self._scroll.widget()
        high = self.sizeHint().height() - self._scroll.sizeHint().height()
        high += form.sizeHint().height()
        self.resize(_WIDE, min(high, max(_LEAST_HIGH, self.parentWidget().window().height() - 60)))

    def _unfold(self) -> None:
        self._more.hide()
        self._others.show()
        self._fit_height()

    def save(self, *, check: bool = False) -> None:
        """Save the profile, or show what is invalid. `check`: the machine afterwards."""
        self._touched = set(self._lines)
        if (profile := self._judge()) is None:
            wrong = next((key for key, line in self._lines.items() if line.tone == "bad"), "")
            field = self._fields.get(wrong)
            if field is not None:
                if self._others.isHidden() and self._others.isAncestorOf(field):
                    self._unfold()
                field.setFocus(Qt.FocusReason.OtherFocusReason)
                self._scroll.ensureWidgetVisible(self._lines[wrong])
            return

        def saved(_: Path) -> None:
            self.saved.emit(profile.name, check)
            self.accept()

        self._enable(False)
        store = partial(save_profile, profile, replace=self._task == "edit")
        self._desk.bridge.do(store, saved, self._on_refused)

    def _enable(self, on: bool) -> None:
        self.keep.setEnabled(on)
        self.check.setEnabled(on)

    def _make_fields(self) -> None:
        others = column(self._others, gap=8)
        for section, fields in _FORM.items():
            shown = [each for each in fields if self._ssh or each[0] in _LOCAL]
            into = others if section else self._form
            if section and shown:
                fill(into, 6, label(section, 14, Weight.DemiBold))
            for key, name, make, note in shown:
                field = self._fields[key] = make(name)
                line = self._lines[key] = Line(
                    name, field, stretch=isinstance(field, Figure | Options | Flag)
                )
                line.explain(note)
                into.addWidget(line)
                field.edited.connect(lambda key=key: self._on_edited(key))
                value = self._values.get(key, _DEFAULTS.get(key))
                if key.startswith("cpus."):
                    value = (self._values.get("cpus") or {}).get(key[5:], "auto")
                if isinstance(value, list):
                    value = (" " if key == "roles" else ", ").join(map(str, value))
                field.set_value(value or None if key == "port" else value)
        self._form.addWidget(self._others)
        if self._task == "edit" and self._ssh:
            self._fields["name"].setReadOnly(True)
            self._lines["name"].explain("Cannot be renamed; duplicate the machine instead.")
        if self._ssh:
            browse = tool("Choose a key file", "folder-open", self._browse)
            self._lines["key"].parts.addWidget(browse)
        self._fit()

    def _on_edited(self, key: str) -> None:
        self._touched.add(key)
        self.wrong.show_text("")
        if key == "address" and self._task == "new" and "name" not in self._touched:
            self._fields["name"].set_value(_name_of(self._fields["address"].value()))
        self._fit()
        self._judge()

    def _fit(self) -> None:
        """Show only the fields that the log-in method needs."""
        if "key" in self._lines:
            auth = self._fields["auth"].value()
            self._lines["key"].setVisible(auth in _KEYS)
            self._lines["key"].explain(_KEYS.get(auth, ""))

    def _browse(self) -> None:
        field = self._fields["key"]

        def take(chosen: Path) -> None:
            field.set_value(chosen)
            field.edited.emit()

        ask_file(self, "Private key", take, start=Path("~/.ssh").expanduser())

    def _judge(self) -> Profile | None:
        """Return the profile, if it is valid. Errors are shown beside their fields, but for fields
        that were not reached yet.
        """
        for line in self._lines.values():
            line.fault("")
        values = self.values()
        for key in {"name", "address"} - self._touched if self._ssh else ():
            values[key] = values.get(key) or "untold"
        try:
            profile = make_profile(values)
        except BadInput as error:
            key = error.key.partition("[")[0]
            if key not in self._lines:
                self.wrong.show_text(str(error))
            elif key in self._touched:
                self._lines[key].fault(_MESSAGES.get(key, capital(error.complaint)))
            return None
        if self._ssh:
            split = values["address"] != profile.address
            self._lines["address"].explain(f"Saved as {profile.reached}" if split else _ADDRESS)
        return profile

    def _on_refused(self, sentence: str) -> None:
        self._enable(True)
        taken = self._task != "edit" and self.values().get("name") in profile_names()
        if taken and "name" in self._lines:
            self._lines["name"].fault(sentence)
            self._fields["name"].setFocus()
        else:
            self.wrong.show_text(sentence)


def values_of(profile: Profile) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(profile)
    return {"connector": "local", **found}


def _name_of(address: str) -> str:
    """Return a name for the machine at an address: "db" for "bob@db.example:2222"."""
    host = address.strip().removeprefix("ssh://").rpartition("@")[2]
    if re.fullmatch(r"[0-9.]+(:[0-9]+)?", host):
        return host.partition(":")[0]
    return re.sub(r"[^A-Za-z0-9_-]", "", re.split(r"[.:]", host.strip("[]"))[0])
