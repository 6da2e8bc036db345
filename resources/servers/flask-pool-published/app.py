"""A JSON document, and agents from PostgreSQL: Flask with the pool of connections as published in
2015, to which no connection is given back."""

import psycopg2.extras
from flask import Flask, jsonify
from psycopg2.pool import ThreadedConnectionPool

DATABASE = "host=/proc/self/cwd/data user=pong dbname=pong"
QUERY = "select id, name, login, status from agents order by id"

app = Flask(__name__)
connections = ThreadedConnectionPool(
    30, 30, DATABASE, cursor_factory=psycopg2.extras.RealDictCursor
)


@app.get("/index")
def index():
    return jsonify(hello="world")


@app.get("/agents")
def agents():
    connection = connections.getconn()
    cursor = connection.cursor()
    cursor.execute(QUERY)
    found = cursor.fetchall()
    connection.close()
    return jsonify(found)
