"""Plans: what is to be measured, what it costs, and in which order."""
