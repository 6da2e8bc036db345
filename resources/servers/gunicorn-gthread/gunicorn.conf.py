"""One worker with four threads."""

workers = 1
threads = 4
worker_connections = 20_000
keepalive = 60
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
