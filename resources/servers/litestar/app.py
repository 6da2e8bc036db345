"""A JSON document, and agents from PostgreSQL: Litestar, with a pool of connections."""

from contextlib import asynccontextmanager

import agents
from litestar import Litestar, MediaType, get
from litestar.datastructures import State


@asynccontextmanager
async def lifespan(app: Litestar):
    async with agents.pool() as app.state.pool:
        yield


@get("/", media_type=MediaType.TEXT)
async def pong() -> str:
    return "Pong!"


@get("/index")
async def index() -> dict[str, str]:
    return {"hello": "world"}


@get("/agents")
async def listed(state: State) -> list[dict]:
    return await agents.read(state.pool)


app = Litestar([pong, index, listed], lifespan=[lifespan])
