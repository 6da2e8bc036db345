"""What the other tools do: one request, on a connection of its own."""

from locust import FastHttpUser, task


class Visitor(FastHttpUser):
    @task
    def call(self):
        self.client.get("/", headers={"Connection": "close"})
