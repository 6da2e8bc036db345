"""Locust: users of an unchanged locustfile."""
