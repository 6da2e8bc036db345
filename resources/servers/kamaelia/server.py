"""Ping-pong with Kamaelia: a component a connection, and two guards without which it dies."""

import socket
import sys

import Axon
from Axon.Ipc import producerFinished
from Kamaelia.Chassis.ConnectedServer import ServerCore
from Kamaelia.Internet import ConnectedSocketAdapter, TCPServer

PONG = b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nPong!\r\n"
Adapter = ConnectedSocketAdapter.ConnectedSocketAdapter
adapter_stop = Adapter.stop
remove_child = Axon.Component.component.removeChild


def stop(self):
    """Kamaelia shuts down sockets that the client may have reset already."""
    try:
        adapter_stop(self)
    except socket.error:
        self.socket.close()
        self.passOnShutdown()
        for signal in (
            ConnectedSocketAdapter.removeReader(self, self.socket),
            ConnectedSocketAdapter.removeWriter(self, self.socket),
        ):
            self.send(signal, "_selectorSignal")
        super(Adapter, self).stop()


def remove_child_once(self, child):
    """It may be told twice that a socket has closed."""
    try:
        remove_child(self, child)
    except ValueError:
        pass


Adapter.stop = stop
Axon.Component.component.removeChild = remove_child_once


class Pong(Axon.Component.component):
    def main(self):
        self.send(PONG, "outbox")
        yield 1
        self.send(producerFinished(self), "signal")
        yield 1


host, port, backlog = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


class Server(TCPServer.TCPServer):
    """Kamaelia's own listens everywhere, with a backlog of 5."""

    def makeTCPServerPort(self, suppliedport, maxlisten):
        make = TCPServer.TCPServer.makeTCPServerPort
        return make(self, suppliedport, HOST=host, maxlisten=backlog)


reuse = (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
ServerCore(protocol=Pong, port=port, socketOptions=reuse, TCPS=Server).run()
