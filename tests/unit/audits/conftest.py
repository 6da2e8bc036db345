"""A run in which nothing is planted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fakes.audited import run

from workbench.documents import AnyDocument


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PONGBENCH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[AnyDocument]:
    """A run in which nothing is planted."""
    return run(tmp_path_factory.mktemp("sound"))
