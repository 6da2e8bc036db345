import logging

from locust import HttpUser, constant, events, task

calls = 0


@events.init_command_line_parser.add_listener
def options(parser):
    parser.add_argument("--page", default="/", help="the page to get")


@events.init.add_listener
def begun(environment, **kwargs):
    environment.page = environment.parsed_options.page


@events.test_start.add_listener
def reset(environment, **kwargs):
    global calls  # noqa: PLW0603
    calls = 0
    print("begins")


@events.request.add_listener
def count(exception, **kwargs):
    global calls  # noqa: PLW0603
    calls += 1


@events.test_stop.add_listener
def report(environment, **kwargs):
    logging.warning("%d calls", calls)
    print('{"ev": "done"}')


class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def page(self):
        self.client.get(self.environment.page, name="page")
