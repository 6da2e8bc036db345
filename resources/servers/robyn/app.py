"""A JSON document, and agents from PostgreSQL: Robyn, with a pool of connections."""

import sys

import agents
from robyn import Robyn

app = Robyn(__file__)


class Database:
    async def connect(self):
        self.pool = await agents.pool()


database = Database()
app.startup_handler(database.connect)


@app.get("/")
async def pong():
    return "Pong!"


@app.get("/index")
async def index():
    return {"hello": "world"}


@app.get("/agents")
async def listed():
    return await agents.read(database.pool)


app.start(host=sys.argv[1], port=int(sys.argv[2]), _check_port=False, keep_alive_timeout=60)
