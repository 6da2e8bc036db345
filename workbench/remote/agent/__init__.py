"""The load agent: a process that offers load and reports the results, with the standard library and
gevent only. It has no lease of its own: the runner that started it ends it with everything else.
`protocol` describes the lines that it reads and writes.
"""
