from locust import FastHttpUser, constant, tag, task


class Visitor(FastHttpUser):
    wait_time = constant(0.02)

    @tag("read")
    @task
    def read(self):
        self.client.get("/", name="read")

    @tag("write", "slow")
    @task
    def write(self):
        self.client.get("/missing", name="write")
