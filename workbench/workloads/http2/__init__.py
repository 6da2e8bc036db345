"""Calls of HTTP/2: streams on a few connections that stay open."""
