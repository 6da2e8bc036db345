"""How a sampler's lines become documents and figures for a point."""

from __future__ import annotations

from msgspec.structs import replace

from workbench.machines.sampler_client import Differ
from workbench.machines.usage import Sample, Tally, Tree, growth

BEFORE = Sample(
    t_us=1_000_000,
    cores=[(100, 1000, 0), (60, 500, 0), (40, 500, 0)],
    softirq=10,
    memory=5_000_000,
    counters={"ListenOverflows": 7, "RetransSegs": 3},
    gauges={"TIME_WAIT": 0},
    server="tornado",
    tree=Tree(cpu_us=500_000, rss=1000, pss=900, processes=2, threads=3, descriptors=20),
    listening=(0, 512),
    own_us=0,
)
AFTER = Sample(
    t_us=1_200_000,
    cores=[(130, 1040, 0), (80, 520, 0), (50, 520, 0)],
    softirq=14,
    memory=4_000_000,
    counters={"ListenOverflows": 12, "RetransSegs": 3},
    gauges={"TIME_WAIT": 40},
    server="tornado",
    tree=Tree(cpu_us=650_000, rss=3000, pss=0, processes=4, threads=5, descriptors=60),
    listening=(30, 512),
    own_us=0,
)


def changed(sample: Sample, **values: object) -> Sample:
    fields = {name: getattr(sample, name) for name in sample.__struct_fields__}
    return Sample(**(fields | values))


def test_the_first_sample_has_no_differences_yet() -> None:
    assert Differ("lab", lambda t_us: t_us).document(BEFORE) is None


def test_counters_become_differences_and_ticks_become_percent() -> None:
    differ = Differ("lab", lambda t_us: t_us - 1_000_000)
    differ.document(BEFORE)
    document = differ.document(AFTER)
    assert document
    assert document.t_us == 200_000
    assert (document.machine, document.server) == ("lab", "tornado")
    assert document.cpu_pct == 75.0
    assert document.host_cpu_pct == 75.0
    assert document.counters == {"ListenOverflows": 5}
    assert document.gauges == {"TIME_WAIT": 40, "SoftirqPct": 10, "BusiestCorePct": 100}
    assert (document.accept_queue, document.backlog) == (30, 512)
    assert document.pss_bytes == 900, "PSS is measured once a second and stays until the next"


def test_another_server_does_not_inherit_figures() -> None:
    differ = Differ("lab", lambda t_us: t_us)
    differ.document(BEFORE)
    document = differ.document(changed(AFTER, server="twisted"))
    assert document
    assert (document.cpu_pct, document.pss_bytes) == (0.0, 0)


def test_a_server_that_exited_uses_nothing() -> None:
    differ = Differ("lab", lambda t_us: t_us)
    differ.document(BEFORE)
    document = differ.document(changed(AFTER, tree=None, listening=None))
    assert document
    assert (document.cpu_pct, document.rss_bytes, document.backlog) == (0.0, 0, 0)


def test_a_point_gets_mean_peak_and_growth() -> None:
    tally = Tally(BEFORE)
    tally.add(AFTER)
    assert AFTER.tree
    calm = Tree(cpu_us=700_000, rss=2000, pss=0, processes=4, threads=5, descriptors=60)
    counters = {"ListenOverflows": 13, "RetransSegs": 3, "SyncookiesSent": 4}
    tally.add(changed(AFTER, t_us=1_400_000, tree=calm, listening=(0, 512), counters=counters))
    usage = tally.usage()
    assert usage.seconds == 0.4
    assert usage.cpu_pct == 50.0
    assert usage.rss_bytes == 3000
    assert usage.accept_queue == 30
    assert usage.counters == {"ListenOverflows": 6}


def test_connections_that_other_programs_dropped_are_not_the_servers() -> None:
    before = {"ListenOverflows": 7, "ListenDrops": 8, "OwnListenDrops": 1}
    now = {"ListenOverflows": 90, "ListenDrops": 91}
    for own, counted in ((1, {}), (3, {"ListenOverflows": 2, "ListenDrops": 2})):
        assert growth(before, now | {"OwnListenDrops": own}) == counted
    assert growth(before, now) == {"ListenOverflows": 83, "ListenDrops": 83}, "where not known"


def test_the_next_point_begins_at_the_last_sample() -> None:
    tally = Tally(BEFORE)
    tally.add(AFTER)
    again = tally.again()
    assert again.usage().seconds == 0.0
    again.add(changed(AFTER, t_us=1_400_000))
    assert (again.usage().cpu_pct, again.usage().counters) == (0.0, {})


def test_a_child_that_was_not_reaped_does_not_make_cpu_time_negative() -> None:
    tally = Tally(AFTER)
    tally.add(changed(BEFORE, t_us=1_400_000))
    assert tally.usage().cpu_pct == 0.0


def test_cpu_time_of_no_known_process_counts_as_background_load() -> None:
    """In one second of two cores, 100 ticks each: 0.5 s by the tree, 0.1 s by the sampler."""
    tree = Tree(cpu_us=1_000_000, rss=1, pss=1, processes=1, threads=1, descriptors=1)
    first = changed(BEFORE, cores=[(0, 0, 0), (0, 0, 0), (0, 0, 0)], softirq=0)
    last = changed(
        first,
        t_us=first.t_us + 1_000_000,
        cores=[(150, 200, 40), (60, 100, 5), (90, 100, 35)],
        softirq=10,
        tree=tree,
        own_us=100_000,
    )
    cases = (((), 0.8, 0.4), ((0, 1), 0.8, 0.4), ((1,), 0.2, 0.2), ((0,), 0.0, 0.0))
    forgetful = replace(tree, discards=True, forks=500)
    for beside, elsewhere_s in (((1,), 0.7), ((), None)):
        tally = Tally(changed(first, tree=replace(forgetful, forks=0)), (0, 1), beside)
        tally.add(changed(last, tree=forgetful))
        found = tally.usage().elsewhere_s
        assert (found and round(found, 6)) == elsewhere_s, "its own time is not told from others'"
    for cores, elsewhere_s, stolen_s in cases:
        tally = Tally(first, cores)
        tally.add(last)
        usage = tally.usage()
        assert usage.elsewhere_s is not None
        found = round(usage.elsewhere_s, 6), round(usage.stolen_s, 6)
        assert found == (elsewhere_s, stolen_s), cores
