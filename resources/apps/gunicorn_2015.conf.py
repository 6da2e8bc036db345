"""Sixteen workers, as in the benchmark of 2015."""

workers = 16
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
