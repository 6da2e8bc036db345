"""Calls of HTTP/1.0 and HTTP/1.1, one or many on a connection."""
