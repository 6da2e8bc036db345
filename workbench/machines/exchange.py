"""Commands to the other end of a link, and the answers that are waited for."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Protocol, TypeVar

from workbench.errors import PongbenchError
from workbench.machines import runnerevents
from workbench.machines.wire import InvalidMessage

T = TypeVar("T")

ANSWER_WITHIN_S = 8.0


class Writer(Protocol):
    """The stream a link writes to. `drain` and `wait_closed` raise OSError when the connection
    breaks."""

    def write(self, data: bytes, /) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


class Exchange:
    """Once it has failed, everything that waits and every later command raises `failure`."""

    def __init__(self, name: str, writer: Writer) -> None:
        self.name = name
        """Of the machine."""
        self.failure: PongbenchError | None = None
        self._writer = writer
        self._waiting: set[asyncio.Future[Any]] = set()
        self._answers: dict[str, tuple[type, asyncio.Future[Any]]] = {}
        """By key: the event expected as the answer, and the future that waits for it."""

    def expect(self, key: str = "", answer: type = object) -> asyncio.Future[Any]:
        """Return a future that fails when the link does; `key` matches it to its `answer`."""
        if self.failure:
            raise self.failure
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if key:
            self._answers[key] = answer, future
        return future

    async def in_time(
        self, answer: asyncio.Future[T], what: str, within_s: float = ANSWER_WITHIN_S
    ) -> T:
        """Wait for an answer. Raises PongbenchError, "did not `what` within ...", when it is
        late."""
        try:
            async with asyncio.timeout(within_s):
                return await answer
        except TimeoutError:
            raise PongbenchError(f"'{self.name}' did not {what} within {within_s:.0f} s.") from None

    async def send(self, **message: Any) -> None:
        if self.failure:
            raise self.failure
        try:
            self._write(**message)
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await self._writer.drain()
        except TimeoutError:
            self._fail(f"it took nothing for {ANSWER_WITHIN_S:.0f} s")
        except OSError as error:
            # The runner's last message, which is still on its way, names the cause.
            await self._last_message()
            self._fail(f"the connection broke ({error.strerror or error})")
        if self.failure:
            raise self.failure from None

    def _write(self, **message: Any) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    def _answer(self, key: str, event: runnerevents.Event, value: object) -> bool:
        """Resolve a pending answer. Returns whether it was still waited for."""
        wanted, future = self._answers.pop(key, (None, None))
        if wanted is not type(event):
            raise InvalidMessage(f"an unexpected answer ({type(event).__name__.lower()})")
        return resolve(future, value)

    def _refuse(self, key: str, sentence: str) -> None:
        _, future = self._answers.pop(key, (None, None))
        if future and not future.done():
            future.set_exception(PongbenchError(sentence))

    def _fail(self, why: str, code: str = "machine-gone") -> None:
        if self.failure is None:
            sentence = f"The machine '{self.name}' is gone: {why}."
            self.failure = PongbenchError(sentence, code=code)
        for future in list(self._waiting):
            if not future.done():
                future.set_exception(self.failure)
                future.exception()  # No caller waits for it any more.

    async def _last_message(self) -> None:
        """Wait shortly for what the other end said before the connection broke."""
        raise NotImplementedError


def resolve(future: asyncio.Future[Any] | None, value: object) -> bool:
    """Resolve a pending answer. Returns whether it was still waited for."""
    if future is None or future.done():
        return False
    future.set_result(value)
    return True
