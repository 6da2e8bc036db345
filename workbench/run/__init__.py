"""Runs: a plan carried out on its machines."""
