"""Runs programs on a machine, and ends all of them when its connection ends.

A folder for the standard library of Python 3.10 or later: it is sent to other people's machines as
one text (`machines.shell`). Two processes stand for a run. The *guardian* is the parent, and the
subreaper in case the *runner*, its only child, is killed; the runner is the subreaper of its
programs, so that daemonised processes stay within reach. Each ends everything when the other one
ends.

The first line on stdin is the configuration (JSON):
    nonce, cache, run, holder, lease_s, max_s, exclusive (refuse while this user or root has a run)
then commands, one JSON object a line; each renews the lease:
    {"op": "start", "id", "argv", "env", "cwd", "nofile", "cpus"} -> started | failed
    {"op": "write", "id", "line"}             a line for its stdin
    {"op": "stop", "id", "grace_s"}           -> (exit) stopped
    {"op": "read", "n", "paths"}              -> read: texts, null for an unreadable file
    {"op": "ping", "n"}                       -> pong: monotonic_us
    {"op": "bye", "grace_s"}                  -> end; the run is over
On stdout, after the line `<nonce>`, every line is `<id> <payload>`: the merged output of the
program with that id, or, for the id `-`, an event of the runner in JSON:
    ready, busy, fatal, started, failed, exit, eof, stopped, dropped, read, pong, end
"""
