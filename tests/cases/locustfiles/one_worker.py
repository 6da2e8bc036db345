"""Can be loaded where nobody asks it to fail."""

import os

from locust import FastHttpUser, constant, task

if os.environ.get("FAILS"):
    import absent_package  # noqa: F401


class Visitor(FastHttpUser):
    wait_time = constant(0.1)

    @task
    def page(self):
        self.client.get("/", name="page")

    @task
    def missing(self):
        self.client.get("/missing", name="missing")
        self.client.get("http://localhost:9/", name="elsewhere")
