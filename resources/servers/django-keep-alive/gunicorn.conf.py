"""Sixteen workers, as in the benchmark of 2015, with keep-alive, as its author corrected later."""

workers = 16
worker_class = "gthread"
threads = 4
keepalive = 60
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
