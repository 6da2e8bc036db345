"""Workloads: one folder each, with a declaration and a gate; the load agent's driver of each is in
`remote/drivers`. `base.py` defines declarations, `registry.py` finds the workloads.
"""
