"""Label: the next item, a durable save, an undo. Reads no ranking, score or other's label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.core import ids
from app.core.errors import LabelConflict
from app.core.grades import live
from app.core.judgments import Judgment, file_name, new_judgment, now
from app.core.ledger import Snapshot
from app.core.model import ChunkKey
from app.core.queue import open_items, own_judgments
from app.core.text import shown
from app.flows.loading import Loaded
from app.flows.roles import require_grader
from app.workspace import Collection


@dataclass(frozen=True, slots=True)
class Item:
    """What is on screen for one grade. The hashes pin the grade to what was read."""

    question: str
    key: ChunkKey
    text: str
    title: str
    section: str
    text_hash: str
    question_hash: str
    guidelines: str | None


@dataclass(frozen=True, slots=True)
class Progress:
    """One reviewer's progress, counted from the ledger: chunks judged and chunks in all."""

    question_done: int
    question_total: int
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Saved:
    """A judgment that is on the disk, and what was noticed on the way."""

    event: Judgment
    notice: str | None


#: A reviewer's judgments in force, by question and text hash.
Own = dict[tuple[str, str], Judgment]


def own(loaded: Loaded, reviewer: str) -> Own:
    """The reviewer's judgments in force; a page reads them once and hands them on."""
    return _own(loaded, reviewer, _file(loaded, reviewer))


def _own(loaded: Loaded, reviewer: str, snapshot: Snapshot[Judgment]) -> Own:
    pin = loaded.collection.guidelines_pin()
    return own_judgments(snapshot.events, reviewer, loaded.questions, loaded.corpus, pin)


def next_item(
    loaded: Loaded, reviewer: str, question: str, judged: Own | None = None
) -> Item | None:
    """The next chunk of a question for a reviewer; None where all are judged."""
    judged = own(loaded, reviewer) if judged is None else judged
    keys = open_items(reviewer, question, loaded.corpus, judged)
    return item(loaded, question, keys[0]) if keys else None


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


def next_question(
    loaded: Loaded, reviewer: str, after: str, judged: Own | None = None
) -> str | None:
    """The first question from `after` on, around the end, with something left to judge."""
    names = list(loaded.questions)
    start = names.index(after) if after in names else 0
    judged = own(loaded, reviewer) if judged is None else judged
    for name in names[start:] + names[:start]:
        if open_items(reviewer, name, loaded.corpus, judged):
            return name
    return None


def progress(loaded: Loaded, reviewer: str, question: str, judged: Own | None = None) -> Progress:
    """How far a reviewer is with a question and with the collection."""
    judged = own(loaded, reviewer) if judged is None else judged
    texts = loaded.corpus.by_hash
    done = [name for name, text in judged if text in texts]
    return Progress(
        question_done=done.count(question),
        question_total=len(texts),
        done=len(done),
        total=len(texts) * len(loaded.questions),
    )


def grade(loaded: Loaded, reviewer: str, shown_item: Item, value: int) -> Saved:
    """Save a grade of the item that was on screen; it is on the disk when this returns.

    Raises InvalidInput where the reviewer may not grade, LabelConflict where the question or the
    chunk has changed or the reviewer has judged the item meanwhile (in another tab), LabelNotSaved
    where the disk refuses.
    """
    require_grader(loaded.collection.workspace, reviewer)
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
    event = new_judgment(
        reviewer,
        shown_item.question,
        shown_item.key,
        grade=value,
        text_hash=shown_item.text_hash,
        question_hash=shown_item.question_hash,
        guidelines=shown_item.guidelines,
    )

    def still_open(snapshot: Snapshot[Judgment]) -> None:
        before = _own(loaded, reviewer, snapshot).get((event.question, shown_item.text_hash))
        if before is not None:
            raise LabelConflict(
                f"{shown_item.key.short()} was already judged at {before.time[11:19]} UTC "
                f"({_words(before)}), perhaps in another tab",
                remedy="Nothing was saved: to change it, undo it below",
            )

    return _append(loaded.collection, event, still_open)


def _words(event: Judgment) -> str:
    return f"grade {event.grade}" if event.kind == "grade" else event.kind


def last_judgment(loaded: Loaded, reviewer: str, judged: Own | None = None) -> Judgment | None:
    """The reviewer's newest judgment in force, from the ledger: what undo takes back next."""
    judged = own(loaded, reviewer) if judged is None else judged
    order = {p.event.event: n for n, p in enumerate(_file(loaded, reviewer).events)}
    return max(judged.values(), key=lambda event: order[event.event], default=None)


def undo(loaded: Loaded, reviewer: str, event_id: str) -> Saved:
    """Take back a judgment: what it replaced counts again, or the item is open again.

    Raises InvalidInput where the reviewer may not grade, LabelConflict where it is no longer in
    force.
    """
    require_grader(loaded.collection.workspace, reviewer)
    events = {p.event.event: p.event for p in _file(loaded, reviewer).events}
    last = events.get(event_id)
    if last is None:
        raise LabelConflict("there is nothing of yours to undo", remedy="Go on grading")
    before = _before(last, events)
    renewed = {"event": ids.event_id(), "time": now(), "replaces": last.event}
    taken_back: dict[str, object] = {
        "kind": "withdraw",
        "grade": None,
        "reason": None,
        "note": None,
        "evidence": [],
    }
    event = (before or last).model_copy(update=renewed if before else {**renewed, **taken_back})

    def in_force(snapshot: Snapshot[Judgment]) -> None:
        if last.event not in {p.event.event for p in live(snapshot.events, loaded.corpus)}:
            raise LabelConflict(
                f"the judgment of {last.key.short()} was already taken back or replaced",
                remedy="Look at the item again",
            )

    return _append(loaded.collection, event, in_force)


def _before(last: Judgment, events: Mapping[str, Judgment]) -> Judgment | None:
    """What an undo of a judgment brings back; behind what an undo brought back, what was before."""
    replaced = events.get(last.replaces or "")
    origin = events.get(replaced.replaces or "") if replaced else None
    own = {"event", "time", "replaces"}
    if origin and origin.model_dump(exclude=own) == last.model_dump(exclude=own):
        return _before(origin, events)
    return replaced


def _file(loaded: Loaded, reviewer: str) -> Snapshot[Judgment]:
    """The reviewer's own file: nobody else's label is read here."""
    return loaded.collection.ledger.read(file_name(reviewer))


def _append(
    collection: Collection, event: Judgment, check: Callable[[Snapshot[Judgment]], None]
) -> Saved:
    notice = collection.ledger.append(file_name(event.author), event.model_dump(), check)
    return Saved(event, notice)
