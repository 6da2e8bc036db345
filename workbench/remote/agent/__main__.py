"""`python -m workbench.remote.agent [--workers N] [--cpus 1,2] [--worker MODULE]`.

See `protocol.py`.
"""

from __future__ import annotations

import argparse
import sys

from . import supervisor


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="agent", description="Pongbench load agent")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cpus", default="", help="cores, comma-separated; worker k gets k-th")
    parser.add_argument("--worker", default=supervisor.WORKER, help="module of the workers")
    args = parser.parse_args(argv)
    cpus = [int(cpu) for cpu in args.cpus.split(",") if cpu]
    return supervisor.run(args.workers, cpus, args.worker)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
