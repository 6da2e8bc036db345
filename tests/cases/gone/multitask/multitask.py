"""A stand-in for MultiTask, whose source is not included: its names, on threads. Python 2.7."""

import threading

tasks = []


class Call:
    def __init__(self, function, *arguments):
        self.function = function
        self.arguments = arguments


def accept(sock):
    return Call(sock.accept)


def send(sock, data):
    return Call(sock.sendall, data)


def drive(generator):
    answer = error = None
    while True:
        try:
            call = generator.throw(error) if error else generator.send(answer)
        except StopIteration:
            return
        answer = error = None
        try:
            answer = call.function(*call.arguments)
        except Exception as problem:
            error = problem


def add(generator):
    task = threading.Thread(target=drive, args=(generator,))
    task.daemon = True
    tasks.append(task)
    task.start()


def run():
    while True:
        tasks[0].join(1)
