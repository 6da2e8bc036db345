"""Connections that are held open, with few messages on them."""
