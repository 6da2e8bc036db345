"""What clients can do: a folder each, with its declaration and its driver for the load agent.

`driver.py` and this file go to machines with the agent: standard library and gevent only, valid on
Python 3.10. `base.py` says what a declaration holds, `registry.py` which workloads there are.
"""
