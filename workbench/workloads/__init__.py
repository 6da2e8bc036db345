"""Workloads: a folder each, with declaration and gate; their drivers are in `remote/drivers`."""
