"""The results of sessions, written: terminal, HTML, CSV, JSON."""
