"""A JSON document, and agents from PostgreSQL: Sanic, with a pool of connections."""

import sys

import agents
from sanic import Sanic, json, text

app = Sanic("pong")


@app.before_server_start
async def connect(app):
    app.ctx.pool = await agents.pool()


@app.after_server_stop
async def disconnect(app):
    await app.ctx.pool.close()


@app.get("/")
async def pong(request):
    return text("Pong!")


@app.get("/index")
async def index(request):
    return json({"hello": "world"})


@app.get("/agents")
async def listed(request):
    return json(await agents.read(request.app.ctx.pool))


if __name__ == "__main__":
    app.config.KEEP_ALIVE_TIMEOUT = 60
    app.run(
        host=sys.argv[1],
        port=int(sys.argv[2]),
        backlog=int(sys.argv[3]),
        workers=16,
        access_log=False,
        motd=False,
        verbosity=-1,
    )
