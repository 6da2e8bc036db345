from locust import FastHttpUser, constant, task


def look(user):
    user.client.get("/", name=type(user).__name__)


class Guest(FastHttpUser):
    weight = 3
    wait_time = constant(0.02)
    tasks = {look: 2}  # noqa: RUF012


class Member(FastHttpUser):
    weight = 1
    wait_time = constant(0.02)
    tasks = [look]  # noqa: RUF012


class Admin(FastHttpUser):
    fixed_count = 1
    wait_time = constant(0.02)

    @task
    def watch(self):
        self.client.get("/", name="watch")
