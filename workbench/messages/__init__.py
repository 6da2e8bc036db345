"""Everything the program reports: codes with typed parameters, and the sentences they render to.

`base` defines a message and how its template is filled, `errors` labels failed calls, `reasons` are
those of a verdict and `causes` those of a server's limit, `notes` are recorded beside the points of
a session, as are `outcomes` (`topics` is their registry), `audits` are findings of checks,
`problems` are those of a plan and `plans` warnings about one and about its load tools.
"""
