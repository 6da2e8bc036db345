from locust import HttpUser, between, task


class Visitor(HttpUser):
    wait_time = between(0.01, 0.05)

    @task(3)
    def start_page(self):
        self.client.get("/")

    @task
    def item(self):
        for number in range(2):
            self.client.get(f"/item?id={number}", name="/item")
