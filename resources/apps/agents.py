"""The agents that `with_postgres.py` holds, through a pool of connections for each process."""

import asyncpg

QUERY = "select id, name, login, status from agents order by id"


def pool():
    return asyncpg.create_pool(
        host="/proc/self/cwd/data", user="pong", database="pong", min_size=1, max_size=10
    )


async def read(connections):
    return [dict(row) for row in await connections.fetch(QUERY)]
