"""Three workers of the default kind."""

workers = 3
accesslog = None
errorlog = "-"
loglevel = "warning"
control_socket_disable = True
