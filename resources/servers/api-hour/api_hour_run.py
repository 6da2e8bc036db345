"""The command `api_hour`, which has no module of its own to be started by."""

from api_hour.application import run

if __name__ == "__main__":
    run()
