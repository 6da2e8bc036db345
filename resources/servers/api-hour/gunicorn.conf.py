"""Sixteen workers, as in the benchmark of 2015."""

workers = 16
worker_class = "api_hour.Worker"
accesslog = None
errorlog = "-"
loglevel = "warning"
worker_connections = 20_000
