"""The Pong application on FAPWS3 0.4.dev."""

import sys

import fapws._evwsgi as evwsgi
from fapws import base
from pong_wsgi import application

evwsgi.start(sys.argv[1], int(sys.argv[2]))
evwsgi.set_base_module(base)
evwsgi.wsgi_cb(("/", application))
evwsgi.set_debug(0)
evwsgi.run()
