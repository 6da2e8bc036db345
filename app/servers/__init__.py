"""The parts of the page of servers."""
