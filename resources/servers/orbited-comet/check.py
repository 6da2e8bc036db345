"""Browsers, as Orbited sees them: what they send by POST is answered to their long polls."""

import base64
import sys
import urllib2

URL = "http://{0}:{1}/tcp".format(*sys.argv[1:])
BACKEND = "{0}:{1}".format(sys.argv[1], open("backend.txt").read())
BROWSERS, MESSAGES = 10, 10


class Browser(object):
    """A session of Orbited: packets of (id, name, data), acknowledged with the next long poll."""

    def __init__(self):
        self.session = URL + "/" + urllib2.urlopen(URL, timeout=10).read()
        self.seen = self.sent = 0
        self.received = []
        opened = [packet[1] for packet in self.poll()]
        assert "open" in opened, "It did not open a session: {0}.".format(opened)
        self.send(BACKEND)
        assert self.receive() == "1", "It did not connect to the backend."

    def send(self, data):
        self.sent += 1
        args = (str(self.sent), "data", base64.b64encode(data))
        frame = "".join("{0:d}{1},{2}".format(n < 2, len(x), x) for n, x in enumerate(args))
        assert urllib2.urlopen(self.session, frame, timeout=10).read() == "OK"

    def poll(self):
        url = "{0}/longpoll?ack={1}".format(self.session, self.seen)
        text, packets, args = urllib2.urlopen(url, timeout=10).read(), [], []
        while text:
            more, (length, rest) = text[0] == "1", text[1:].split(",", 1)
            args.append(rest[: int(length)])
            text = rest[int(length) :]
            if not more:
                packets.append(args)
                args = []
        fresh = [packet for packet in packets if int(packet[0]) > self.seen]
        self.seen = max([self.seen] + [int(packet[0]) for packet in packets])
        self.received += [base64.b64decode(each[2]) for each in fresh if each[1] == "data"]
        return packets

    def receive(self):
        while not self.received:
            self.poll()
        return self.received.pop(0)


browsers = [Browser() for _ in range(BROWSERS)]
for _ in range(MESSAGES):
    for browser in browsers:
        browser.send("Ping?")
    answers = [browser.receive() for browser in browsers]
    assert answers == ["Pong!"] * BROWSERS, "It answered {0}.".format(answers)
print(
    "{0} of {0} messages were answered through {1} sessions.".format(BROWSERS * MESSAGES, BROWSERS)
)
