"""A locustfile, loaded as Locust loads it."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import locust
from locust.argument_parser import get_parser
from locust.env import Environment
from locust.util.load_locustfile import load_locustfile

from . import detach


class Refused(Exception):
    """It cannot be used; the text is a sentence with the file and its line."""


def load(
    path: str,
    options: Sequence[str],
    runner: Callable[[Environment], Any] = Environment.create_local_runner,
    *,
    shapes: bool = False,
) -> Any:
    """Return the environment of a locustfile, with a runner, which may make a web page. `options`:
    Locust's own; `shapes`: whether a `LoadTestShape` is of use. Raises Refused."""
    name = Path(path).name
    try:
        classes, found = load_locustfile(str(Path(path).resolve()))
        if found and not shapes:
            raise Refused(
                f"{name}: {type(found[0]).__name__} is a LoadTestShape, and the plan decides the"
                " load; remove it, or give engine: locust."
            )
        if not classes:
            raise Refused(f"{name} has no user class, such as one of HttpUser.")
        parsed = get_parser(default_config_files=[]).parse_args(list(options))
        environment = Environment(
            user_classes=list(classes.values()),
            shape_class=found[0] if found else None,
            events=locust.events,
            tags=parsed.tags,
            exclude_tags=parsed.exclude_tags,
            locustfile=name,
            parsed_options=parsed,
            available_user_classes=classes,
            available_shape_classes={type(each).__name__: each for each in found},
            available_user_tasks={each: classes[each].tasks for each in classes},
        )
        environment._filter_tasks_by_tags()
        for each in environment.user_classes:
            if not each.tasks:
                raise Refused(f"{name}: {each.__name__} has no tasks with these tags.")
        made = runner(environment)
        locust.events.init.fire(environment=environment, runner=made, web_ui=environment.web_ui)
    except (Exception, SystemExit) as error:
        if isinstance(error, Refused):
            raise
        raise refused(path, error) from None
    return environment


def refused(path: str, error: BaseException) -> Refused:
    """Return an error with the last place in the files of the user."""
    file, line = Path(path).resolve(), 0
    folder, name = file.parent, file.name
    for frame in traceback.extract_tb(error.__traceback__):
        if Path(frame.filename).is_relative_to(folder):
            name, line = str(Path(frame.filename).relative_to(folder)), frame.lineno or 0
    if isinstance(error, SyntaxError) and error.lineno:
        name, line = Path(error.filename or name).name, error.lineno
    said = getattr(error, "msg", "") or str(error)
    where = f"{name}, line {line}" if line else name
    hint = ""
    if isinstance(error, ModuleNotFoundError):
        hint = " Name its package in workload.requirements, or its file in workload.files."
    what = " ".join(said.split()).rstrip(".")[:300]
    return Refused(f"{where}: {type(error).__name__}{what and ': '}{what}.{hint}")


def check(path: str, options: str, master: str) -> None:
    """Load a locustfile, print {"problem": sentence} as the last line, and end. All but the path as
    JSON."""
    answer, problem = os.dup(1), ""
    detach()  # A locustfile may print.
    try:
        load(path, json.loads(options), shapes=bool(json.loads(master)))
    except Refused as refused:
        problem = str(refused)
    os.write(answer, json.dumps({"problem": problem}).encode() + b"\n")
    os._exit(0)  # Its threads, if any, are of no use.
