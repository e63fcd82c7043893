"""Decisions on disputed pairs as they stand, and those proposed as examples for the guidelines."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.carrying import Landing, Quoted, land
from app.core.errors import LabelConflict
from app.core.events import Event, Example, of_kind, retirements
from app.core.grades import in_force, is_fresh, last_words, text_judged
from app.core.ids import event_id
from app.core.judgments import Judgment, Retirement, file_name, now
from app.core.ledger import Placed, Snapshot
from app.core.model import Chunk, ChunkKey
from app.flows.loading import Loaded
from app.flows.roles import require_adjudicator


@dataclass(frozen=True, slots=True)
class Decision:
    """An adjudication in force or a retirement, with what the reviewers had said.

    `chunk` is None where the text is no longer here; `stale` where the text or the question has
    changed since. `judgments` are those in force of everybody who was in the dispute: given for
    the text that was decided, or counted for it by their quotes. `example` is the event that
    proposed it for the guidelines.
    """

    event: Judgment | Retirement
    key: ChunkKey
    chunk: Chunk | None
    stale: bool
    judgments: tuple[Judgment, ...]
    example: Example | None


def decisions(loaded: Loaded) -> list[Decision]:
    """Every adjudication in force and every retirement, newest first.

    Raises InvalidInput where a line of the ledger cannot be read.
    """
    pin = loaded.collection.guidelines_pin()
    events = loaded.collection.ledger.read().events
    others = loaded.collection.events.read().events
    retired = [placed.event for placed in retirements(others)]
    decided = {p.event.question for p in events if p.event.adjudication}
    decided |= {one.question for one in retired}
    said = _Said(loaded, [p for p in events if p.event.question in decided])
    proposed = {one.event.of: one.event for one in of_kind(others, Example)}
    found: list[Decision] = []
    for event in said.adjudications:
        about = text_judged(event, loaded.corpus)
        chunk = _chunk(loaded, event.key, about)
        question = loaded.questions.get(event.question)
        fresh = chunk is not None and question is not None and is_fresh(event, question, pin)
        judgments = said.of(event.question, about, event.question_hash)
        key = event.key if chunk is None else chunk.key
        found.append(Decision(event, key, chunk, not fresh, judgments, proposed.get(event.event)))
    for one in retired:
        chunk = _chunk(loaded, one.key, one.about)
        judgments = said.of(one.question, one.about, None)
        found.append(Decision(one, one.key, chunk, False, judgments, None))
    return sorted(found, key=lambda one: (one.event.time, one.event.event), reverse=True)


class _Said:
    """What is in force of some questions, by the text it speaks of or counts for."""

    def __init__(self, loaded: Loaded, events: list[Placed[Judgment]]) -> None:
        words, quotes = last_words(events, loaded.corpus), Quoted(loaded.corpus)
        self.adjudications: list[Judgment] = []
        self._given: dict[tuple[str, object], list[Judgment]] = {}
        self._landed: dict[tuple[str, object], list[Judgment]] = {}
        quoted: list[tuple[Judgment, Landing]] = []
        for placed in in_force(words):
            event = placed.event
            if event.adjudication:
                self.adjudications += [event] * (event.kind == "grade")
            elif event.kind in ("grade", "cannot-judge"):
                about = event.question, text_judged(event, loaded.corpus)
                self._given.setdefault(about, []).append(event)
                if (landing := quotes.landing(event)) is not None:
                    quoted.append((event, landing))
        for one in land(quoted, words, events)[0]:
            self._landed.setdefault((one.event.question, one.text), []).append(one.event)

    def of(self, question: str, about: object, wording: str | None) -> tuple[Judgment, ...]:
        """What was said of a text, and what its quotes say of it under the same wording.

        `wording` is the hash of the question as it was decided, None where that is not known.
        """
        landed = self._landed.get((question, about), ())
        known = (None, wording)
        fitting = [one for one in landed if wording is None or one.question_hash in known]
        return (*self._given.get((question, about), ()), *fitting)


def _chunk(loaded: Loaded, key: ChunkKey, about: object) -> Chunk | None:
    """The chunk that has the text, the one of that key where it has it; None without."""
    keys = loaded.corpus.by_hash.get(about, ()) if isinstance(about, str) else ()
    if not keys:
        return None
    return loaded.corpus.chunks[key if key in keys else keys[0]]


def examples(loaded: Loaded) -> list[Example]:
    """The decisions proposed as examples, newest first; taken over into the guidelines by hand."""
    events = of_kind(loaded.collection.events.read().events, Example)
    return sorted((p.event for p in events), key=lambda one: (one.time, one.event), reverse=True)


def propose(loaded: Loaded, author: str, decision: Decision) -> Example:
    """Propose an adjudication as an example for the guidelines; on the disk when this returns.

    Raises InvalidInput where the author may not adjudicate, LabelConflict where it is no longer in
    force, has no text here or was proposed before, LabelNotSaved where the disk refuses.
    """
    require_adjudicator(loaded.collection.workspace, author)
    event = decision.event
    now_decided = {one.event.event: one for one in decisions(loaded)}
    standing = now_decided.get(event.event)
    if standing is None or standing.chunk is None or not isinstance(event, Judgment):
        raise LabelConflict(
            f"the decision on {event.key.short()} no longer stands, or has no text here",
            remedy="Look at the decisions again",
        )
    example = Example(
        format=1,
        event=event_id(),
        time=now(),
        author=author,
        kind="example",
        question=event.question,
        chunk=event.chunk,
        grade=event.value,
        text=standing.chunk.text,
        of=event.event,
        note=event.note,
    )

    def once(_: Snapshot[Event]) -> None:
        known = of_kind(loaded.collection.events.read().events, Example)
        if any(one.event.of == event.event for one in known):
            raise LabelConflict(
                f"the decision on {event.key.short()} was proposed before",
                remedy="See it under Proposed examples",
            )

    loaded.collection.events.append(file_name(author), example.model_dump(), once)
    return example
