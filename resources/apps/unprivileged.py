"""For programs that refuse to run as root: what to start in their place.

They become nobody, but keep the right to enter folders, for those of a run are closed to others.
"""

import os
import pwd
from pathlib import Path


def unprivileged(argv, *, owned):
    """The command to start instead of `argv`; the folder `owned` becomes its user's."""
    if os.getuid() != 0:
        return argv
    nobody = pwd.getpwnam("nobody")
    for path in [Path(owned), *Path(owned).iterdir()]:
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
    return [
        "setpriv",
        f"--reuid={nobody.pw_uid}",
        f"--regid={nobody.pw_gid}",
        "--clear-groups",
        "--inh-caps=+dac_override",
        "--ambient-caps=+dac_override",
        # Without it the right is no answer to access(), by which PostgreSQL looks for its programs.
        "--securebits=+no_setuid_fixup",
        "--",
        *argv,
    ]
