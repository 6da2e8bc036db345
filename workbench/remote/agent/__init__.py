"""The load agent: a standalone process that offers load and reports the results. It has no lease of
its own: the runner that started it ends it with everything else.

It runs on other machines: standard library and gevent only, Python 3.10 or later.
`PROTOCOL` in `protocol.py` describes the lines it reads and writes.
"""
