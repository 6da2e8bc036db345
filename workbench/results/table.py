"""What a table of results is: columns, and cells by their keys. Renderers choose from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True)
class Column:
    key: str
    """Of its cells; in CSV its title, with its unit."""
    title: str
    group: str = ""
    """Title above several columns; empty: independent of the rate."""
    about: str = ""
    """One sentence."""


@dataclass(frozen=True)
class Cell:
    text: str = ""
    """For people; empty: unknown."""
    value: float | str | None = None
    """In the unit of the column's key, for sorting and for programs; None: unknown, or a text."""


@dataclass(frozen=True)
class Row(Generic[S]):
    of: S
    """What the row is about."""
    cells: Mapping[str, Cell]
    """By the key of their column."""

    def text(self, key: str) -> str:
        return self.cells[key].text


@dataclass(frozen=True)
class Table(Generic[S]):
    columns: Sequence[Column]
    rows: Sequence[Row[S]]

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self.columns]

    def texts(self, row: Row[S]) -> list[str]:
        """Return a row's cells in the order of the columns."""
        return [row.text(column.key) for column in self.columns]

    def only(self, keys: Iterable[str]) -> Table[S]:
        """Return the same with the columns of these keys."""
        kept = set(keys)
        return Table([each for each in self.columns if each.key in kept], self.rows)

    def told(self) -> Table[S]:
        """Return the same without columns that tell nothing of any row."""
        told = [
            each.key for each in self.columns if {r.text(each.key) for r in self.rows} - {"", "0"}
        ]
        return self.only(told)


@dataclass(frozen=True)
class Texts:
    title: str
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] = ()
