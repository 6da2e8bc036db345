"""A JSON document, and agents from PostgreSQL: Flask, with a pool of connections."""

import functools

import psycopg2.extras
import psycopg2.pool
from flask import Flask, jsonify

DATABASE = "host=/proc/self/cwd/data user=pong dbname=pong"
QUERY = "select id, name, login, status from agents order by id"

app = Flask(__name__)


@functools.cache
def pool():
    """Of this worker."""
    factory = psycopg2.extras.RealDictCursor
    return psycopg2.pool.ThreadedConnectionPool(1, 10, DATABASE, cursor_factory=factory)


@app.get("/index")
def index():
    return jsonify(hello="world")


@app.get("/agents")
def agents():
    connection = pool().getconn()
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute(QUERY)
            return jsonify(cursor.fetchall())
    finally:
        pool().putconn(connection)
