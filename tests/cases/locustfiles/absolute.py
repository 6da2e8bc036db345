"""Requests with absolute URLs, of which some lead to another server."""

from locust import HttpUser, task


class Visitor(HttpUser):
    @task
    def visit(self):
        self.client.get(f"{self.host}/", name="here")
        self.client.get("http://localhost:9/there", name="elsewhere")
