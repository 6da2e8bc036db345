"""A JSON document, and agents from PostgreSQL: aiohttp.web, with a pool of connections."""

import asyncpg
from aiohttp import web

QUERY = "select id, name, login, status from agents order by id"
POOL = web.AppKey("pool", asyncpg.Pool)


async def index(request):
    return web.json_response({"hello": "world"})


async def agents(request):
    rows = await request.app[POOL].fetch(QUERY)
    return web.json_response([dict(row) for row in rows])


async def pool(app):
    """As long as the worker runs."""
    async with asyncpg.create_pool(
        host="/proc/self/cwd/data", user="pong", database="pong", min_size=1, max_size=10
    ) as app[POOL]:
        yield


async def application():
    app = web.Application()
    app.cleanup_ctx.append(pool)
    app.add_routes([web.get("/index", index), web.get("/agents", agents)])
    return app
