from locust import FastHttpUser, constant, task


class Api(FastHttpUser):
    wait_time = constant(0.02)

    @task
    def read(self):
        with self.rest("GET", "/json") as response:
            if response.js["status"] != "ok":
                response.failure("not ok")
