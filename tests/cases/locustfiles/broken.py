from locust import HttpUser, task

LIMIT = int("three")


class Visitor(HttpUser):
    @task
    def page(self):
        self.client.get("/")
