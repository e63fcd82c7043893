"""The ledger as JSON lines: every event, lossless, in an order that survives a round trip."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.judgments import Judgment, Retirement, file_name
from app.core.ledger import Placed
from app.core.text import canonical
from app.workspace import Collection


def event_lines(collection: Collection) -> Iterator[bytes]:
    """Every event of the ledger, one canonical JSON line each, its line end included.

    Judgments come before other events, each sorted by author; those of one author keep the order
    of the ledger, for it has a meaning. Raises InvalidInput where a line cannot be read.
    """
    for events in (collection.ledger.read().events, collection.retirements.read().events):
        for placed in sorted(events, key=_by_author):
            yield event_line(placed.event)


def event_line(event: Judgment | Retirement) -> bytes:
    """One event as it is exported; what the line left out stays out."""
    return canonical(event.model_dump(exclude_unset=True)).encode() + b"\n"


def _by_author(placed: Placed[Judgment] | Placed[Retirement]) -> str:
    return file_name(placed.event.author)
