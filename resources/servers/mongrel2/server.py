"""Starts Mongrel2 with a directory of one file."""

import os
import subprocess
import sys
from pathlib import Path

CONFIGURATION = """\
directory = Dir(base="files/", index_file="pong", default_ctype="text/plain")
main = Server(
    uuid="f400bf85-4538-4f7a-8908-67e313d515c2",
    access_log="/access.log", error_log="/error.log", chroot=".", pid_file="/mongrel2.pid",
    default_host="pong", name="main", bind_addr="{host}", port={port},
    hosts=[Host(name="pong", routes={{"/": directory}})]
)
settings = {{"disable.access_logging": 1}}
servers = [main]
"""

program, host, port = sys.argv[1:]
Path("files").mkdir(exist_ok=True)
Path("files/pong").write_text("Pong!")
Path("files/hello").write_text("Hello World\n")
Path("mongrel2.conf").write_text(CONFIGURATION.format(host=host, port=port))
load = [str(Path(program).with_name("m2sh")), "load", "--config", "mongrel2.conf", "--db", "m2.db"]
subprocess.run(load, check=True, stdout=subprocess.DEVNULL)
os.execv(program, [program, "m2.db", "f400bf85-4538-4f7a-8908-67e313d515c2"])
