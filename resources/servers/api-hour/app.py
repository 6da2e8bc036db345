"""A JSON document, and agents from PostgreSQL: an API-Hour container with aiohttp.web."""

import api_hour
import asyncpg
from aiohttp import web

QUERY = "select id, name, login, status from agents order by id"


async def index(request):
    return web.json_response({"hello": "world"})


async def agents(request):
    rows = await request.app["pool"].fetch(QUERY)
    return web.json_response([dict(row) for row in rows])


class Container(api_hour.Container):
    async def make_servers(self, sockets):
        app = web.Application()
        app["pool"] = await asyncpg.create_pool(
            host="/proc/self/cwd/data", user="pong", database="pong", min_size=1, max_size=10
        )
        app.add_routes([web.get("/index", index), web.get("/agents", agents)])
        self.runner = web.AppRunner(app, access_log=None)
        await self.runner.setup()
        handler = self.runner.server
        servers = {}
        for each in sockets:
            server = await self.loop.create_server(
                handler, sock=each.sock, backlog=self.worker.cfg.backlog
            )
            servers[server] = handler
        return servers

    async def cleanup(self):
        await self.runner.cleanup()
