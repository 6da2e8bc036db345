"""Messages of one size over ZeroMQ."""
