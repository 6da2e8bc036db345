import sys

from locust import HttpUser, constant, task


class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def page(self):
        self.client.get("/", name="page")

    @task
    def leave(self):
        sys.exit(1)
