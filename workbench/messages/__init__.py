"""Everything the program reports: codes with typed parameters, and the sentences they render to.

`base` defines a message and how its template is filled, `errors` labels failed calls, `reasons` are
those of a verdict, `notes` are recorded beside the points of a session (`topics` is their
registry), `plans` are problems of and warnings about a plan.
"""
