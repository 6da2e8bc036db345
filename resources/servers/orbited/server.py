"""Orbited's daemon with the ping-pong as one more of the servers it can listen with.

Its configuration names those by scheme: echo://, rude:// and more of orbited.servers.test_servers.
Here there is pong:// too. Its Comet side is beside it, on any free port: /tcp for browsers, and the
proxy to what [access] allows.
"""

import os
import pwd
import sys

from twisted.internet import epollreactor

epollreactor.install()  # so that its configuration need not

from orbited import servers, start  # noqa: E402
from twisted.internet import protocol, reactor  # noqa: E402

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"


class Pong(protocol.Protocol):
    def connectionMade(self):
        self.transport.write(PONG)
        self.transport.loseConnection()


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
servers.test_servers["pong"] = Pong
listen = reactor.listenTCP


def listen_as_asked(port, factory, backlog=backlog, interface=host):
    return listen(port, factory, backlog, interface or host)


reactor.listenTCP = listen_as_asked  # its own: every address, and Twisted's backlog of 50

user = pwd.getpwuid(os.getuid()).pw_name
with open("orbited-%d.cfg" % os.getpid(), "w") as file:
    file.write(
        "[global]\nuser={2}\n"  # it refuses to run as root unless it is named
        "[listen]\npong://{0}:{1}\nhttp://{0}:0\n"
        "[access]\n* -> {0}:{1}\n"
        "[logging]\nenabled.default=warn,error\n".format(host, port, user)
    )
sys.argv[1:] = ["--config", file.name]
start.main()
