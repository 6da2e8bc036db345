"""Requests that a user has already, as a curl command, a HAR, a Postman collection or an OpenAPI
file, become those of a plan."""
