from locust import HttpUser, SequentialTaskSet, constant, task


class Purchase(SequentialTaskSet):
    @task
    def look(self):
        self.client.get("/", name="1 look")

    @task
    def pay(self):
        self.client.post("/pay", json={"amount": 3}, name="2 pay")
        self.interrupt()


class Buyer(HttpUser):
    wait_time = constant(0.01)
    tasks = {Purchase: 1}  # noqa: RUF012
