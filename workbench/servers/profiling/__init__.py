"""Profiles of servers: which functions their CPU time goes to."""
