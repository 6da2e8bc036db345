"""The Pong application on Magnum Py, with its fault fixed from outside."""

import select

import magnum_pong

edge = magnum_pong.magnum.ipc.EdgeTrigger


class Trigger(edge):
    """The original reports replies in its pipe once (edge-triggered), and one of them is read: from
    the first two that meet on, every client waits for the next one's call. This one reports them
    for as long as there are any."""

    def __init__(self, listener, replies):
        edge.__init__(self, listener, replies)
        self.trigger.modify(replies, select.EPOLLIN)


magnum_pong.magnum.ipc.EdgeTrigger = Trigger
magnum_pong.magnum.serve.start()
