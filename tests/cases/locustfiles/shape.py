from locust import HttpUser, LoadTestShape, task


class Visitor(HttpUser):
    @task
    def page(self):
        self.client.get("/")


class Steps(LoadTestShape):
    def tick(self):
        return (10, 10) if self.get_run_time() < 2 else None
