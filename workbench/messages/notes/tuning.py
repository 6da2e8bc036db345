"""Notes on kernel settings changed for the duration of a run."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.messages.notes.notice import Notice, Severity


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel setting, as reported by the tuner."""

    key: str
    old: str | int | None = None
    wanted: str | int | None = None
    got: str | int | None = None
    problem: str = ""
    """Why it was not set; empty: it was."""

    @property
    def changed(self) -> bool:
        return not self.problem and self.old != self.got


class Tuned(Notice, frozen=True, kw_only=True):
    """Kernel settings of a machine were changed for the duration of the run."""

    machine: str = ""
    set: str = ""
    """The name of the set."""
    settings: list[Setting]

    def before(self) -> list[str]:
        """The changed settings with their previous values: "net.core.somaxconn 4096"."""
        return [f"{s.key} {s.old}" for s in self.settings if s.changed]

    def text(self) -> str:
        return " ".join(self.sentences()) or f"{self.machine} needed no tuning for this run."

    def sentences(self) -> list[str]:
        """What was changed, and what could not be."""
        changed = [f"{s.key} {s.old} -> {s.got}" for s in self.settings if s.changed]
        tuned = f"{self.machine} is tuned for this run: {', '.join(changed)}."
        kept = [
            f"{s.key} is unchanged on {self.machine}: {s.problem}."
            for s in self.settings
            if s.problem
        ]
        clamped = [
            f"The kernel of {self.machine} set {s.key} to {s.got}, not {s.wanted} as asked."
            for s in self.settings
            if not s.problem and s.got != s.wanted
        ]
        return [*([tuned] if changed else []), *kept, *clamped]


class Untuned(Notice, frozen=True, kw_only=True):
    """Kernel settings were not changed."""

    machine: str
    why: Literal["profile", "sudo", "declined", "failed"]
    said: str = ""
    """How it failed, as a complete sentence."""

    def text(self) -> str:
        if self.why == "failed":
            return self.said
        return {
            "profile": f"{self.machine} is not tuned: its profile does not allow it (tuning).",
            "sudo": f"{self.machine} is not tuned: its profile allows no root privileges (sudo).",
            "declined": f"{self.machine} is not tuned: the run was started without tuning.",
        }[self.why]


class Restored(Notice, frozen=True, kw_only=True):
    """The settings of a machine were restored."""

    machine: str
    settings: list[str]
    """ "net.core.somaxconn 4096"."""

    def text(self) -> str:
        listed = ", ".join(self.settings)
        return f"Kernel settings of {self.machine} are restored: {listed}."


class CrashRestored(Notice, frozen=True, kw_only=True):
    """A crashed run had left a machine tuned; its settings were restored."""

    machine: str
    said: list[str]
    """One sentence per setting, restored or not."""

    def text(self) -> str:
        return f"A crashed run had left {self.machine} tuned: {' '.join(self.said)}"


class NotRestored(Notice, frozen=True, kw_only=True):
    """A setting that was changed for the run could not be restored."""

    level = Severity.WARNING

    machine: str
    said: str
    """Which one and why, as a complete sentence."""

    def text(self) -> str:
        return self.said


class StillTuned(Notice, frozen=True, kw_only=True):
    """A machine is still tuned by another run, or by a crashed one, so its figures are those of a
    tuned machine."""

    level = Severity.WARNING

    machine: str
    said: str
    """Why it could not be restored, as a complete sentence."""

    def text(self) -> str:
        return f"{self.machine} is still tuned by another run, or by one that crashed: {self.said}"
