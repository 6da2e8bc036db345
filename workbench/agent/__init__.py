"""The load agent: a standalone process that offers load and reports what happened to it.

It runs on other people's machines: standard library and gevent only, Python 3.10 and later.
`PROTOCOL` in `protocol.py` describes the lines it reads and writes.
"""
