"""Visitors of a shop: they look at the start page, and some buy."""

from locust import HttpUser, between, task


class Visitor(HttpUser):
    wait_time = between(0.1, 0.3)

    def on_start(self):
        self.client.get("/", name="log in")

    @task(4)
    def look(self):
        self.client.get("/", name="start page")

    @task
    def buy(self):
        with self.client.get("/", name="buy", catch_response=True) as response:
            if not response.text:
                response.failure("the page is empty")
