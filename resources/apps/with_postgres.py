"""A PostgreSQL of its own beneath an application server; both end with this program.

    python with_postgres.py --postgres /usr/lib/postgresql/15/bin/postgres -- gunicorn ...

The database lives in `data` in the current folder and listens on a socket there, nowhere else. It
holds the agents of `agents.json`: a table of them and one of their states, joined by the view
`agents`. Applications connect to host `/proc/self/cwd/data`, a name that stays short however deep
the folder lies, as user and database `pong`.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

# Those of the benchmark of 2015, the same for all applications; 1,000 connections are enough for 16
# workers with a pool of 30 each. Below them, what keeps the database within its folder.
SETTINGS = """
max_connections = 1000
shared_buffers = 128MB
work_mem = 32MB
maintenance_work_mem = 64MB
fsync = off
synchronous_commit = off
jit = off
listen_addresses = ''
unix_socket_directories = '.'
dynamic_shared_memory_type = mmap
logging_collector = off
log_min_messages = error
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--postgres", default="postgres")
    parser.add_argument("application", nargs="+", help="the server, and its arguments")
    args = parser.parse_args()

    data = Path.cwd() / "data"
    create(Path(args.postgres), data)
    database = subprocess.Popen([args.postgres, "-D", str(data)])
    wait_for(data / ".s.PGSQL.5432", database)
    application = subprocess.Popen(args.application)
    both = [application, database]

    def end(number, frame):
        application.terminate()
        database.send_signal(signal.SIGINT)  # without waiting for those connected

    signal.signal(signal.SIGTERM, end)
    ended, status = os.wait()
    end(0, None)
    for process in both:
        if process.pid != ended:
            process.wait()
    sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 1)


def create(postgres, data):
    """A new database, filled without being started."""
    data.mkdir(mode=0o700)
    initdb = [str(postgres.with_name("initdb")), "--pgdata", str(data), "--username", "pong"]
    initdb += ["--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL)
    with (data / "postgresql.conf").open("a") as settings:
        settings.write(SETTINGS)
    single = [str(postgres), "--single", "-D", str(data), "-c", "log_min_messages=panic"]
    fill([*single, "postgres"], ["create database pong"])
    agents = json.loads(Path(__file__).with_name("agents.json").read_text("utf-8"))
    features = ", ".join(f"({row['id']}, '{row['name']}', '{row['login']}')" for row in agents)
    states = ", ".join(f"({row['id']}, '{row['status']}')" for row in agents)
    fill(
        [*single, "pong"],
        [
            "create table features (id integer primary key, name text, login text)",
            "create table states (agent integer primary key, status text)",
            f"insert into features values {features}",
            f"insert into states values {states}",
            "create view agents as select id, name, login, status"
            " from features left join states on id = agent",
        ],
    )


def fill(command, statements):
    text = "".join(f"{statement};\n" for statement in statements)
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)


def wait_for(path, server):
    os.chdir(path.parent)  # the path of a socket may be no longer than 107 bytes
    try:
        while server.poll() is None:
            with socket.socket(socket.AF_UNIX) as trial:
                try:
                    trial.connect(path.name)
                except OSError:
                    time.sleep(0.02)
                else:
                    return
    finally:
        os.chdir(path.parent.parent)
    sys.exit("PostgreSQL ended before it listened.")


if __name__ == "__main__":
    main()
