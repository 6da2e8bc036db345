"""The window's pages, one per file."""
