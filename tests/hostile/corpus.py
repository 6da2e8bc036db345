"""The hostile corpus: which damaged files there are, and what each contains.

A file is named by its kind and its seed ("session-17"); the seed makes it, from a real one. Beside
these are hand-picked files, one for every fault found so far: `tests/cases/hostile`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from tests import synthetic
from tests.hostile.mutation import VALUES, as_json, as_yaml, damage_bytes, damage_data
from workbench import paths
from workbench.documents import AnyDocument, HostSample, PointStart, PointStop, Window
from workbench.sessions import read_session
from workbench.sessions.format import HEADER

Kind = Literal["session", "plan", "server"]
KINDS: tuple[Kind, ...] = ("session", "plan", "server")

SIZES: dict[Kind, int] = {"session": 300, "plan": 200, "server": 100}
"""How many of each the corpus has, by seeds from 0; and those picked by hand."""

CASES = Path(__file__).parent.parent / "cases" / "hostile"
RECORDED = sorted((CASES.parent / "sessions").glob("*.pong.yaml"))


@dataclass(frozen=True)
class Hostile:
    """A damaged file."""

    name: str
    kind: Kind
    content: bytes
    beside: Path | None = None
    """Of a server: the folder whose other files it has."""


def made(kind: Kind, seed: int) -> Hostile:
    """The file of a seed, always the same."""
    # Only text is hashed alike by every Python.
    rng = random.Random(f"{kind}-{seed}")
    name = f"{kind}-{seed}"
    match kind:
        case "session":
            return Hostile(name, kind, _session(rng))
        case "plan":
            return Hostile(name, kind, _damaged(rng.choice(_plans()), rng))
        case "server":
            real = rng.choice(_servers())
            return Hostile(name, kind, _damaged(real.read_bytes(), rng), real.parent)


def picked() -> Iterator[Hostile]:
    """The hand-picked files. Those for servers are in `tests/cases/catalogue`."""
    for path in sorted((CASES / "sessions").glob("*.yaml")):
        yield Hostile(path.stem, "session", path.read_bytes())


def _session(rng: random.Random) -> bytes:
    documents = json.loads(rng.choice(_sessions()))
    how = rng.random()
    if how < 0.2:
        return damage_bytes(_written(documents, rng), rng)
    if how < 0.3:
        _disorder(documents, rng)
        return _written(documents, rng)
    if how < 0.45:
        _damage_histogram(documents, rng)
        return _written(documents, rng)
    return _written(damage_data(documents, rng), rng)


def _damaged(text: bytes, rng: random.Random) -> bytes:
    """Of a file that people write."""
    if rng.random() < 0.3:
        return damage_bytes(text, rng)
    data = damage_data(yaml.safe_load(text), rng)
    dumped = as_json(data) if rng.random() < 0.3 else as_yaml(data)
    return dumped.encode("utf-8", "surrogatepass")


@cache
def _sessions() -> list[str]:
    """As JSON: those that were recorded, shortened, and one cut off in the middle of a point."""
    recorded = [_shortened(read_session(path).documents) for path in RECORDED]
    crashed = synthetic.session(2, 2, seconds=1.0, end="crashed")
    return [msgspec.json.encode(documents).decode() for documents in (*recorded, crashed)]


def _shortened(documents: list[AnyDocument]) -> list[AnyDocument]:
    """With the first point of every kind, a few samples, and all notes."""
    kept: list[AnyDocument] = []
    points: Counter[tuple[str, str]] = Counter()
    samples, keep = 0, True
    for document in documents:
        match document:
            case PointStart():
                points[document.server, document.purpose] += 1
                keep = points[document.server, document.purpose] <= 1
            case HostSample():
                samples += 1
                if samples % 10:
                    continue
            case Window() if not keep:
                continue
            case PointStop() if not keep:
                keep = True
                continue
            case _:
                pass
        if keep:
            kept.append(document)
    return kept


@cache
def _plans() -> list[bytes]:
    return [path.read_bytes() for path in sorted((paths.RESOURCES / "plans").glob("*.yaml"))]


@cache
def _servers() -> list[Path]:
    return sorted((paths.RESOURCES / "servers").glob("*/server.yaml"))


def _written(documents: Any, rng: random.Random) -> bytes:
    """In the format of a session file, as far as the damage allows."""
    if not isinstance(documents, list) or not documents:
        return f"{HEADER}\n".encode()
    first, *rest = documents
    beginning = f"--- {as_json(first)}" if rng.random() < 0.5 else f"---\n{as_yaml(first)}".rstrip()
    lines = (f"--- {as_json(document)}" for document in rest)
    return "\n".join((HEADER, beginning, *lines, "")).encode()


def _disorder(documents: list[Any], rng: random.Random) -> None:
    """Documents elsewhere, twice, at another time, or of another point."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, to = rng.randrange(len(documents)), rng.randrange(len(documents))
        match rng.randrange(4):
            case 0:
                documents.insert(to, documents.pop(at))
            case 1:
                documents.insert(to, documents[at])
            case 2:
                documents[at] = {**documents[at], "t_us": rng.choice((0, -1, 10**9, -(10**12)))}
            case 3:
                documents[at] = {**documents[at], "point": rng.randrange(9)}


def _damage_histogram(documents: list[Any], rng: random.Random) -> None:
    """One of one point: if packed, cut off, garbled or doubled; else of odd length, beyond its
    buckets, falling, with counts there cannot be."""
    points = [each for each in documents if each.get("histograms")]
    if not points:
        return
    histograms = rng.choice(points)["histograms"]
    name = rng.choice(sorted(histograms))
    pairs = histograms[name]
    at = rng.randrange(len(pairs))
    if isinstance(pairs, str):
        histograms[name] = rng.choice((pairs[:at], pairs[:at] + "A" + pairs[at + 1 :], pairs * 2))
        return
    match rng.randrange(6):
        case 0:
            pairs.pop(at)
        case 1:
            pairs[at] = rng.choice((999_999_999, 2**31, 2**63, 2**64, -1, 10**30, 0.5, 1e300))
        case 2:
            pairs[at] = rng.choice(VALUES)
        case 3:
            pairs.reverse()
        case 4:
            pairs += pairs
        case _:
            pairs[1::2] = [2**62] * len(pairs[1::2])
