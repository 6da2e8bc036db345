"""One server as several processes that share its port.

    python workers.py 4 server.py --host 127.0.0.1 ...

The program is the same as in one process. Before it binds, its socket gets SO_REUSEPORT, so that
each process has a listening socket and a backlog of its own, and the kernel distributes connections
among them. All processes end as soon as one does. It runs on Python 2.7, too.
"""

import os
import runpy
import signal
import socket
import sys

REUSE_PORT = getattr(socket, "SO_REUSEPORT", 15)


def main():
    workers = int(sys.argv[1])
    del sys.argv[:2]
    started = []
    for _ in range(workers):
        process = os.fork()
        if not process:
            return serve(sys.argv[0])
        started.append(process)

    def end(number, frame):
        for process in started:
            os.kill(process, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    ended, status = wait()
    started.remove(ended)
    end(0, None)
    for _ in started[:]:
        started.remove(wait()[0])
    sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1)


def wait():
    while True:
        try:
            return os.wait()
        except OSError as error:  # In Python 2.7 a signal interrupts it.
            if error.args[0] != 4:
                raise


def serve(program):
    bind = socket.socket.bind

    def share(self, address):
        self.setsockopt(socket.SOL_SOCKET, REUSE_PORT, 1)
        return bind(self, address)

    socket.socket.bind = share
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
