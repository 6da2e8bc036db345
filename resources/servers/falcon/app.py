"""A JSON document, and agents from PostgreSQL: Falcon, with a pool of connections."""

import agents
import falcon
import falcon.asgi


class Connections:
    async def process_startup(self, scope, event):
        self.pool = await agents.pool()

    async def process_shutdown(self, scope, event):
        await self.pool.close()


class Pong:
    async def on_get(self, request, response):
        response.content_type = falcon.MEDIA_TEXT
        response.text = "Pong!"


class Index:
    async def on_get(self, request, response):
        response.media = {"hello": "world"}


class Agents:
    async def on_get(self, request, response):
        response.media = await agents.read(connections.pool)


connections = Connections()
app = falcon.asgi.App(middleware=[connections])
app.add_route("/", Pong())
app.add_route("/index", Index())
app.add_route("/agents", Agents())
