"""Examples of messages with the sentences they render, by family, as in `workbench/messages/`.

Elsewhere tests assert codes and parameters.
"""

from tests.sentences import audits, causes, machines, notes, plans, reasons, resources, tools
from workbench.messages.base import Message

FAMILIES = (audits, causes, machines, notes, plans, reasons, resources, tools)
SENTENCES: list[tuple[Message, str]] = [
    sentence for family in FAMILIES for sentence in family.SENTENCES
]
