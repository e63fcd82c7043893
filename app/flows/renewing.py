"""Confirm stale judgments: given again for what is there now, many at once where they are alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.documents import document_of
from app.core.errors import InvalidInput, LabelConflict
from app.core.evidence import standing
from app.core.judgments import Evidence, Judgment, file_name, new_judgment
from app.core.ledger import Snapshot, line_of
from app.core.staleness import Outlook, is_settled, outdated
from app.core.text import shown
from app.flows.archive import keep_soon
from app.flows.loading import Loaded
from app.flows.roles import require_adjudicator, require_grader
from app.flows.stale import Group, Stale, groups, outlook_of, stale_of

__all__ = ["Group", "Renewed", "Stale", "confirm", "groups", "stale_of"]


@dataclass(frozen=True, slots=True)
class Renewed:
    """Judgments that are on the disk, and what was noticed on the way."""

    events: tuple[Judgment, ...]
    notice: str | None


def confirm(
    loaded: Loaded, reviewer: str, items: Sequence[Stale], grade: int | None = None
) -> Renewed:
    """Give the judgments of these items again, for what is there now, all in one append.

    The same grade or reason unless `grade` is given; note kept, evidence where its quotes stand in
    the chunk. Raises InvalidInput where the reviewer may not grade (or adjudicate), nothing is
    chosen, or evidence is required and gone; LabelConflict where one of them was judged, replaced
    or taken back meanwhile or is not what was shown; LabelNotSaved. Nothing is saved then.
    """
    workspace = loaded.collection.workspace
    require_grader(workspace, reviewer)
    chosen = list({one.event.event: one for one in items}.values())
    if not chosen:
        raise InvalidInput("no judgment was chosen", remedy="Choose those that still hold")
    if any(one.event.adjudication for one in chosen):
        require_adjudicator(workspace, reviewer)
    outlook = outlook_of(loaded)
    for one in chosen:
        _require_as_shown(loaded, one)
    events = [_renewed(loaded, reviewer, one, grade) for one in chosen]
    # Of two that are given for one text the last counts: the higher grade, whose evidence stands.
    events.sort(key=lambda event: event.value if event.kind == "grade" else -1)

    def lines(read: Callable[[], Snapshot[Judgment]]) -> list[bytes]:
        _require_stale(read(), reviewer, chosen, outlook)
        return [line_of(event.model_dump()) for event in events]

    notice = loaded.collection.ledger.append_lines(file_name(reviewer), lines)
    keep_soon(loaded, [one.chunk for one in chosen])
    return Renewed(tuple(events), notice)


def _require_as_shown(loaded: Loaded, one: Stale) -> None:
    """Raise LabelConflict where an item is not what is there now."""
    remedy = "Nothing was saved: look at it again and confirm again"
    question = loaded.questions.get(one.event.question)
    if question is None or question.hash != one.question.hash:
        raise LabelConflict(
            f"the question {shown(one.event.question)} has changed since it was shown",
            remedy=remedy,
        )
    chunk = loaded.corpus.eligible.get(one.key)
    if chunk is None or chunk.text_hash != one.chunk.text_hash:
        raise LabelConflict(
            f"the chunk {one.key.short()} has changed since it was shown", remedy=remedy
        )
    if loaded.collection.guidelines_pin() not in (None, one.guidelines):
        raise LabelConflict("the guidelines have changed since they were shown", remedy=remedy)


def _require_stale(
    snapshot: Snapshot[Judgment], reviewer: str, chosen: Sequence[Stale], outlook: Outlook
) -> None:
    """Raise LabelConflict unless every item is in force, stale, and its chunk not judged anew."""
    among = {one.event.event for one in chosen}
    found, said = outdated(snapshot.events, reviewer, outlook, among)
    there = {one.event.event: one for one in found}
    for one in chosen:
        entry = there.get(one.event.event)
        elsewhere = entry is not None and entry.key not in (None, one.key)
        if entry is None or elsewhere or is_settled(one.event, one.key, said, outlook):
            raise LabelConflict(
                f"your judgment of {one.event.key.short()} was confirmed, changed or taken back "
                "meanwhile, perhaps in another tab",
                remedy="Nothing was saved: look at what is left and confirm again",
            )


def _renewed(loaded: Loaded, reviewer: str, one: Stale, grade: int | None) -> Judgment:
    """The same judgment, or another grade, for what is there now."""
    old = one.event
    value = old.value if grade is None and old.kind == "grade" else grade
    evidence: list[Evidence] = []
    if value and old.evidence:
        place = document_of(loaded.corpus, loaded.collection.source(), one.key)
        evidence = standing(old.evidence, one.chunk, place)
    required = loaded.collection.settings.labels.evidence == "required"
    if value and not evidence and required:
        raise InvalidInput(
            f"the grade {value} of {one.key.short()} needs evidence in this collection, and what "
            "was quoted does not stand there any more",
            remedy="Judge it by itself and click the sentence that answers",
        )
    return new_judgment(
        reviewer,
        old.question,
        one.key,
        grade=value,
        kind="cannot-judge" if value is None else "grade",
        reason=old.reason if value is None else None,
        note=old.note,
        evidence=evidence,
        blind=old.blind,
        adjudication=old.adjudication,
        text_hash=one.chunk.text_hash,
        question_hash=one.question.hash,
        guidelines=one.guidelines,
        replaces=old.event,
    )
