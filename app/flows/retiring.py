"""Pairs that no longer count: retired by an adjudicator, and brought back."""

from __future__ import annotations

from app.core.errors import LabelConflict
from app.core.events import Restoration, retirements
from app.core.ids import event_id
from app.core.judgments import Retirement, file_name, now
from app.core.ledger import line_of
from app.flows.adjudicating import Decided, Dispute, one_at_a_time, require_open, stated
from app.flows.loading import Loaded
from app.flows.roles import require_adjudicator


def retire(loaded: Loaded, author: str, dispute: Dispute, note: str) -> Decided:
    """Settle a dispute by retiring the pair: it is neither a miss nor open any more.

    Raises as `adjudicating.decide` does.
    """
    require_adjudicator(loaded.collection.workspace, author)
    why = stated(note, "the note", "Say in a sentence why the pair no longer counts")
    time = now()  # one for all: what was retired together comes back together
    events = [
        Retirement(
            format=1,
            event=event_id(),
            time=time,
            author=author,
            kind="retire-label",
            question=dispute.question,
            chunk=[dispute.key.document, dispute.key.version, dispute.key.chunk],
            note=why,
            text_hash=about if isinstance(about, str) else None,
        )
        for about in dispute.about
    ]

    def lines(_: object) -> list[bytes]:
        require_open(loaded, dispute)
        return [line_of(one.model_dump()) for one in events]

    with one_at_a_time(loaded):
        notice = loaded.collection.events.append_lines(file_name(author), lines)
    return Decided(events[0], notice)


def bring_back(loaded: Loaded, author: str, event: str) -> Decided:
    """Let a retired pair count again as its judgments say, whoever retired it.

    What was retired with it comes back too, and nothing of it stays retired by somebody else's
    event, which a merge may have brought. Raises InvalidInput where the author may not adjudicate,
    LabelConflict where the event retires nothing now, LabelNotSaved where the disk refuses.
    """
    require_adjudicator(loaded.collection.workspace, author)

    with one_at_a_time(loaded):
        every = [one.event for one in retirements(loaded.collection.events.read().events)]
        found = next((one for one in every if one.event == event), None)
        if found is None:
            raise LabelConflict(
                "that pair is not retired any more", remedy="Look at the decisions again"
            )
        call = _call(found)
        about = {one.about for one in every if _call(one) == call}
        restoration = Restoration(
            format=1,
            event=event_id(),
            time=now(),
            author=author,
            kind="restore-label",
            question=found.question,
            chunk=found.chunk,
            restores=[
                one.event for one in every if one.question == found.question and one.about in about
            ],
        )
        notice = loaded.collection.events.append(file_name(author), restoration.model_dump())
    return Decided(restoration, notice)


def _call(event: Retirement) -> tuple[object, ...]:
    """What the retirements that `retire` wrote at once have in common, and no others."""
    return event.author, event.time, event.question, event.chunk
