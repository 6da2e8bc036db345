"""Which runs are on which machines, so that no two share cores unnoticed.

A run's claim is a file in the user's data with a lock beside it, which the kernel releases when the
program dies. On machines over SSH, runs of other computers are kept out by the runner there
(`remote.runner.claims`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import platform
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec

from workbench import formatting, paths, stores
from workbench.closing import to_the_end
from workbench.documents import AnyDocument, HostSample, Window
from workbench.errors import PongbenchError, why
from workbench.machines.profiles import Profile, Role
from workbench.run.progress import RunProgress

if TYPE_CHECKING:
    import filelock

log = logging.getLogger(__name__)

ASK_AGAIN_S = 1.0
"""While waiting for another run."""

Answer: TypeAlias = Literal["wait", "anyway", "cancel"]


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A run on its machines, as other programs see it."""

    title: str
    since_s: float
    """Since the epoch, as all times of a claim."""
    ends_s: float | None = None
    roles: dict[str, list[Role]]
    places: dict[str, str]
    """What identifies each machine, whatever its name."""

    def shared(self, other: Claim) -> list[str]:
        """Return the machines of this run that the other is on, too."""
        return [name for name, place in self.places.items() if place in other.places.values()]

    @property
    def text(self) -> str:
        """A sentence without its full stop: who is where, since when, and how long still."""
        where = formatting.listed(
            [f"{name} ({' and '.join(roles)})" for name, roles in self.roles.items()]
        )
        since = time.strftime("%H:%M", time.localtime(self.since_s))
        left_s = (self.ends_s or 0.0) - time.time()
        left = f", about {formatting.time_span((left_s, left_s))} left" if left_s > 0 else ""
        return f"'{self.title}' has been running on {where} since {since}{left}"


OnBusy: TypeAlias = Callable[[Claim], Awaitable[Answer]]
"""Asks the user what to do about a run that is on the same machines."""


async def refuse(other: Claim) -> Answer:
    return "cancel"


class Hold:
    """The claim of one run. `others`: the runs beside which it was started anyway."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.others: list[Claim] = []
        self._path = folder() / f"{secrets.token_hex(8)}.json"
        self._lock: filelock.BaseFileLock | None = None
        self._known: set[Path] = set()
        self._progress = RunProgress()

    def take(self, *, anyway: bool = False) -> bool:
        """Take the claim, unless another run has one of the machines; also where none is kept."""
        try:
            with stores.locked(folder()):
                held = self._held_by_others()
                self.others = list(held.values())
                if self.others and not anyway:
                    return False
                self._known = set(held)
                self.claim = msgspec.structs.replace(self.claim, since_s=time.time())
                self._lock = _lock(self._path)
                self._lock.acquire(timeout=0)
                self._write()
        except OSError as error:
            log.warning("The machines cannot be claimed: %s.", why(error))
        return True

    def release(self) -> None:
        """Give the claim up. Raises OSError."""
        with stores.locked(folder()):
            if self._lock and self._lock.is_locked:
                self._path.unlink(missing_ok=True)
                self._lock.release()
                Path(self._lock.lock_file).unlink(missing_ok=True)

    def newcomers(self) -> list[Claim]:
        """Tell others how long this run takes. Returns runs that are new here. Raises OSError."""
        with stores.locked(folder()):
            if (left_s := self._progress.left_s) is not None:
                self.expect(left_s)
            held = self._held_by_others()
        new = [claim for path, claim in held.items() if path not in self._known]
        self._known = set(held)
        return new

    def expect(self, left_s: float) -> None:
        """Tell others how long this run still takes, if they can be told anything."""
        self.claim = msgspec.structs.replace(self.claim, ends_s=time.time() + left_s)
        with contextlib.suppress(OSError):
            self._write()

    def __call__(self, document: AnyDocument) -> None:
        """Take a document of the run, from which follows how long it still takes."""
        if not isinstance(document, Window | HostSample):
            self._progress(document)

    def _held_by_others(self) -> dict[Path, Claim]:
        return {
            path: claim
            for path, claim in _held()
            if path != self._path and self.claim.shared(claim)
        }

    def _write(self) -> None:
        stores.write(self._path, msgspec.json.encode(self.claim))


@contextlib.asynccontextmanager
async def held(
    title: str,
    profiles: Mapping[str, Profile],
    roles: Callable[[str], list[Role]],
    on_busy: OnBusy,
    notify: Callable[[str], None] = lambda text: None,
) -> AsyncIterator[Hold]:
    """Hold the machines of a run. Raises PongbenchError where another run has one of them."""
    hold = Hold(
        Claim(
            title=title,
            since_s=time.time(),
            roles={name: roles(name) for name in profiles},
            places={name: place(profile) for name, profile in profiles.items()},
        )
    )
    answer: Answer | None = None
    try:
        # To the end: cancelled in between, the claim would be taken and not given up.
        while not await to_the_end(asyncio.to_thread(hold.take, anyway=answer == "anyway")):
            other = hold.others[0]
            if answer is None:
                answer = await on_busy(other)
                if answer == "wait":
                    notify(f"Waiting: {other.text}.")
            elif answer == "wait":
                await asyncio.sleep(ASK_AGAIN_S)
            if answer == "cancel":
                raise PongbenchError(f"{other.text}; nothing was started.", code="busy")
        yield hold
    finally:
        with contextlib.suppress(OSError):
            hold.release()


def folder() -> Path:
    return paths.data_dir() / "claims"


def _held() -> Iterator[tuple[Path, Claim]]:
    """Yield the claims of running programs, under the folder's lock; remove crashed ones'."""
    import filelock  # noqa: PLC0415  see `stores.locked`

    for path in sorted(folder().glob("*.json")):
        lock = _lock(path)
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                yield path, msgspec.json.decode(path.read_bytes(), type=Claim)
            continue
        path.unlink(missing_ok=True)
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)


def _lock(path: Path) -> filelock.BaseFileLock:
    """The lock of a claim; released by whichever thread."""
    import filelock  # noqa: PLC0415  see `stores.locked`

    stores.make_folder(path.parent)
    return filelock.FileLock(path.with_suffix(".lock"), mode=stores.PRIVATE, thread_local=False)


def place(profile: Profile) -> str:
    """Return what identifies a machine; also between computers that share a home."""
    if profile.connector == "local":
        return f"local {platform.node()}"
    return f"{profile.jump} {profile.address}:{profile.port}"
