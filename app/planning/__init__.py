"""The parts of the Plan page."""
