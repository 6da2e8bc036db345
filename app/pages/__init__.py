"""The window's pages, one file each."""
