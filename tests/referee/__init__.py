"""How servers behave, and what clients that are not ours make of it: a referee for the load agent.

`cells` names the ways to behave and which of them occur together, `server` behaves so, `expected`
says what RFC 9112 makes of it, `client` and `peers` are the clients, and `trial` compares them.
By hand: `python -m tests.referee --help`.
"""
