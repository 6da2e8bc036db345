"""One worker, for a proxy on the same machine."""

workers = 1
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
