"""Damaged sessions, plans and servers, made by seeded mutation of real ones."""
