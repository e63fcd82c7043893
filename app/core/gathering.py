"""Judgments in force, held against the corpus: what each still speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.core.corpus import Corpus
from app.core.errors import Problem
from app.core.grades import PairLabel, effective, is_fresh, text_judged
from app.core.judgments import Judgment, Retirement
from app.core.ledger import Placed
from app.core.model import Chunk, ChunkKey, ScoringSettings
from app.core.questions import Question
from app.core.text import shown

Pair = tuple[str, ChunkKey]


@dataclass(frozen=True)
class Retired:
    """What was retired, by the text it spoke of, and by id where no text was named."""

    texts: frozenset[tuple[str, str]]
    keys: Mapping[Pair, str]

    @classmethod
    def of(cls, retirements: Iterable[Placed[Retirement]]) -> Retired:
        """From the events; a key's value is the place of its event."""
        events = list(retirements)
        return cls(
            frozenset((p.event.question, p.event.text_hash) for p in events if p.event.text_hash),
            {(p.event.question, p.event.key): p.place for p in events if not p.event.text_hash},
        )

    def covers(self, event: Judgment, corpus: Corpus) -> bool:
        """Whether a judgment was retired, by its text or by the id of a chunk not to be found."""
        about = text_judged(event, corpus)
        return (event.question, event.key) in self.keys or (event.question, about) in self.texts


@dataclass
class Gathered:
    """Judgments in force, sorted by what they still speak of."""

    questions: Mapping[str, Question]
    corpus: Corpus
    retired: Retired
    guidelines: str | None
    fresh: dict[Pair, list[Judgment]] = field(default_factory=dict)
    stale: set[Pair] = field(default_factory=set)
    departed: dict[tuple[str, str], list[tuple[Judgment, bool]]] = field(default_factory=dict)
    textless: set[Pair] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
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
        fresh = is_fresh(event, question, self.guidelines)
        covered = self.retired.covers(event, corpus)
        # A retired label needs no chunk to speak of.
        self.met += chunk is not None or event.text_hash in corpus.by_hash or covered
        targets: tuple[ChunkKey, ...]
        if event.no_text and chunk is None:
            targets = ()
            if not covered and event.kind != "later":
                self.textless.add((event.question, event.key))
                # A JSON array, where others have a hash: labels without a text are never twins.
                gone = self.departed.setdefault((event.question, str(event.key)), [])
                gone.append((event, fresh))
        elif event.text_hash is None or (chunk and chunk.text_hash == event.text_hash):
            targets = self._chunk_and_twins(placed, chunk, covered)
        else:
            # The text moved to another key, or its twin is still there: the label goes with it.
            targets = corpus.by_hash.get(event.text_hash, ())
            text_retired = (event.question, event.text_hash) in self.retired.texts
            if chunk is not None and chunk.eligible and not text_retired:
                self.stale.add((event.question, event.key))
            elif not targets and not covered and event.kind != "later":
                gone = self.departed.setdefault((event.question, event.text_hash), [])
                gone.append((event, fresh))
        for key in targets:
            if fresh:
                self.fresh.setdefault((event.question, key), []).append(event)
            else:
                self.stale.add((event.question, key))

    def _chunk_and_twins(
        self, placed: Placed[Judgment], chunk: Chunk | None, covered: bool
    ) -> tuple[ChunkKey, ...]:
        name = placed.event.key.short()
        if chunk is None and covered:
            return ()
        if chunk is None:
            remedy = "Correct the document, version and chunk ids, or remove the line"
            self.problems.append(Problem(f"the chunk {name} is unknown", placed.place, remedy))
            return ()
        if chunk.eligible:
            return self.corpus.by_hash[chunk.text_hash]
        if placed.event.kind == "grade" and not covered:
            message = f"the chunk {name} is labeled but not eligible"
            remedy = "Correct the filter in collection.toml, or withdraw or retire the label"
            self.problems.append(Problem(message, placed.place, remedy))
        return ()

    def labels(self, scoring: ScoringSettings) -> dict[Pair, PairLabel]:
        """One label per pair somebody listed; `later` alone lists nothing."""
        threshold, highest = scoring.threshold, scoring.highest
        pairs: dict[Pair, PairLabel] = {}
        for pair, seen in self.fresh.items():
            label = effective(seen, threshold, highest)
            if label.state != "unjudged":
                pairs[pair] = label
        for pair in self.stale - pairs.keys():
            pairs[pair] = PairLabel("stale", None, 0, highest)
        # One miss per text, wherever it was judged; texts that followed each other under one id are
        # one miss, too.
        missing: dict[Pair, list[tuple[Judgment, bool]]] = {}
        for (question, _), gone in self.departed.items():
            first = min(event.key for event, _ in gone)
            missing.setdefault((question, first), []).extend(gone)
        for pair, gone in missing.items():
            label = effective([event for event, fresh in gone if fresh], threshold, highest)
            state = label.state if any(fresh for _, fresh in gone) else "stale"
            pairs[pair] = PairLabel(state, label.grade, label.low, label.high, departed=True)
        self._retire(pairs)
        return pairs

    def _retire(self, pairs: dict[Pair, PairLabel]) -> None:
        for pair, label in pairs.items():
            question, key = pair
            chunk = self.corpus.chunks.get(key)
            if chunk is None or label.departed:
                continue
            by_id = pair in self.retired.keys
            by_text = (question, chunk.text_hash) in self.retired.texts
            if by_text or (by_id and label.state == "cannot-judge"):
                pairs[pair] = PairLabel("retired", 0, 0, 0)
            elif by_id:
                self.notices.append(
                    f"{self.retired.keys[pair]}: the retirement of {key.short()} is passed over, "
                    "for that chunk is still in the corpus. To retire its text, name its text_hash."
                )
