"""A session for those who have no Pongbench: a table of its points, and an HTML file that explains
itself. Without Qt; the pictures are handed in."""
