"""A claim is per machine, whatever its name, and ends with its program."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from workbench.commands import asking
from workbench.errors import PongbenchError
from workbench.machines.profiles import Profile, Role
from workbench.run import claims
from workbench.run.claims import Answer, Claim, Hold, held

pytestmark = pytest.mark.usefixtures("home")

HERE = Profile("localhost")
BOLT = Profile("bolt", connector="ssh", address="10.0.0.5")


def roles(name: str) -> list[Role]:
    return ["target"] if name == "localhost" else ["client"]


def hold(
    title: str, *profiles: Profile, on_busy: claims.OnBusy = claims.refuse
) -> AbstractAsyncContextManager[Hold]:
    return held(title, {profile.name: profile for profile in profiles}, roles, on_busy)


async def test_one_run_has_a_machine_at_a_time_and_is_named() -> None:
    async with hold("First", HERE, BOLT) as first:
        first.expect(200.0)
        with pytest.raises(PongbenchError) as caught:
            async with hold("Second", BOLT):
                pass
        assert caught.value.code == "busy"
        since = time.strftime("%H:%M", time.localtime(first.claim.since_s))
        assert str(caught.value).startswith(
            "'First' has been running on localhost (target) and bolt (client) since"
            f" {since}, about 3.3 min left"
        )
        async with hold("Elsewhere", Profile("ash", connector="ssh", address="10.0.0.6")):
            pass
    async with hold("Second", BOLT) as second:
        assert second.others == []


async def test_another_name_of_a_machine_is_the_same_machine() -> None:
    async with hold("First", HERE):
        with pytest.raises(PongbenchError, match=r"^'First' has been running on localhost"):
            async with hold("Second", Profile("this-one")):
                pass


async def test_a_run_waits_until_the_machines_are_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "ASK_AGAIN_S", 0.01)
    asked: asyncio.Future[Claim] = asyncio.get_running_loop().create_future()

    async def wait(other: Claim) -> Answer:
        asked.set_result(other)
        return "wait"

    order = []

    async def second() -> None:
        async with hold("Second", HERE, on_busy=wait):
            order.append("second")

    async with hold("First", HERE):
        waiting = asyncio.create_task(second())
        assert (await asked).title == "First"
        order.append("first")
    await waiting
    assert order == ["first", "second"]


async def test_a_run_cancelled_while_it_waits_holds_nothing() -> None:
    asked = asyncio.Event()

    async def wait(other: Claim) -> Answer:
        asked.set()
        return "wait"

    async def second() -> None:
        async with hold("Second", HERE, on_busy=wait):
            raise AssertionError

    async with hold("First", HERE) as first:
        waiting = asyncio.create_task(second())
        await asked.wait()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert first.newcomers() == []
    async with hold("Third", HERE) as third:
        assert third.others == []


async def test_runs_beside_each_other_know_of_each_other() -> None:
    async def anyway(other: Claim) -> Answer:
        return "anyway"

    async with hold("First", HERE) as first:
        assert first.newcomers() == []
        async with hold("Second", HERE, on_busy=anyway) as second:
            assert [claim.title for claim in second.others] == ["First"]
            assert second.newcomers() == []
            assert [claim.title for claim in first.newcomers()] == ["Second"]
            assert first.newcomers() == []
        # Not held by the second either: it is over.
        assert first.newcomers() == []


@pytest.fixture
def no_data(home: Path) -> None:
    home.mkdir()
    (home / "data").write_text("no folder")


@pytest.mark.usefixtures("no_data")
async def test_where_claims_cannot_be_written_a_run_has_its_machines() -> None:
    async with hold("First", HERE) as first:
        first.expect(10.0)
        assert first.others == []


HOLDER = """
import asyncio, sys
from workbench.machines.profiles import Profile
from workbench.run.claims import held, refuse

async def main():
    async with held("Crashed", {"localhost": Profile("localhost")}, lambda _: ["target"], refuse):
        print("held", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_the_claim_of_a_killed_program_lapses() -> None:
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, stdout=asyncio.subprocess.PIPE
    )
    assert holder.stdout and await holder.stdout.readline() == b"held\n"
    with pytest.raises(PongbenchError, match="'Crashed' has been running"):
        async with hold("Second", HERE):
            pass
    holder.kill()
    await holder.wait()
    async with hold("Second", HERE) as second:
        assert second.others == []
    assert list(claims.folder().iterdir()) == []


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("w", "wait"), ("Wait", "wait"), ("a", "anyway"), ("", "cancel"), ("x", "cancel")],
)
async def test_the_terminal_asks(
    typed: str, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def type_it(text: str, alone: Callable[[], object]) -> str:
        assert text.startswith("'First' has been running on localhost (target) since ")
        return typed

    monkeypatch.setattr(asking, "is_interactive", lambda: True)
    monkeypatch.setattr(asking, "answer_at_terminal", type_it)
    other = Claim(
        title="First", since_s=0.0, roles={"localhost": ["target"]}, places={"localhost": "x"}
    )
    assert await asking.busy_at_terminal(None)(other) == answer
    monkeypatch.setattr(asking, "is_interactive", lambda: False)
    with pytest.raises(PongbenchError, match="use --wait or --anyway"):
        await asking.busy_at_terminal(None)(other)
    assert await asking.busy_at_terminal("wait")(other) == "wait"
