"""The ledger as JSON lines: every event, lossless, in an order that survives a round trip."""

from __future__ import annotations

from collections.abc import Iterator

from app.core.events import Event
from app.core.judgments import Judgment, file_name
from app.core.ledger import Placed, line_of
from app.workspace import Collection


def event_lines(collection: Collection) -> Iterator[bytes]:
    """Every event of the ledger, one canonical JSON line each, its line end included.

    Judgments come before other events, each sorted by author; those of one author keep the order
    of the ledger, for it has a meaning. Raises InvalidInput where a line cannot be read.
    """
    return map(event_line, events(collection))


def events(collection: Collection) -> Iterator[Judgment | Event]:
    """The same as records."""
    judgments = collection.ledger.read().events
    others = collection.events.read().events
    yield from (placed.event for placed in sorted(judgments, key=_by_author))
    yield from (placed.event for placed in sorted(others, key=_by_author))


def event_line(event: Judgment | Event) -> bytes:
    """One event as it is exported; what the line left out stays out."""
    return line_of(event.model_dump(exclude_unset=True))


def _by_author(placed: Placed[Judgment] | Placed[Event]) -> str:
    return file_name(placed.event.author)
