"""The same request by Locust's client, on a new connection and on a kept one, and by a plain
socket: what the first takes longer than the last is time within the client."""

import socket
import time
from urllib.parse import urlparse

from locust import FastHttpUser, User, task


class Fast(FastHttpUser):
    @task
    def once(self):
        self.client.get("/", name="FastHttpUser", headers={"Connection": "close"})


class Kept(FastHttpUser):
    @task
    def kept(self):
        self.client.get("/", name="FastHttpUser, kept")


class Plain(User):
    @task
    def once(self):
        place = urlparse(self.host)
        began, size = time.perf_counter(), 0
        with socket.create_connection((place.hostname, place.port)) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n")
            while data := sock.recv(65_536):
                size += len(data)
        self.environment.events.request.fire(
            request_type="GET",
            name="plain socket",
            response_time=(time.perf_counter() - began) * 1000,
            response_length=size,
            exception=None,
            context={},
        )
