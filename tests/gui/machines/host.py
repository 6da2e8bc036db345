"""An SSH server on loopback: another machine, for tests."""

from __future__ import annotations

import asyncio
import threading

import asyncssh
from sshd import listen

from tests.gui.windows import PATIENCE_MS


class Host:
    """An SSH server on loopback, in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.port = 0
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._connections: list[asyncssh.SSHServerConnection] = []
        self.start()

    def start(self) -> None:
        self._acceptor = self._run(listen(self.key, self.port, self._connections))
        self.port = self._acceptor.get_port()

    def stop(self) -> None:
        if self._acceptor is not None:
            self._acceptor.close()
            self._run(self._acceptor.wait_closed())
            self._acceptor = None

    def new_key(self) -> None:
        self.stop()
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.start()

    def close(self) -> None:
        self.stop()
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def fingerprint(self) -> str:
        return self.key.get_fingerprint("sha256")

    async def _end(self) -> None:
        for connection in self._connections:
            connection.abort()
            await connection.wait_closed()
        await asyncio.sleep(0)  # their sockets are closed by the loop
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _run(self, coroutine):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_MS / 1000)
