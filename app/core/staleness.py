"""Which of one reviewer's judgments no longer count as given, though they could be given again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.carrying import Quoted
from app.core.corpus import Corpus
from app.core.gathering import Retired
from app.core.grades import Subject, in_force, last_words, subject_of
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.model import Chunk, ChunkKey
from app.core.questions import Question

#: What has changed: the chunk's text, the question's text, need or facts, the guidelines where they
#: matter; or the chunk was cut anew, so that its text is in no chunk as a whole.
Why = Literal["text", "question", "guidelines", "re-chunked"]

#: A chunk is suggested for a judgment where it has at least this share of the judged words.
LEAST_OVERLAP = 0.5


@dataclass(frozen=True, slots=True)
class Outdated:
    """A judgment in force that is stale, the chunk it could be given for, and why it is stale.

    `key` is None where the chunk was cut anew: which chunk it could be given for is a matter of
    words, see `overlapping`.
    """

    event: Judgment
    key: ChunkKey | None
    why: tuple[Why, ...]


@dataclass(frozen=True)
class Outlook:
    """What judgments are held against: the guidelines are None where they do not matter."""

    questions: Mapping[str, Question]
    corpus: Corpus
    retired: Retired
    guidelines: str | None


def outdated(
    events: Sequence[Placed[Judgment]],
    reviewer: str,
    outlook: Outlook,
    among: Container[str] | None = None,
) -> tuple[list[Outdated], Mapping[Subject, object]]:
    """A reviewer's stale judgments in the ledger's order, and all their last words by subject.

    Grades and `cannot judge` only; not those of a text that was retired or has gone for good, of
    one that counts where its text or its evidence now stands, nor of a chunk that its author has
    said something newer of. `among`: only those of these ids.
    """
    own = [placed for placed in events if placed.event.author == reviewer]
    said = last_words(own, outlook.corpus)
    quoted = Quoted(outlook.corpus)
    found = [
        one
        for placed in in_force(said)
        if placed.event.kind != "later"
        and (among is None or placed.event.event in among)
        and (one := _outdated(placed.event, outlook, quoted)) is not None
        and not is_settled(one.event, one.key, said, outlook)
    ]
    if not found:
        return [], said
    order = {placed.event.event: number for number, placed in enumerate(own)}
    last = {_of_key(one.event): -1 for one in found}
    for placed in said.values():
        name = _of_key(placed.event)
        if name in last:
            last[name] = max(last[name], order[placed.event.event])
    newest = [one for one in found if last[_of_key(one.event)] == order[one.event.event]]
    return sorted(newest, key=lambda one: order[one.event.event]), said


def _of_key(event: Judgment) -> tuple[object, ...]:
    return event.question, *event.chunk, event.adjudication


def _outdated(event: Judgment, outlook: Outlook, quoted: Quoted) -> Outdated | None:
    question, corpus, about = outlook.questions.get(event.question), outlook.corpus, event.text_hash
    if question is None:
        return None
    why: list[Why] = []
    if event.question_hash not in (None, question.hash):
        why.append("question")
    if outlook.guidelines is not None and event.guidelines not in (None, outlook.guidelines):
        why.append("guidelines")
    # Most judgments are of a text that is still there.
    if not why and (about is None or about in corpus.by_hash):
        return None
    if outlook.retired.covers(event, corpus):
        return None
    chunk = corpus.chunks.get(event.key)
    here: ChunkKey | None = event.key if chunk is not None and chunk.eligible else None
    if about is not None and (chunk is None or chunk.text_hash != about):
        # Where its text or its evidence stands now, there it counts, if question and rules allow.
        places = corpus.by_hash.get(about, ())
        landing = None if places else quoted.landing(event)
        if not why and (places or landing is not None):
            return None
        if places:
            here = places[0]
        elif landing is not None and landing.carried:
            here = corpus.by_hash[landing.texts[0]][0]
        if not places:
            why.insert(0, "text" if here is not None else "re-chunked")
    elif here is None:
        return None
    return Outdated(event, here, tuple(why)) if why else None


def is_settled(
    event: Judgment, key: ChunkKey | None, said: Mapping[Subject, object], outlook: Outlook
) -> bool:
    """Whether the text of a chunk was retired, or a judgment's author has said something of it."""
    if key is None:
        return False
    text = outlook.corpus.chunks[key].text_hash
    if (event.question, text) in outlook.retired.texts:
        return True
    other = event.text_hash is not None and event.text_hash != text
    return other and subject_of(event, text) in said


def overlapping(old_text: str, chunks: Iterable[Chunk]) -> list[tuple[ChunkKey, float]]:
    """The chunks that have most of a text's words, with the share they have.

    From `LEAST_OVERLAP` (of 1) up, each word as often as it stands in both; several only where
    their shares are equal.
    """
    words = Counter(old_text.casefold().split())
    shares = {
        chunk.key: (words & Counter(chunk.text.casefold().split())).total() / words.total()
        for chunk in (chunks if words else ())
    }
    most = max(shares.values(), default=0.0)
    if most < LEAST_OVERLAP:
        return []
    return [(key, share) for key, share in shares.items() if share == most]
