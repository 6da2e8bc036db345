"""An SSH server on loopback that acts as another machine."""

from __future__ import annotations

import asyncio
import threading

import asyncssh
from sshd import SshHost

from tests.gui.windows import PATIENCE_MS


class Host:
    """An SSH server on loopback, in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._host = SshHost()
        self.start()

    @property
    def port(self) -> int:
        return self._host.port

    def start(self) -> None:
        self._run(self._host.listen())

    def stop(self) -> None:
        self._run(self._host.stop())

    def new_key(self) -> None:
        self.stop()
        self._host.keys = [asyncssh.generate_private_key("ssh-ed25519")]
        self.start()

    def close(self) -> None:
        self._run(self._host.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def fingerprint(self) -> str:
        return self._host.key.get_fingerprint("sha256")

    def _run(self, coroutine):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(PATIENCE_MS / 1000)
