from flask import Flask


def create_app() -> Flask:
    app = Flask(__name__)

    @app.get("/")
    def pong() -> str:
        return "Pong!"

    return app
