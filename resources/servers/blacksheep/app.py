"""A JSON document, and agents from PostgreSQL: BlackSheep, with a pool of connections."""

import agents
from blacksheep import Application, get, json, text

app = Application()


@app.lifespan
async def connect():
    async with agents.pool() as app.pool:
        yield


@get("/")
async def pong():
    return text("Pong!")


@get("/index")
async def index():
    return json({"hello": "world"})


@get("/agents")
async def listed():
    return json(await agents.read(app.pool))
