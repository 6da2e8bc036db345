import socket
import time
from urllib.parse import urlparse

from locust import User, constant, task


class RawClient:
    def __init__(self, host, request_event):
        place = urlparse(host)
        self.address = (place.hostname, place.port)
        self.request_event = request_event

    def ping(self):
        began, error, data = time.perf_counter(), None, b""
        try:
            with socket.create_connection(self.address, 5) as sock:
                sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
                data = sock.recv(1000)
        except OSError as failed:
            error = failed
        self.request_event.fire(
            request_type="RAW",
            name="ping",
            response_time=(time.perf_counter() - began) * 1000,
            response_length=len(data),
            exception=error,
            context={},
        )


class RawUser(User):
    wait_time = constant(0.02)

    def __init__(self, environment):
        super().__init__(environment)
        self.raw = RawClient(self.host, environment.events.request)

    @task
    def ping(self):
        self.raw.ping()
