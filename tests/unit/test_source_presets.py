"""The presets of the published benchmarks, and the figures that their texts state."""

from __future__ import annotations

import re

import pytest

from workbench.analysis.published import question_of, sources
from workbench.plan import library
from workbench.plan.budget import assess
from workbench.plan.library import Preset
from workbench.plan.reading import read_plan, to_data
from workbench.servers.catalogue import Catalogue

FACTS = {
    "sysctls": {"net.ipv4.ip_local_port_range": "10152 65535", "net.ipv4.tcp_tw_reuse": 2},
    "descriptor_limits": {"soft": 1024, "hard": 1_048_576},
}
ASKED = [
    preset
    for preset in library.presets()
    if preset.plan and preset.plan.source and "then-and-now" not in preset.id
]
QUESTIONS = {question.id: question for source in sources() for question in source.questions}


@pytest.mark.parametrize("preset", ASKED, ids=lambda preset: preset.id)
def test_a_preset_of_a_source_can_be_run_and_asks_its_question(preset: Preset) -> None:
    plan = preset.plan
    assert plan
    assert plan.source == preset.id.removesuffix("-scaled")
    assert question_of(to_data(plan)), "its workload is not that of the question"
    catalogue = Catalogue.load()
    entries = [catalogue[id_] for id_ in plan.servers]
    assert not [entry.id for entry in entries if entry.unavailable]
    budget = assess(plan, entries, FACTS, clients=3)
    assert not budget.problems, [problem.text() for problem in budget.problems]
    preview = " ".join(budget.describe())
    assert all(each in preview for each in ("Takes", "local ports", "descriptors"))
    if preset.id.endswith("-scaled"):
        assert budget.duration_s[0] < 480


@pytest.mark.parametrize(
    "preset", [each for each in library.presets() if each not in ASKED], ids=lambda each: each.id
)
def test_every_other_preset_can_be_run_too(preset: Preset) -> None:
    assert preset.plan
    catalogue = Catalogue.load()
    entries = [catalogue[id_] for id_ in preset.plan.servers]
    assert not [entry.id for entry in entries if entry.unavailable]
    budget = assess(preset.plan, entries, FACTS, clients=3)
    assert not budget.problems, [problem.text() for problem in budget.problems]


def test_the_option_for_hours_that_steady_names_makes_a_run_of_hours() -> None:
    described = library.shipped("steady").plan
    assert described
    (option,) = re.findall(r"`--set (\S+)`", described.description)
    plan = read_plan("steady", [option])
    catalogue = Catalogue.load(extra_dirs=[])
    budget = assess(plan, [catalogue[id_] for id_ in plan.servers], FACTS, clients=1)
    assert not budget.problems, [problem.text() for problem in budget.problems]
    preview = budget.describe()
    assert "Takes 12 to 36 h." in preview
    assert "A point has 28,800,000 calls." in preview
    assert "minutes" not in plan.name


def test_every_preset_has_a_full_and_a_scaled_form() -> None:
    ids = {preset.id for preset in ASKED}
    assert all(
        {id_.removesuffix("-scaled"), f"{id_.removesuffix('-scaled')}-scaled"} <= ids for id_ in ids
    )


def test_presets_stand_under_their_source_from_the_oldest_on() -> None:
    groups = list(dict.fromkeys(preset.group for preset in library.presets()))
    assert groups[0] == ""
    assert groups[1:] == sorted(groups[1:])


def test_servers_that_do_not_keep_alive_are_left_out_of_http11() -> None:
    by_id = {preset.id: preset.plan for preset in ASKED}
    old, new = by_id["piel-2010-wsgi-http10"], by_id["piel-2010-wsgi-http11"]
    assert old and new
    catalogue = Catalogue.load()
    kept = [id_ for id_ in old.servers if catalogue[id_].seen and catalogue[id_].seen.keep_alive]
    assert new.servers == kept
    out = {catalogue[id_].name.split(",")[0] for id_ in old.servers if id_ not in kept}
    assert all(name in new.description for name in out)


@pytest.mark.parametrize("preset", ASKED, ids=lambda preset: preset.id)
def test_a_server_with_a_published_figure_is_in_the_preset_or_named_in_its_description(
    preset: Preset,
) -> None:
    plan = preset.plan
    assert plan
    figures = QUESTIONS[plan.source].figures
    missing = [figure.name for figure in figures if not set(figure.servers) & set(plan.servers)]
    unsaid = {name.split(",")[0] for name in missing}
    assert not {name for name in unsaid if name not in plan.description}


def test_servers_answer_with_the_twelve_bytes_of_2013() -> None:
    catalogue = Catalogue.load()
    for preset in (each for each in ASKED if each.id.startswith("armand-2013")):
        assert preset.plan
        path = preset.plan.workload.path
        replies = [catalogue[id_].replies[path] for id_ in preset.plan.servers]
        assert {len(reply.body) for reply in replies} == {12}


def test_every_figure_names_servers_of_the_catalogue_and_its_place_in_the_text() -> None:
    catalogue = Catalogue.load()
    for question in QUESTIONS.values():
        for figure in question.figures:
            assert all(catalogue[id_].name for id_ in figure.servers)
            assert figure.figures
            assert figure.cited


def test_a_mark_is_labelled_with_the_figure_that_it_marks() -> None:
    figures = QUESTIONS["gasc-2015-constant-db"].figures
    (aiohttp,) = (figure for figure in figures if figure.name == "aiohttp")
    assert aiohttp.label("replies") == "aiohttp, published 2015: 3,698/s"
    assert aiohttp.label("mean") == "aiohttp, published 2015: mean 7.84 s"
