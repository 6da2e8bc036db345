"""Counts in Locust's own workers what Locust rounds or does not count: exact times, in windows of
200 ms; requests to other hosts; CPU time. It goes with the reports that they send to their master.

The master sends this to them as a locustfile, with `naming` and the agent's names of errors before
it in the same text; see `master.plugin`. So it imports nothing of this program that is not in that
text, and knows nothing of points: the master takes what belongs to one.
"""

from __future__ import annotations

import os
import socket
import sys
import traceback
from collections import Counter
from pathlib import Path
from time import monotonic_ns, process_time_ns
from typing import Any

import gevent
from locust import argument_parser, events
from locust.rpc import Message, zmqrpc

from .naming import name_of, place_of

KEY = "pongbench"
"""Of its part of a report, and of its own messages to the master."""
WINDOW_NS = 200_000_000
LONGEST_US = 600_000_000
NAMES: list[str] = []
"""Requests that are counted each, all others at the end. Set in the text that the master sends."""
_numbers = {name: number for number, name in enumerate(NAMES)}

_counted: dict[tuple[int, int], tuple[Counter[int], Counter[str]]] = {}
"""By window and request: replies by bucket of their time, and failed ones by error."""
_places: Counter[str] = Counter()
_server = ("", 0)


def _on_test_start(environment: Any, **_: Any) -> None:
    """Take the server, which the master names with the first users of a point."""
    global _server  # noqa: PLW0603
    host, port = str(environment.host or "").partition("://")[2].rpartition(":")[::2]
    _server = (host.strip("[]"), int(port) if port.isdecimal() else 0)


def _on_request(
    request_type: str = "",
    name: str = "",
    response_time: float = 0.0,
    exception: BaseException | None = None,
    url: str = "",
    **_: Any,
) -> None:
    key = (monotonic_ns() // WINDOW_NS, _numbers.get(f"{request_type} {name}", len(NAMES)))
    replies, errors = _counted.get(key) or _counted.setdefault(key, (Counter(), Counter()))
    if url:  # Clients of other protocols have none.
        _places[place_of(url, *_server)] += 1
    if exception:
        errors[name_of(exception)] += 1
        return
    us = min(max(0, round((response_time or 0.0) * 1000)), LONGEST_US)
    replies[us if us < 2048 else ((e := us.bit_length() - 11) << 10) + (us >> e)] += 1


def _on_report(data: dict[str, Any], **_: Any) -> None:
    global _counted
    counted, _counted = _counted, {}
    data[KEY] = {
        "now": monotonic_ns(),
        "cpu": process_time_ns(),
        "client": os.environ.get("PONGBENCH_CLIENT", ""),
        "counted": [
            [window, name, list(replies.items()), list(errors.items())]
            for (window, name), (replies, errors) in counted.items()
        ],
        "places": list(_places.items()),
    }
    _places.clear()


def _on_failure(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Tell the master why a worker ends: it could not load the locustfile, for example."""
    sys.__excepthook__(kind, error, trace)
    frames = [
        frame
        for frame in traceback.extract_tb(trace)
        if "site-packages" not in frame.filename and not frame.filename.startswith("<frozen")
    ]
    where = f"{Path(frames[-1].filename).name}, line {frames[-1].lineno}: " if frames else ""
    said = f"{where}{kind.__name__}: {' '.join(str(error).split())}"[:300]
    options = argument_parser.parse_locustfile_option()
    sender = f"{socket.gethostname()}_{KEY}_{os.getpid()}"
    client = zmqrpc.Client(options.master_host, options.master_port, sender)
    client.send(Message(KEY, {"failed": said}, sender))
    gevent.sleep(1.0)  # It is sent by a thread.


events.test_start.add_listener(_on_test_start)
events.request.add_listener(_on_request)
events.report_to_master.add_listener(_on_report)
if argument_parser.parse_locustfile_option().worker:
    sys.excepthook = _on_failure
