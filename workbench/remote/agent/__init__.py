"""The load agent: a standalone process that offers load and reports the results.

It runs on other machines: standard library and gevent only, Python 3.10 or later.
`PROTOCOL` in `protocol.py` describes the lines it reads and writes.
"""
