"""Workloads: one folder each, with a declaration and a driver for the load agent.

`driver.py` and this file go to machines with the agent: standard library and gevent only, valid on
Python 3.10. `base.py` defines declarations, `registry.py` finds the workloads.
"""
