"""The parts of the Machines page."""
