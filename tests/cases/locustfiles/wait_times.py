import time

from locust import FastHttpUser, constant_pacing, constant_throughput, task


class Paced(FastHttpUser):
    wait_time = constant_pacing(0.05)

    @task
    def call(self):
        self.client.get("/", name="paced")
        time.sleep(0.005)


class Steady(FastHttpUser):
    wait_time = constant_throughput(20)

    @task
    def call(self):
        self.client.get("/", name="steady")


class Own(FastHttpUser):
    def wait_time(self):
        return 0.03

    @task
    def call(self):
        self.client.get("/", name="own")
