"""One worker, the default one."""

workers = 1
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
