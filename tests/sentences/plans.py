"""Sentences of problems of a plan: its keys, values, servers and locustfile."""

# ruff: noqa: E501 - a sentence stands on one line

from __future__ import annotations

from workbench.messages import plans
from workbench.messages.base import Message

SENTENCES: list[tuple[Message, str]] = [
    (
        plans.ProfileOutside(at=9000.0, low=500.0, high=4000.0),
        "9,000 is outside what the plan measures, 500 to 4,000/s.",
    ),
    (
        plans.MoreRights(server="mod_wsgi", right="root", why="Apache drops them itself."),
        "mod_wsgi runs as root where root runs it: Apache drops them itself.",
    ),
    (
        plans.MustBeFetched(servers=("Magnum Py", "Cogen")),
        "Magnum Py and Cogen need programs or source code that the target lacks; the run stops before it begins unless these are fetched: test them on the Servers page, or use --install.",
    ),
    (
        plans.OldServersExposed(servers=("Cogen", "Fibra"), machine="bolt", address="10.0.0.5"),
        "Cogen and Fibra no longer get security fixes and would listen on 10.0.0.5 of bolt, where other machines reach them. The run asks before it begins.",
    ),
    (
        plans.InvalidHeader(header="X-A", wrong="value", number=2),
        "Request 2: the value of X-A has line breaks or other characters that are not allowed.",
    ),
    (
        plans.InvalidHeader(header="Cookie", wrong="credential"),
        "Cookie may be a credential, and sessions record plans; give {secret: NAME} in place of"
        " the value.",
    ),
    (
        plans.UnusableSecret(secret="SHOP"),
        "The secret SHOP of a header is missing; set the environment variable PONGBENCH_SECRET_SHOP, or store it with: keyring set pongbench SHOP.",
    ),
    (
        plans.UnusableSecret(secret="SHOP", missing=False),
        "The secret SHOP has line breaks or other characters that a header cannot have; store it again without them.",
    ),
    (
        plans.BodyTooLarge(bytes=70_000, most=65_536),
        "The body has 70,000 bytes; a body has at most 65,536.",
    ),
    (
        plans.BesideRequests(keys=("workload.path",)),
        "Requests are given, too; give it in each of these.",
    ),
    (plans.NoServers(keys=("servers",)), "None is listed; name at least one of the catalogue."),
    (
        plans.ServerTwice(keys=("servers",), server="tornado"),
        "'tornado' is listed twice; for a second measurement use `repeats`.",
    ),
    (
        plans.NotInThisLoop(keys=("rates",), given="rates"),
        "A closed loop offers no rate; give concurrency in their place.",
    ),
    (
        plans.NotInThisLoop(keys=("concurrency",), given="concurrency"),
        "Only a closed loop has one; give rates, or set workload.mode to closed.",
    ),
    (
        plans.RangeDescends(keys=("rates",), first=9000.0, last=1000.0),
        "They run from 9000 down to 1000; swap the two.",
    ),
    (
        plans.TooManyPoints(keys=("rates",), points=2001, most=2000),
        "2,001 points for one server are more than 2,000; widen the step.",
    ),
    (
        plans.NoValues(keys=("rates",), closed=False),
        "None is given; give a list, or from, to and step.",
    ),
    (
        plans.NoValues(keys=("concurrency",), closed=True),
        "None is given; a closed loop needs a list, for example [50].",
    ),
    (
        plans.NoValues(keys=("vary",), varied=True),
        "None is given; list the values, for example [1, 2, 4].",
    ),
    (
        plans.NotAscending(keys=("rates",), earlier=1000.0, later=1000.0),
        "1000 is listed twice; list each value once.",
    ),
    (
        plans.NotAscending(keys=("rates",), earlier=2000.0, later=1000.0),
        "1000 comes after 2000; list them in ascending order.",
    ),
    (
        plans.OneFieldOnly(fields=["size", "pipeline"]),
        "size and pipeline cannot vary together; keep one of them.",
    ),
    (
        plans.NotVaried(field="size", workload="HTTP", fields=["pipeline"]),
        "HTTP cannot vary 'size', only pipeline; or give several rates.",
    ),
    (
        plans.NotVaried(field="size", workload="Ping-pong", fields=[]),
        "Ping-pong has no field that can vary; give several rates instead.",
    ),
    (
        plans.OneLoadOnly(keys=("rates",), field="pipeline"),
        "With 'pipeline' varied, the load stays the same; give a single value.",
    ),
    (
        plans.InvalidValue(keys=("vary",), value=0.0, said="expected a number of at least 1."),
        "0 is not possible: expected a number of at least 1.",
    ),
    (
        plans.LengthUnclear(keys=("connections", "seconds"), both=True),
        "Both are given; give exactly one of the two.",
    ),
    (
        plans.LengthUnclear(keys=("connections", "seconds"), both=False),
        "Neither is given; give exactly one of the two.",
    ),
    (
        plans.InvalidPath(keys=("workload.path",)),
        "It must begin with / and have no spaces or control characters.",
    ),
    (
        plans.InvalidType(keys=("workload.requests",), number=2),
        "Request 2: the expected type must be a media type without parameters, like application/json.",
    ),
    (
        plans.NoBodyOfHead(keys=("workload.expect_text",)),
        "A reply to HEAD has no body to check; leave it out.",
    ),
    (
        plans.OneCallOnly(keys=("workload.calls_per_connection",), protocol="pong"),
        "It must be 1 with pong.",
    ),
    (
        plans.QueuesTooLarge(message_size=16777216, high_water_mark=1000, most_bytes=1 << 30),
        "A queue of 1,000 messages of 16,777,216 bytes takes more than 1 GiB; lower message_size or high_water_mark.",
    ),
    (
        plans.LocustfileMissing(),
        "None is named; give the path of a locustfile.",
    ),
    (
        plans.LocustfileMissing(path="shop.py", said="no such file or directory"),
        "shop.py cannot be read: no such file or directory.",
    ),
    (
        plans.LocustfileInvalid(path="shop.py", at_line=7, said="invalid syntax"),
        "shop.py, line 7: invalid syntax.",
    ),
    (
        plans.LoadShapeGiven(path="shop.py", at_line=9, name="Steps"),
        "shop.py, line 9: Steps is a LoadTestShape, and the plan decides the load; remove it, and give rates or users in the plan.",
    ),
    (
        plans.RequirementInvalid(requirement="faker"),
        "'faker' names no package of the index with its version; write faker==40.1.0.",
    ),
    (
        plans.OneCallOnly(keys=("workload.calls_per_connection",), protocol="websocket"),
        "Messages are not counted by connection; give rates (per second) and seconds.",
    ),
    (
        plans.NoClosedLoop(workload="WebSocket"),
        "WebSocket has no closed loop; set workload.mode to open, and give rates.",
    ),
    (
        plans.SecondsOnly(workload="WebSocket"),
        "Points of WebSocket last a number of seconds; give seconds, and workload.connections for those held open.",
    ),
    (
        plans.PipelineTooDeep(keys=("workload.pipeline",), pipeline=4),
        "4 calls at once need as many calls_per_connection.",
    ),
    (
        plans.ReconnectAlone(),
        "reconnect needs equal calls one after another: no pipeline, think_time_s or requests.",
    ),
    (
        plans.RunTooLong(
            keys=("seconds",), shortest_s=93606.5, longest_s=100000.0, limit_s=86400.0
        ),
        "It takes 26 to 28 h, but a run is ended after 24 h. Use fewer servers, rates or repeats, or shorter points.",
    ),
    (
        plans.ProtocolNotSupported(
            servers=("Tornado",), protocols=["http/1.0", "http/1.1"], wanted="pong"
        ),
        "Tornado supports http/1.0, http/1.1, not pong. Leave it out of the plan.",
    ),
    (
        plans.ProtocolNotSupported(
            servers=("Tornado", "gevent", "Twisted"), protocols=["pong"], wanted="websocket"
        ),
        "Tornado, gevent and Twisted support pong, not websocket. Leave them out of the plan.",
    ),
    (
        plans.OneClientOnly(keys=("servers", "concurrency"), what="ZeroMQ PAIR", clients=3),
        "ZeroMQ PAIR has one client at a time, here 3; leave it out, or set concurrency to 1.",
    ),
    (
        plans.OneClientOnly(
            keys=("workload.transport", "workers"), what="The transport inproc", clients=2
        ),
        "The transport inproc has one client at a time, here 2; leave it out, or set workers and clients to 1.",
    ),
    (
        plans.StepOrPoints(),
        "A range has either a step or a number of points; give one of the two.",
    ),
    (
        plans.CeilingInPoints(),
        "A range up to the ceiling needs a number of points in place of a step.",
    ),
    (
        plans.CeilingOfField(field="message_size"),
        "Nothing limits 'message_size' before a run; give its highest value.",
    ),
    (
        plans.CeilingUnknown(),
        "The rates end at the client limit, which only a calibration finds; set calibrate to true, or give the highest rate.",
    ),
    (
        plans.SearchInClosedLoop(),
        "A closed loop offers no rate to search for; remove search, or set workload.mode to open.",
    ),
    (
        plans.BesideSearch(keys=("rates",)),
        "A search chooses its rates by itself; remove this, or remove search.",
    ),
    (
        plans.SearchBoundsDescend(low=9000.0, high=500.0),
        "It must be above from (9000), and is 500.",
    ),
    (
        plans.SearchStepTooLarge(step=900.0, low=500.0, high=1000.0),
        "900 is more than lies between 500 and 1000; use 50 or less.",
    ),
]
