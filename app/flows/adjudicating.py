"""Disputes: pairs whose judgments give no grade, and the decisions that settle them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from filelock import FileLock, Timeout

from app.core.errors import InvalidInput, LabelConflict, LabelNotSaved
from app.core.events import Restoration, retirements
from app.core.gathering import Gathered, Retired
from app.core.grades import State, in_force, last_words, live, text_judged
from app.core.judgments import Judgment, Retirement, file_name, new_judgment
from app.core.ledger import LOCK_SECONDS
from app.core.model import Chunk, ChunkKey
from app.core.text import fault_in_text, shown
from app.flows.loading import Loaded
from app.flows.roles import require_adjudicator

#: States that wait for a decision, and those that can have one all the same.
OPEN: tuple[State, ...] = ("disputed", "cannot-judge")
WITH_UNSETTLED: tuple[State, ...] = (*OPEN, "unsettled")


@dataclass(frozen=True, slots=True)
class Dispute:
    """A text under a question that has no agreed grade, as it is on screen.

    `keys` are the chunks that have the text, of which `key` is shown; `chunk` is None where it has
    left the corpus. `about` are the texts judged, as hashes (or keys without a text): one, unless
    texts that left the corpus followed each other under one id. `judgments` are in the order of
    their letters: Reviewer A is the author of the first.
    """

    question: str
    key: ChunkKey
    keys: tuple[ChunkKey, ...]
    chunk: Chunk | None
    about: tuple[object, ...]
    question_hash: str
    state: State
    low: int
    high: int
    judgments: tuple[Judgment, ...]

    @property
    def width(self) -> int:
        """Highest minus lowest possible grade."""
        return self.high - self.low

    @property
    def identity(self) -> tuple[str, str]:
        """Question and shown key: what a link names."""
        return self.question, str(self.key)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision on the disk, and what was noticed on the way."""

    event: Judgment | Retirement | Restoration
    notice: str | None


def disputes(loaded: Loaded, states: Sequence[State] = OPEN) -> list[Dispute]:
    """The texts under questions in these states, widest first, then in the questions' order.

    Raises InvalidInput with every label that is refused.
    """
    waiting = {pair: p for pair, p in loaded.labels.pairs.items() if p.state in states}
    gathered = _gathered(loaded, {question for question, _ in waiting})
    found: dict[tuple[str, object], Dispute] = {}
    for (question, key), label in waiting.items():
        chunk = None if label.departed else loaded.corpus.chunks.get(key)
        about: object = key if chunk is None else chunk.text_hash
        if (question, about) in found:
            continue
        if chunk is None:
            judgments = _departed(gathered, question, key)
            texts = tuple(dict.fromkeys(text_judged(j, loaded.corpus) for j in judgments))
            keys: tuple[ChunkKey, ...] = (key,)
        else:
            judgments, texts = gathered.fresh.get((question, key), []), (about,)
            keys = loaded.corpus.by_hash[chunk.text_hash]
        found[question, about] = Dispute(
            question=question,
            key=key,
            keys=keys,
            chunk=chunk,
            about=texts,
            question_hash=loaded.questions[question].hash,
            state=label.state,
            low=label.low,
            high=label.high,
            judgments=_lettered(question, key, judgments),
        )
    order = {name: n for n, name in enumerate(loaded.questions)}
    return sorted(found.values(), key=lambda d: (-d.width, order[d.question], d.key))


def _gathered(loaded: Loaded, asked: Collection[str]) -> Gathered:
    """The judgments in force of some questions, by what they still speak of; read anew."""
    collection = loaded.collection
    retired = Retired.of(retirements(collection.events.read().events))
    pin = collection.guidelines_pin()
    gathered = Gathered(loaded.questions, loaded.corpus, retired, pin)
    events = [p for p in collection.ledger.read().events if p.event.question in asked]
    said = last_words(events, loaded.corpus)
    for placed in in_force(said):
        gathered.take(placed)
    gathered.settle(said, events)
    return gathered


def _departed(gathered: Gathered, question: str, key: ChunkKey) -> list[Judgment]:
    """The fresh judgments of the texts whose first key this is."""
    return [
        event
        for (asked, _), gone in gathered.departed.items()
        if asked == question and min(event.key for event, _ in gone) == key
        for event, fresh in gone
        if fresh
    ]


def _lettered(question: str, key: ChunkKey, judgments: Sequence[Judgment]) -> tuple[Judgment, ...]:
    """Judgments in an order that tells nothing of who gave them, and is not that of other pairs."""

    def place(event: Judgment) -> str:
        return hashlib.sha256(f"{question}\n{key}\n{event.author}".encode()).hexdigest()

    said = [event for event in judgments if event.kind in ("grade", "cannot-judge")]
    return tuple(sorted(said, key=place))


def decide(loaded: Loaded, author: str, dispute: Dispute, grade: int, rationale: str) -> Decided:
    """Settle a dispute with a grade and the reason for it; on the disk when this returns.

    Raises InvalidInput where the author may not adjudicate, the rationale is missing or the text is
    no longer here, LabelConflict where the pair has changed or is settled meanwhile, LabelNotSaved
    where the disk refuses.
    """
    require_adjudicator(loaded.collection.workspace, author)
    note = stated(rationale, "the rationale", "Say in a sentence why this is the grade")
    if dispute.chunk is None:
        raise InvalidInput(
            f"the text of {dispute.key.short()} is no longer here to be graded",
            remedy="Retire the pair, or put the text back",
        )
    own = [j.event for j in dispute.judgments if j.adjudication and j.author == author]
    event = new_judgment(
        author,
        dispute.question,
        dispute.key,
        grade=grade,
        note=note,
        blind=False,
        adjudication=True,
        text_hash=dispute.chunk.text_hash,
        question_hash=dispute.question_hash,
        guidelines=loaded.collection.guidelines_version(),
        replaces=own[0] if own else None,
    )
    with one_at_a_time(loaded):
        notice = loaded.collection.ledger.append(
            file_name(author), event.model_dump(), lambda _: require_open(loaded, dispute)
        )
    return Decided(event, notice)


def take_back(loaded: Loaded, author: str, event: str) -> Decided:
    """Withdraw one of the author's own adjudications: the pair is as it was without it.

    Raises InvalidInput where the author may not adjudicate, LabelConflict where there is no such
    adjudication in force, LabelNotSaved where the disk refuses.
    """
    require_adjudicator(loaded.collection.workspace, author)
    ledger = loaded.collection.ledger

    def standing() -> Judgment:
        for placed in live(ledger.read(file_name(author)).events, loaded.corpus):
            if placed.event.event == event and placed.event.adjudication:
                return placed.event
        raise LabelConflict(
            "that adjudication is not yours, or was already taken back or replaced",
            remedy="Look at the decisions again",
        )

    last = standing()
    withdrawal = new_judgment(
        author,
        last.question,
        last.key,
        kind="withdraw",
        blind=False,
        adjudication=True,
        text_hash=last.text_hash,
        question_hash=last.question_hash,
        guidelines=last.guidelines,
        replaces=last.event,
    )

    def check(_: object) -> None:
        standing()

    with one_at_a_time(loaded):
        notice = ledger.append(file_name(author), withdrawal.model_dump(), check)
    return Decided(withdrawal, notice)


def stated(said: str, what: str, remedy: str) -> str:
    """What somebody wrote, without blanks around it; raises InvalidInput where that is nothing."""
    words = said.strip()
    fault = fault_in_text(words) if words else "is missing"
    if fault:
        raise InvalidInput(f"{what} {fault}", remedy=remedy)
    return words


@contextmanager
def one_at_a_time(loaded: Loaded) -> Iterator[None]:
    """Decisions of a collection follow one another, whoever takes them: each sees the last."""
    folder = loaded.collection.labels_folder
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / "deciding.lock", timeout=LOCK_SECONDS):
            yield
    except Timeout:
        raise LabelNotSaved(
            f"another decision has been under way for {LOCK_SECONDS:.0f} s; nothing was saved",
            place=loaded.collection.labels_place,
            remedy="Decide again",
        ) from None


def require_open(loaded: Loaded, dispute: Dispute) -> None:
    """Raise LabelConflict unless question, text and judgments are those that were shown."""
    remedy = "Nothing was saved: look at the pair again"
    question = loaded.questions.get(dispute.question)
    if question is None or question.hash != dispute.question_hash:
        message = f"the question {shown(dispute.question)} has changed since it was shown"
        raise LabelConflict(message, remedy=remedy)
    chunk = loaded.corpus.eligible.get(dispute.key)
    if dispute.chunk is not None and (chunk is None or chunk.text_hash != dispute.chunk.text_hash):
        message = f"the chunk {dispute.key.short()} has changed since it was shown"
        raise LabelConflict(message, remedy=remedy)
    gathered = _gathered(loaded, (dispute.question,))
    if dispute.chunk is None:
        found: Sequence[Judgment] = _departed(gathered, dispute.question, dispute.key)
    else:
        found = gathered.fresh.get((dispute.question, dispute.key), [])
    seen = {event.event for event in dispute.judgments}
    if {e.event for e in _lettered(dispute.question, dispute.key, found)} != seen or _is_retired(
        gathered, dispute
    ):
        message = f"{dispute.key.short()} was judged or decided since it was shown"
        raise LabelConflict(message, remedy=remedy)


def _is_retired(gathered: Gathered, dispute: Dispute) -> bool:
    return any((dispute.question, about) in gathered.retired.texts for about in dispute.about)
