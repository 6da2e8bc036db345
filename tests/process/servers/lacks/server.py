"""Lacks one thing: lacks/server.py MODE[:ARGUMENT] PORT.

One connection after another, for each of which it does what `LACKS` has, about 5 ms; `threads`,
`processes` and `events` serve several at once.
"""

import asyncio
import contextlib
import ctypes
import fcntl
import mmap
import os
import random
import select
import socket
import sys
import threading
import time

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"
SPELL_S = 0.005
MANY = 8
"""Threads, processes."""
TOUCHED = 160 << 20
PR_SET_NAME = 15


def until(seconds, work):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        work()


def collect_garbage():
    """On a thread that is named as the JVM names those that do."""

    def collecting():
        ctypes.CDLL(None).prctl(PR_SET_NAME, b"GC Thread#0", 0, 0, 0)
        while True:
            due.acquire()
            until(SPELL_S, lambda: None)
            done.release()

    due, done = threading.Semaphore(0), threading.Semaphore(0)
    threading.Thread(target=collecting, daemon=True).start()

    def work():
        due.release()
        done.acquire()

    return work


def touch_memory():
    file = os.open("touched", os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(file, 0, TOUCHED)
    touched = mmap.mmap(file, TOUCHED)
    return lambda: until(SPELL_S, lambda: touched[random.randrange(TOUCHED)])


def flush():
    file = os.open("flushed", os.O_WRONLY | os.O_CREAT)

    def work():
        for _ in range(8):  # some disks take less than a millisecond
            os.pwrite(file, os.urandom(4096), 4096 * random.randrange(4096))
            os.fsync(file)

    return work


def ask_another():
    """A service that answers after 5 ms."""
    service = socket.create_connection(("127.0.0.1", int(argument)))

    def work():
        service.sendall(b"?")
        service.recv(1)

    return work


class Database:
    """PostgreSQL in its own protocol, over a socket in the current folder."""

    def __init__(self):
        self.link = socket.socket(socket.AF_UNIX)
        self.link.connect("/proc/self/cwd/data/.s.PGSQL.5432")
        words = b"user\0pong\0database\0pong\0\0"
        self.link.sendall((8 + len(words)).to_bytes(4, "big") + b"\0\3\0\0" + words)
        self.answered()

    def answered(self):
        """Until it is ready for a query."""
        message = b""
        while message[-6:-1] != b"Z\0\0\0\5":
            message = message[-6:] + self.link.recv(4096)

    def query(self, text):
        message = text.encode() + b"\0"
        self.link.sendall(b"Q" + (4 + len(message)).to_bytes(4, "big") + message)
        self.answered()


def database(text):
    asked = Database()
    return lambda: asked.query(text)


def held():
    kept = []
    return lambda: kept.append(os.open("/dev/null", os.O_RDONLY))


def read_zeros():
    zeros = os.open("/dev/zero", os.O_RDONLY)
    return lambda: until(SPELL_S, lambda: os.read(zeros, 1 << 16))


LACKS = {
    "nothing": lambda: lambda: None,
    "time": lambda: lambda: until(SPELL_S, lambda: None),
    "kernel": read_zeros,
    "sleep": lambda: lambda: time.sleep(SPELL_S),
    "accepting": lambda: lambda: select.select([], [], [], SPELL_S),
    "descriptors": held,
    "garbage": collect_garbage,
    "memory": touch_memory,
    "disk": flush,
    "service": ask_another,
    "database": lambda: database("select pg_sleep(0.005)"),
    "busy-database": lambda: database("select sum(n) from generate_series(1, 25000) n"),
}


def one_by_one(listener, work):
    while True:
        try:
            client, _ = listener.accept()
            with client, contextlib.suppress(ConnectionError):
                work()
                client.sendall(PONG)
        except OSError:
            time.sleep(0.001)


def threads(listener):
    """Threads that need one lock and sleep while holding it."""
    lock = threading.Lock()

    def work():
        with lock:
            time.sleep(SPELL_S)

    each = (threading.Thread(target=one_by_one, args=(listener, work)) for _ in range(MANY))
    for thread in each:
        thread.start()


def processes(listener):
    """As `threads`, with a lock on a file."""
    for _ in range(MANY):
        if os.fork() == 0:
            file = os.open("lock", os.O_RDWR | os.O_CREAT)

            def work():
                fcntl.flock(file, fcntl.LOCK_EX)  # noqa: B023
                time.sleep(SPELL_S)
                fcntl.flock(file, fcntl.LOCK_UN)  # noqa: B023

            one_by_one(listener, work)
    os.wait()


def pool(listener):
    """Threads that sleep, each for itself."""
    work = lambda: time.sleep(MANY * SPELL_S)  # noqa: E731
    for _ in range(MANY):
        threading.Thread(target=one_by_one, args=(listener, work)).start()


def events(listener):
    """An event loop that asks a service over two connections."""

    async def main():
        free = asyncio.Queue()
        for _ in range(2):
            free.put_nowait(await asyncio.open_connection("127.0.0.1", int(argument)))

        async def serve(reader, writer):
            service = await free.get()
            service[1].write(b"?")
            await service[0].readexactly(1)
            free.put_nowait(service)
            writer.write(PONG)
            writer.close()

        async with await asyncio.start_server(serve, sock=listener) as server:
            await server.serve_forever()

    asyncio.run(main())


SEVERAL = {"threads": threads, "processes": processes, "pool": pool, "events": events}
mode, _, argument = sys.argv[1].partition(":")
listening = socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=512)
if mode in SEVERAL:
    SEVERAL[mode](listening)
else:
    one_by_one(listening, LACKS[mode]())
