"""What runs on other machines: the load agent, its drivers and generators, and our programs there.

All of it is valid on Python 3.10, and imports the standard library and what it is sent with.
`agent`, `drivers` and `generators` go there together, with gevent or, for a generator, with the
packages of its list in `resources/agent`. Every other file or folder is a program, sent alone.
"""

from pathlib import Path

REMOTE = Path(__file__).parent
"""Where the programs lie, as source also in a frozen build."""
