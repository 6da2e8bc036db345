"""Sixteen workers, as in the benchmark of 2015."""

workers = 16
worker_class = "aiohttp.GunicornWebWorker"
worker_connections = 20_000
keepalive = 60
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
