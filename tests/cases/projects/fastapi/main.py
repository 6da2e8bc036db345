from fastapi import FastAPI
from fastapi.responses import PlainTextResponse

api: FastAPI = FastAPI()


@api.get("/", response_class=PlainTextResponse)
async def pong() -> str:
    return "Pong!"
