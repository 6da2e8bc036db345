"""Reports on a session for people without Pongbench: a table of its points, and a self-contained
HTML file. Without Qt: the charts are passed in."""
