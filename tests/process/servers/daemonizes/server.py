"""Goes to the background before it listens, as daemons do."""

import os
import socket
import sys
import time

if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
time.sleep(1)
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(600)
