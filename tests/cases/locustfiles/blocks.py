import ctypes

from locust import HttpUser, constant, task

LIBRARY = ctypes.PyDLL(None)  # keeps the interpreter's lock


class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def page(self):
        LIBRARY.sleep(600)
