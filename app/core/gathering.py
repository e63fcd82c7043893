"""Judgments in force, held against the corpus: what each still speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.corpus import Corpus
from app.core.errors import Problem
from app.core.grades import PairLabel, effective
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.model import Chunk, ChunkKey, ScoringSettings
from app.core.questions import Question
from app.core.text import shown

Pair = tuple[str, ChunkKey]


@dataclass
class Gathered:
    """Judgments in force, sorted by what they still speak of."""

    questions: Mapping[str, Question]
    corpus: Corpus
    retired: set[Pair]
    guidelines: str | None
    fresh: dict[Pair, list[Judgment]] = field(default_factory=dict)
    stale: set[Pair] = field(default_factory=set)
    departed: dict[Pair, list[Judgment]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    met: int = 0

    def take(self, placed: Placed[Judgment]) -> None:
        """Put one judgment where it belongs, or report why it belongs nowhere."""
        event, corpus = placed.event, self.corpus
        question = self.questions.get(event.question)
        if question is None:
            message = f"the question {shown(event.question)} is unknown"
            remedy = "Add it to questions.jsonl, or withdraw the label"
            self.problems.append(Problem(message, placed.place, remedy))
            return
        chunk = corpus.chunks.get(event.key)
        eligible = chunk is not None and chunk.eligible
        is_fresh = event.question_hash in (None, question.hash) and (
            self.guidelines is None or event.guidelines == self.guidelines
        )
        pair = (event.question, event.key)
        # A retired label needs no chunk to speak of.
        self.met += chunk is not None or event.text_hash in corpus.by_hash or pair in self.retired
        targets: tuple[ChunkKey, ...]
        if event.text_hash is None or (chunk and chunk.text_hash == event.text_hash):
            targets = self._chunk_and_twins(placed, chunk)
        else:
            # The text moved to another key, or its twin is still there: the label goes with it.
            targets = corpus.by_hash.get(event.text_hash, ())
            if eligible:
                self.stale.add(pair)
            elif not targets and event.kind != "later":
                gone = self.departed.setdefault(pair, [])
                gone.extend([event] if is_fresh else [])
        for key in targets:
            if is_fresh:
                self.fresh.setdefault((event.question, key), []).append(event)
            else:
                self.stale.add((event.question, key))

    def _chunk_and_twins(
        self, placed: Placed[Judgment], chunk: Chunk | None
    ) -> tuple[ChunkKey, ...]:
        name, pair = placed.event.key.short(), (placed.event.question, placed.event.key)
        if chunk is None and pair in self.retired:
            return ()
        if chunk is None:
            remedy = "Correct the document, version and chunk ids, or remove the line"
            self.problems.append(Problem(f"the chunk {name} is unknown", placed.place, remedy))
            return ()
        if chunk.eligible:
            return self.corpus.by_hash[chunk.text_hash]
        if placed.event.kind == "grade" and pair not in self.retired:
            message = f"the chunk {name} is labeled but not eligible"
            remedy = "Correct the filter in collection.toml, or withdraw or retire the label"
            self.problems.append(Problem(message, placed.place, remedy))
        return ()

    def labels(self, scoring: ScoringSettings) -> dict[Pair, PairLabel]:
        """One label per pair somebody listed."""
        threshold, highest = scoring.threshold, scoring.highest
        pairs = {pair: effective(seen, threshold, highest) for pair, seen in self.fresh.items()}
        for pair in self.stale:
            if pair not in pairs or pairs[pair].state == "unjudged":
                pairs[pair] = PairLabel("stale", None, 0, highest)
        for pair, seen in self.departed.items():
            label = effective(seen, threshold, highest)
            state = label.state if seen else "stale"
            pairs[pair] = PairLabel(state, label.grade, label.low, label.high, departed=True)
        for pair in self.retired & pairs.keys():
            if pairs[pair].departed:
                del pairs[pair]
            else:
                pairs[pair] = PairLabel("retired", 0, 0, 0)
        return pairs
