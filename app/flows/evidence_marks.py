"""What was quoted of the chunks of one question, for marking and for fact recall."""

from __future__ import annotations

from app.core.facts import EvidenceOf, evidence_in
from app.core.gathering import Gathered
from app.core.grades import in_force, last_words
from app.core.model import ChunkKey
from app.flows.loading import Loaded
from app.flows.stale import outlook_of


def evidence_of(loaded: Loaded, question: str) -> dict[ChunkKey, EvidenceOf]:
    """Quotes and supported facts of every chunk of a question that a judgment quotes from.

    By the judgments that its labels are made of: in force, not stale, for twins and for chunks
    that hold a judged text's evidence too; chunks that have left the corpus are not among them,
    nor are pairs that count no longer. Nothing for a question that is not here.

    It tells what others said: show it to nobody who is to judge the question blind. Reads the
    ledger's judgments of this question alone; raises InvalidInput where a line is refused.
    """
    asked = loaded.questions.get(question)
    if asked is None:
        return {}
    events = [
        placed
        for placed in loaded.collection.ledger.read().events
        if placed.event.question == question
    ]
    if not any(placed.event.evidence for placed in events):
        return {}
    outlook, corpus = outlook_of(loaded), loaded.corpus
    gathered = Gathered({question: asked}, corpus, outlook.retired, outlook.guidelines)
    said = last_words(events, corpus)
    for placed in in_force(said):
        gathered.take(placed)
    gathered.settle(said, events)
    retired = outlook.retired
    found: dict[ChunkKey, EvidenceOf] = {}
    for (_, key), judgments in gathered.fresh.items():
        if (question, corpus.chunks[key].text_hash) in retired.texts:
            continue
        evidence = evidence_in(judgments)
        if evidence.quotes:
            found[key] = evidence
    return found
