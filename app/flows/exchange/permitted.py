"""What of a file of labels only adjudicators import: decisions, and labels of other people.

What a page takes is said by whoever is at the screen. A line of the ledger names its own author and
may say that it is an adjudication, so it could say more than its importer may.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import InvalidInput
from app.core.events import Event, Restoration
from app.core.judgments import Judgment, Retirement
from app.flows.exchange.incoming import Incoming, take_events
from app.flows.exchange.labels import events_in
from app.flows.exchange.outcome import Outcome
from app.flows.loading import Loaded
from app.flows.wording import count
from app.team import PLACE, read_team
from app.workspace import Workspace

#: Names that are told one by one.
_MOST = 5


@dataclass(frozen=True, slots=True)
class Limits:
    """What somebody may not import: `decisions`, and what names others than `only` (None: anybody).

    Decisions are adjudications, pairs that are retired and those that are brought back.
    """

    decisions: bool = False
    only: str | None = None


def limits_of(workspace: Workspace, reviewer: str) -> Limits:
    """The limits of a reviewer, by identity: none for those who may adjudicate.

    Names are held against the reviewer's where a sign-in says who that is. Raises InvalidInput
    where `data/desk.toml` is refused.
    """
    team = read_team(workspace.data)
    if team.may_adjudicate(reviewer):
        return Limits()
    return Limits(decisions=True, only=None if team.sign_in is None else reviewer)


def require_within(
    loaded: Loaded, limits: Limits, path: Path, authors: Iterable[str], name: str
) -> None:
    """Raise InvalidInput where a file brings what is beyond the limits.

    `authors` are those of its new judgments, `name` what its owner calls it. What is in the ledger
    already is passed over.
    """
    found, incoming = Outcome("", path.name), Incoming()
    if (lines := events_in(path, found)) is not None:
        take_events(loaded, lines, incoming, found)
    events: list[tuple[int, Judgment | Event]] = [*incoming.judgments, *incoming.others]
    decided = [line for line, event in events if limits.decisions and _is_decision(event)]
    if decided:
        also = f", as {count(len(decided) - 1, 'other')} in it" if len(decided) > 1 else ""
        raise InvalidInput(
            f"the line is an adjudication, or retires a pair or brings one back{also}, and "
            f"roles.adjudicators in {PLACE} does not have you",
            place=f"{name}:{min(decided)}",
            remedy="Let somebody who is named there import the file, or leave such lines out",
        )
    named = {*authors, *(event.author for _, event in events)}
    others = sorted(named - {limits.only}) if limits.only is not None else []
    if others:
        rest = f" and {len(others) - _MOST:,} more" if len(others) > _MOST else ""
        raise InvalidInput(
            f"it brings what others said ({', '.join(others[:_MOST])}{rest}), and "
            f"roles.adjudicators in {PLACE} does not have you",
            place=name,
            remedy="Let somebody who is named there import the file; where it names nobody and the "
            f"labels are yours, say that {limits.only} judged",
        )


def _is_decision(event: Judgment | Event) -> bool:
    if isinstance(event, Judgment):
        return event.adjudication
    return isinstance(event, Retirement | Restoration)
