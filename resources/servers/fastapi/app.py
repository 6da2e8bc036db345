"""A JSON document, and agents from PostgreSQL: FastAPI, with a pool of connections."""

from contextlib import asynccontextmanager

import agents
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse


@asynccontextmanager
async def lifespan(app):
    async with agents.pool() as app.state.pool:
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/", response_class=PlainTextResponse)
async def pong():
    return "Pong!"


@app.get("/index")
async def index():
    return {"hello": "world"}


@app.get("/agents")
async def listed():
    return await agents.read(app.state.pool)
