"""What a client does with one connection: a file for each workload, by its key."""
