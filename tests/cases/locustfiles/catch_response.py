from locust import HttpUser, constant, task


class Strict(HttpUser):
    wait_time = constant(0.02)

    @task
    def absent(self):
        with self.client.get("/missing", catch_response=True, name="absent") as response:
            if response.status_code == 404:
                response.success()

    @task
    def wrong(self):
        with self.client.get("/", catch_response=True, name="wrong") as response:
            response.failure("the price is missing")

    @task
    def raises(self):
        raise KeyError("price")
