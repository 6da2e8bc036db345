"""A locustfile, loaded as Locust loads it."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import locust
from locust.argument_parser import get_parser
from locust.env import Environment
from locust.util.load_locustfile import load_locustfile


class Refused(Exception):
    """It cannot be used; the text is a sentence with the file and its line."""


def load(path: str, tags: list[str], exclude_tags: list[str]) -> Any:
    """Return the environment of a locustfile, with a runner. Raises Refused."""
    name = Path(path).name
    try:
        classes, shapes = load_locustfile(str(Path(path).resolve()))
        if shapes:
            raise Refused(
                f"{name}: {type(shapes[0]).__name__} is a LoadTestShape, and the plan decides the"
                " load; remove it, and give rates or users in the plan."
            )
        if not classes:
            raise Refused(f"{name} has no user class, such as one of HttpUser.")
        environment = Environment(
            user_classes=list(classes.values()),
            events=locust.events,
            tags=tags or None,
            exclude_tags=exclude_tags or None,
            locustfile=name,
            parsed_options=get_parser(default_config_files=[]).parse_args([]),
        )
        environment._filter_tasks_by_tags()
        for each in environment.user_classes:
            if not each.tasks:
                raise Refused(f"{name}: {each.__name__} has no tasks with these tags.")
        runner = environment.create_local_runner()
        locust.events.init.fire(environment=environment, runner=runner, web_ui=None)
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
