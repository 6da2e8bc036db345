"""Orbited's daemon: its Comet side, and behind its proxy a backend that answers each message."""

import os
import pwd
import sys

from twisted.internet import epollreactor

epollreactor.install()  # so that its configuration need not

from orbited import start  # noqa: E402
from twisted.internet import protocol, reactor  # noqa: E402


class Pong(protocol.Protocol):
    def dataReceived(self, data):
        self.transport.write(b"Pong!")


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
listen = reactor.listenTCP
factory = protocol.ServerFactory()
factory.protocol = Pong
backend = listen(0, factory, backlog, host).getHost().port


def listen_as_asked(port, factory, backlog=backlog, interface=host):
    return listen(port, factory, backlog, interface or host)


reactor.listenTCP = listen_as_asked  # its own: every address, and Twisted's backlog of 50

with open("backend.txt", "w") as file:
    file.write(str(backend))
with open("orbited.cfg", "w") as file:
    file.write(
        "[global]\nuser={3}\n"  # it refuses to run as root unless it is named
        "[listen]\nhttp://{0}:{1}\n"
        "[access]\n* -> {0}:{2}\n"
        "[logging]\nenabled.default=warn,error\n".format(
            host, port, backend, pwd.getpwuid(os.getuid()).pw_name
        )
    )
sys.argv[1:] = ["--config", "orbited.cfg"]
start.main()
