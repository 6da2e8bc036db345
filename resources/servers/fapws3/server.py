"""The Pong application on FAPWS3."""

import sys

import fapws._evwsgi as evwsgi
from fapws import base
from pong_wsgi import application

host, port = sys.argv[1], sys.argv[2]
evwsgi.start(host, port)
evwsgi.set_base_module(base)
evwsgi.wsgi_cb(("/", application))
evwsgi.set_debug(0)
evwsgi.run()
