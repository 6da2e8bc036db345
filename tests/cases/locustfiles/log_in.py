from common.credentials import NAME, token_of
from locust import HttpUser, constant, task


class Member(HttpUser):
    wait_time = constant(0.02)

    def on_start(self):
        answer = self.client.post("/login", data={"name": NAME})
        self.client.headers["Authorization"] = token_of(answer)

    def on_stop(self):
        self.client.post("/logout")

    @task
    def account(self):
        self.client.get("/account")
