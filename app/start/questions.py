"""The questions of the start page, each answered by a preset. No Qt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """What a comparison can find out."""

    preset: str
    label: str
    text: str


QUESTIONS = (
    Question(
        "demo", "New connections", "Which server accepts the most new connections per second?"
    ),
    Question(
        "keep-alive",
        "HTTP keep-alive",
        "Which web server answers the most calls over keep-alive?",
    ),
    Question(
        "visitors", "Visitors who stay", "Which web server keeps the most visitors connected?"
    ),
    Question("database", "With a database", "Which web application reads fastest from PostgreSQL?"),
    Question("cost", "CPU per call", "Which server needs the least CPU time for a call?"),
    Question(
        "peak",
        "Peak under SLO",
        "Which server sustains the highest rate with a p99 below 50 ms?",
    ),
)
