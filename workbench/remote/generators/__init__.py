"""Workers in place of the agent's own: a folder for each workload that has them, by its key."""
