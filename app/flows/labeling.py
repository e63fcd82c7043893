"""Label: a durable judgment of what was on screen, and its undo. Reads the reviewer's own file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core import ids
from app.core.errors import InvalidInput, LabelConflict
from app.core.judgments import Evidence, Judgment, Reason, file_name, new_judgment, now
from app.core.ledger import line_of
from app.core.model import ChunkKey
from app.core.text import digest, shown
from app.flows.loading import Loaded
from app.flows.own import Own
from app.flows.roles import require_grader


@dataclass(frozen=True, slots=True)
class Item:
    """What is on screen for one judgment. The hashes pin the judgment to what was read."""

    question: str
    key: ChunkKey
    text: str
    title: str
    section: str
    text_hash: str
    question_hash: str
    guidelines: str | None

    @property
    def pair(self) -> tuple[str, str]:
        """Question and text hash: what the judgment speaks of."""
        return self.question, self.text_hash

    @property
    def id(self) -> str:
        """What every key press carries: 16 characters that stand for all that was read."""
        return digest([self.question, str(self.key), self.text_hash, self.question_hash])[:16]


@dataclass(frozen=True, slots=True)
class Said:
    """What a reviewer says of an item: a grade, that they cannot judge and why, or later."""

    kind: Literal["grade", "cannot-judge", "later"]
    grade: int | None = None
    reason: Reason | None = None
    note: str | None = None
    evidence: Sequence[Evidence] = ()

    @property
    def words(self) -> str:
        """In a sentence: `2`, `cannot judge (broken text)`, `later`."""
        if self.kind == "grade":
            return str(self.grade)
        return f"cannot judge ({self.reason})" if self.kind == "cannot-judge" else "later"


@dataclass(frozen=True, slots=True)
class Saved:
    """A judgment that is on the disk, and what was noticed on the way."""

    event: Judgment
    notice: str | None


def item(loaded: Loaded, question: str, key: ChunkKey) -> Item:
    """One chunk of a question, as it is shown."""
    chunk = loaded.corpus.eligible[key]
    return Item(
        question=question,
        key=key,
        text=chunk.text,
        title=chunk.title,
        section=chunk.section,
        text_hash=chunk.text_hash,
        question_hash=loaded.questions[question].hash,
        guidelines=loaded.collection.guidelines_version(),
    )


def say(
    loaded: Loaded,
    own: Own,
    shown_item: Item,
    said: Said,
    *,
    reopened: str | None = None,
    stale: str | None = None,
    blind: bool = True,
) -> Saved:
    """Save what a reviewer says of the item that was on screen; on the disk when this returns.

    `reopened` is the event that was shown as the reviewer's own judgment of the item, `stale` one
    they gave before it was changed; either is replaced. Not `blind`: they had seen what others
    said of it. Raises InvalidInput where the reviewer
    may not grade or evidence is required,
    LabelConflict where question, chunk or guidelines have changed or the item was judged meanwhile
    (in another tab), LabelNotSaved where the disk refuses.
    """
    require_grader(loaded.collection.workspace, own.reviewer)
    _require_unchanged(loaded, shown_item)
    if _lacks_evidence(loaded, said):
        raise InvalidInput(
            f"the grade {said.grade} of {shown_item.key.short()} needs evidence in this collection",
            remedy="Press e, click the sentence that answers, and grade again",
        )
    before = own.events.get(reopened or "")
    event = new_judgment(
        own.reviewer,
        shown_item.question,
        shown_item.key,
        kind=said.kind,
        grade=said.grade,
        reason=said.reason,
        note=said.note or None,
        evidence=list(said.evidence),
        # Who changes a grade that was not given blind has seen no less since.
        blind=blind and (before is None or before.blind),
        text_hash=shown_item.text_hash,
        question_hash=shown_item.question_hash,
        guidelines=shown_item.guidelines,
        replaces=reopened or stale,
    )

    def as_shown() -> None:
        there = own.fresh.get(shown_item.pair)
        if there is not None and there.event != reopened:
            raise LabelConflict(
                f"{shown_item.key.short()} was already judged at {there.time[11:19]} UTC "
                f"({words_of(there)}), perhaps in another tab",
                remedy="Nothing was saved: look at it again to change it",
            )
        if reopened is not None and there is None:
            raise LabelConflict(
                f"your judgment of {shown_item.key.short()} was taken back meanwhile",
                remedy="Nothing was saved: grade it again",
            )

    return _append(loaded, own, event, as_shown)


def grade(loaded: Loaded, reviewer: str, shown_item: Item, value: int) -> Saved:
    """Save a grade of the item that was on screen; as `say`, for who has no judgments at hand."""
    return say(loaded, Own(loaded, reviewer), shown_item, Said("grade", value))


def undo(loaded: Loaded, own: Own, event_id: str) -> Saved:
    """Take back a judgment: what it replaced counts again, or the item is open again.

    Raises InvalidInput where the reviewer may not grade, LabelConflict where it is no longer in
    force.
    """
    require_grader(loaded.collection.workspace, own.reviewer)
    own.refresh()
    last = own.events.get(event_id)
    if last is None:
        raise LabelConflict("there is nothing of yours to undo", remedy="Go on grading")
    before = _before(last, own.events)
    renewed = {
        "event": ids.event_id(),
        "time": now(),
        "replaces": last.event,
        "undoes": last.event,
    }
    taken_back: dict[str, object] = {
        "kind": "withdraw",
        "grade": None,
        "reason": None,
        "note": None,
        "evidence": [],
    }
    event = (before or last).model_copy(update=renewed if before else {**renewed, **taken_back})

    def in_force() -> None:
        if not own.in_force(last):
            raise LabelConflict(
                f"the judgment of {last.key.short()} was already taken back or replaced",
                remedy="Look at the item again",
            )

    return _append(loaded, own, event, in_force)


def words_of(event: Judgment) -> str:
    """What a judgment says, in a few words."""
    if event.kind == "grade":
        return f"grade {event.grade}"
    return f"cannot judge: {event.reason}" if event.kind == "cannot-judge" else event.kind


def _require_unchanged(loaded: Loaded, shown_item: Item) -> None:
    """Raise LabelConflict where what was on screen is not what is there now."""
    question = loaded.questions.get(shown_item.question)
    chunk = loaded.corpus.eligible.get(shown_item.key)
    if question is None or question.hash != shown_item.question_hash:
        raise LabelConflict(
            f"the question {shown(shown_item.question)} has changed since it was shown",
            remedy="Nothing was saved: read it again and grade again",
        )
    if chunk is None or chunk.text_hash != shown_item.text_hash:
        raise LabelConflict(
            f"the chunk {shown_item.key.short()} has changed since it was shown",
            remedy="Nothing was saved: read it again and grade again",
        )
    if loaded.collection.guidelines_pin() not in (None, shown_item.guidelines):
        raise LabelConflict(
            "the guidelines have changed since they were shown",
            remedy="Nothing was saved: read them again and grade again",
        )


def _lacks_evidence(loaded: Loaded, said: Said) -> bool:
    required = loaded.collection.settings.labels.evidence == "required"
    return required and bool(said.grade) and not said.evidence


def _before(last: Judgment, events: Mapping[str, Judgment]) -> Judgment | None:
    """What an undo of a judgment brings back; behind what an undo brought back, what was before."""
    replaced = events.get(last.replaces or "")
    restated: Judgment | None = None
    if last.undoes is not None and last.undoes in events:
        restated = _before(events[last.undoes], events)
    elif "undoes" not in last.model_fields_set and replaced is not None:
        # Earlier versions did not say so: there, equal words two events later were an undo's.
        own = {"event", "time", "replaces", "undoes"}
        origin = events.get(replaced.replaces or "")
        if origin and origin.model_dump(exclude=own) == last.model_dump(exclude=own):
            restated = origin
    return _before(restated, events) if restated is not None else replaced


def _append(loaded: Loaded, own: Own, event: Judgment, check: Callable[[], None]) -> Saved:
    """Append one event to the reviewer's file, if a check holds for the file as it is then."""
    line = line_of(event.model_dump())

    def lines(_: object) -> list[bytes]:
        own.refresh()
        check()
        return [line]

    notice = loaded.collection.ledger.append_lines(file_name(event.author), lines)
    return Saved(event, notice)
