"""What users have already becomes requests of a plan, and their secrets do not."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from workbench import cli
from workbench.bringing.gathering import Gathering, is_here
from workbench.bringing.gathering import plan_of as plan
from workbench.bringing.reading import gather, read_file
from workbench.errors import BadInput
from workbench.plan.library import to_yaml
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import http_request
from workbench.workloads.http.declaration import DECLARATION

HAVE = Path(__file__).parents[1] / "cases/bringing"
"""A HAR as Chromium writes it, of which only headers that repeat were removed; others by hand."""
SECRET = ("s3cr3t", "hunter2", "tok123", "k-4711", "eyJhbGciOi.eyJzdWIiOj.c2ln")
"""All of these are in each of the files."""


def _parsed(raw: bytes) -> tuple[str, str, dict[str, str], str]:
    head, _, body = raw.decode().partition("\r\n\r\n")
    first, *lines = head.split("\r\n")
    method, path, _ = first.split(" ")
    headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines if ": " in line)}
    return method, path, headers, body


def _sent(gathered: Gathering, origin: str) -> list[bytes]:
    """Return the bytes of each request, as an agent sends them."""
    workload: Any = plan(gathered, origin, name="x").workload
    load = Load("127.0.0.1", 80, "http", options={"protocol": "http/1.1"}, calls_per_connection=10)
    requests = DECLARATION.driven(workload, gathered.secrets)
    every = requests.get("requests", [requests])
    return [http_request(load, each) for each in every]


class _Recorder(BaseHTTPRequestHandler):
    seen: list[tuple[str, str, dict[str, str], str]]

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.seen.append((self.command, self.path, headers, body))
        self.send_response(204)
        self.end_headers()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_requests_of_a_command_are_those_that_curl_sends(tmp_path: Path) -> None:
    handler = type("Handler", (_Recorder,), {"seen": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    (tmp_path / "body.json").write_text('{"a":\n1}\n')
    script = (HAVE / "commands.sh").read_text().replace("ORIGIN", origin)
    script = script.replace("FILE", str(tmp_path / "body.json"))
    subprocess.run(["bash", "-c", script], check=True, capture_output=True, timeout=60)
    server.shutdown()
    server.server_close()
    gathered = gather(script.encode(), name="commands")
    ours = [_parsed(raw) for raw in _sent(gathered, origin)]
    assert len(ours) == len(handler.seen) == script.count("curl ") + script.count("--next")
    for (method, path, headers, body), theirs in zip(ours, handler.seen, strict=True):
        # They depend on curl's version.
        for each in (headers, theirs[2]):
            for name in ("accept-encoding", "host", *["user-agent"] * ("me/1" not in str(theirs))):
                each.pop(name, None)
        assert (method, path.lower(), headers, body) == (
            theirs[0], theirs[1].lower(), theirs[2], theirs[3],
        )  # fmt: skip


@pytest.mark.parametrize("name", ["browser.har", "collection.json", "openapi.yaml", "copied.txt"])
def test_secrets_are_sent_and_are_not_in_the_plan(name: str) -> None:
    gathered = read_file(HAVE / name)
    origin = next(filter(is_here, gathered.origins))
    text = to_yaml(plan(gathered, origin, name=name))
    sent = b"".join(_sent(gathered, origin)).decode()
    for secret in SECRET if name != "openapi.yaml" else SECRET[:2]:
        assert secret not in text + repr(gathered.left), secret
        assert secret in sent, secret


def test_the_requests_of_a_browser_have_the_weights_of_how_often_it_made_them() -> None:
    gathered = read_file(HAVE / "browser.har")
    assert gathered.origins == {"http://127.0.0.1:8056": 10, "https://cdn.example": 1}
    workload: Any = plan(gathered, "http://127.0.0.1:8056", name="x").workload
    weights = {request.label: request.weight for request in workload.requests}
    assert weights["/api/items?page=0"] == 3 and weights["/index.html"] == 1
    assert workload.requests[-1].expect_status == 404
    assert any("ws://" in each for each in gathered.left["WebSocket, a workload of its own"])


def test_a_collection_and_a_description_are_taken_over_with_their_examples() -> None:
    gathered = read_file(HAVE / "collection.json")
    made = {each.name: each for each in gathered.taken.values()}
    assert made["List items"].path == "/v1/items/42?page=2"
    assert made["Create"].body == '{"name":"x"}' and "X-Off" not in made["Create"].headers
    assert gathered.secrets["LOCALHOST_8000_AUTHORIZATION_TOKEN"] == ""
    assert gathered.left["Scripts"] == ["prerequest of the collection", "test of List items"]
    assert gathered.left["Requests that upload a file"] == ["Upload"]
    assert [*gathered.left["Variables without a value"]] == [
        "{{nope}} in GET http://localhost:8000/v1/{{nope}}/x"
    ]
    gathered = read_file(HAVE / "openapi.yaml")
    made = {each.label: each for each in gathered.taken.values()}
    assert json.loads(made["createItem"].body)["name"] == "tea"
    assert made["/v1/items/7"].headers == {}
    assert gathered.left["Operations without an example"] == ["id of DELETE /items/{id}"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("curl http://127.0.0.1/a --frobnicate", "--frobnicate"),
        ("curl http://127.0.0.1/a | jq .", "jq"),
        ("curl http://127.0.0.1/ 'http://127.0.0.1/[1-3]'", "http://127.0.0.1/[1-3]"),
        ("curl http://127.0.0.1/ --next -T x http://127.0.0.1/up", "http://127.0.0.1/up"),
        ("curl http://127.0.0.1/ --next -d @/no/file http://127.0.0.1/up", "http://127.0.0.1/up"),
    ],
)
def test_what_of_a_command_a_plan_cannot_have_is_named(text: str, left: str) -> None:
    gathered = gather(text.encode(), name="x")
    assert [left] in gathered.left.values()
    assert len(gathered.taken) == 1


@pytest.mark.parametrize(
    "text",
    [
        "curl 'http://127.0.0.1/",
        "curl -X BREW http://127.0.0.1/",
        '{"log": {"entries": [{"request"',
        '{"log": {"entries": []}}',
        '{"log":' + "[" * 100_000,
        '{"item": [{"request": 3}, 4]}',
        '{"paths": {"/a": {"get": {"parameters": [{"in": "path", "name": "a"}]}}}}',
        "servers: [tornado]",
        "\x00",
        "",
    ],
)
def test_what_is_no_description_is_said_in_a_sentence(text: str) -> None:
    with pytest.raises(BadInput) as told:
        gather(text.encode(), name="x")
    assert len(str(told.value)) < 400 and "\n" not in str(told.value)


def test_requests_to_another_host_are_taken_over_only_if_it_is_named(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = home.parent / "plan.yaml"
    command = ["bring", "curl https://shop.example/a?token=s3cr3t", "-o", str(out)]
    assert cli.main(command) == 2
    assert not out.exists()
    assert cli.main([*command, "--host", "shop.example"]) == 0
    text = out.read_text()
    assert "https://shop.example" in text and "s3cr3t" not in text + str(capsys.readouterr())
    assert cli.main([*command, "--host", "shop.example"]) == 2, "the plan is not overwritten"
