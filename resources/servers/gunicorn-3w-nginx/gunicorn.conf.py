"""Three workers, for a proxy on the same machine."""

workers = 3
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
