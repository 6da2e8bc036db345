"""One call a connection, read until the server closes."""
