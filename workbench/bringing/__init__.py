"""Requests that a user has (curl, HAR, Postman, OpenAPI) become those of a plan."""
