"""Measures a machine and one process tree on it, five times a second.

A folder that runs as it is copied, with the standard library of Python 3.10 or later:
`python FOLDER [port]`. Without arguments it writes one JSON line a tick until its stdin ends:
    {"t_us": monotonic, "cores": [[busy, total], ...] in ticks, the first for all cores together,
     "softirq": ticks, "memory": bytes available, "counters": {...} since boot, "gauges": {...},
     "server": id, "tree": {"cpu_us", "user_us", "system_us", "rss", "pss", "processes", "threads",
     "descriptors"} | null,
     "listening": [accept queue, backlog] | null, "own_us": CPU time of the sampler so far}
A line on stdin selects what to watch: {"watch": pid, 0 or [pids], "port": n or 0, "server": id},
perhaps with the "group" (a control group's folder) whose processes it is in place of them. Another
requests a sample at once: {"asked": n}; it carries that n and, in addition,
    "pressure": {"cpu", "memory", "io"}: since boot, time in which tasks waited for it, in us;
    in its tree "switches" (context switches of live threads), "tasks": {thread: [time
    on a CPU, time waiting for one]} in us of the busiest, "forks" of the machine since boot,
    "programs": {name: CPU time in us}, "collectors_us": that of threads that collect garbage,
    "throttled_us": how long control groups kept it from running, null without any.
Other samples have in their tree "waits": {what for: threads that ran a short time ago}, and, while
the tree is not busy, "upstreams": {address: [connections in use, those that wait for an answer]}.
With a port as its argument it only prints accept queue and backlog of the listening socket; with
"owner" and a question, whose that is: see `owner`.
"""
