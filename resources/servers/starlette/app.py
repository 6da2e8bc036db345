"""A JSON document, and agents from PostgreSQL: Starlette, with a pool of connections."""

from contextlib import asynccontextmanager

import agents
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route


@asynccontextmanager
async def lifespan(app):
    async with agents.pool() as app.state.pool:
        yield


async def pong(request):
    return PlainTextResponse("Pong!")


async def index(request):
    return JSONResponse({"hello": "world"})


async def listed(request):
    return JSONResponse(await agents.read(request.app.state.pool))


routes = [Route("/", pong), Route("/index", index), Route("/agents", listed)]
app = Starlette(routes=routes, lifespan=lifespan)
