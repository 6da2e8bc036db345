"""A JSON document, and agents from PostgreSQL: Flask, a connection for every call."""

import psycopg2
import psycopg2.extras
from flask import Flask, jsonify

DATABASE = "host=/proc/self/cwd/data user=pong dbname=pong"
QUERY = "select id, name, login, status from agents order by id"

app = Flask(__name__)


@app.get("/index")
def index():
    return jsonify(hello="world")


@app.get("/agents")
def agents():
    connection = psycopg2.connect(DATABASE, cursor_factory=psycopg2.extras.RealDictCursor)
    try:
        with connection.cursor() as cursor:
            cursor.execute(QUERY)
            return jsonify(cursor.fetchall())
    finally:
        connection.close()
