"""Judgments in force, held against the corpus: what each still speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.core.carrying import Landing, Quoted, land
from app.core.corpus import Corpus
from app.core.errors import Problem
from app.core.grades import PairLabel, Subject, effective, is_fresh, pair_label, text_judged
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
        if not self.texts and not self.keys:
            return False
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
    kept: set[Pair] = field(default_factory=set)
    carried: set[Pair] = field(default_factory=set)
    _quoted: list[tuple[Placed[Judgment], Landing]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Quotes are sought only where a text has changed."""
        self._quotes = Quoted(self.corpus)

    def take(self, placed: Placed[Judgment]) -> None:
        """Put one judgment where it belongs, or report why it belongs nowhere."""
        event, corpus = placed.event, self.corpus
        question = self.questions.get(event.question)
        if question is None:
            message = f"the question {shown(event.question)} is unknown"
            remedy = "Add it to questions.jsonl, or withdraw the label"
            self.problems.append(Problem(message, placed.place, remedy))
            return
        key = event.key
        chunk = corpus.chunks.get(key)
        fresh = is_fresh(event, question, self.guidelines)
        covered = self.retired.covers(event, corpus)
        # A retired label needs no chunk to speak of.
        self.met += chunk is not None or event.text_hash in corpus.by_hash or covered
        if event.no_text and chunk is None:
            if not covered and event.kind != "later":
                self.textless.add((event.question, key))
                # A JSON array, where others have a hash: labels without a text are never twins.
                self._depart(event, str(key), fresh=fresh)
        elif event.text_hash is None or (chunk and chunk.text_hash == event.text_hash):
            self._count(event, self._chunk_and_twins(placed, chunk, covered), fresh=fresh)
        else:
            landing = self._quotes.landing(event) if fresh and event.evidence else None
            if landing is not None and not self._is_retired(event, landing, covered):
                self.met += 1
                self._quoted.append((placed, landing))
            else:
                self._moved(event, chunk, covered, fresh=fresh)

    def _count(self, event: Judgment, keys: Iterable[ChunkKey], *, fresh: bool) -> None:
        # Who put a chunk off has said nothing of it, and nothing of theirs can become stale.
        for key in keys if event.kind != "later" else ():
            if fresh:
                self.fresh.setdefault((event.question, key), []).append(event)
            else:
                self.stale.add((event.question, key))

    def _depart(self, event: Judgment, about: str, *, fresh: bool) -> None:
        self.departed.setdefault((event.question, about), []).append((event, fresh))

    def _is_retired(self, event: Judgment, landing: Landing, covered: bool) -> bool:
        """Whether a judgment that would land elsewhere was retired before it could."""
        by_text = (event.question, event.text_hash) in self.retired.texts
        return covered if landing.carried else by_text

    def _moved(self, event: Judgment, chunk: Chunk | None, covered: bool, *, fresh: bool) -> None:
        """The text moved to another key, or its twin is still there: the label goes with it."""
        if event.kind == "later":
            return
        about = event.text_hash or ""
        targets = self.corpus.by_hash.get(about, ())
        text_retired = (event.question, about) in self.retired.texts
        if chunk is not None and chunk.eligible and not text_retired:
            self.stale.add((event.question, event.key))
        elif not targets and not covered:
            self._depart(event, about, fresh=fresh)
        self._count(event, targets, fresh=fresh)

    def settle(
        self, said: Mapping[Subject, Placed[Judgment]], judgments: Iterable[Placed[Judgment]]
    ) -> None:
        """Count what was quoted where its quotes stand now; to be called once, after all `take`.

        `said` are the last words of every subject, `judgments` the ledger in its order.
        """
        if not self._quoted:
            return
        corpus = self.corpus
        quoted = [(placed.event, landing) for placed, landing in self._quoted]
        landed, superseded = land(quoted, said, judgments)
        for event, landing in quoted:
            chunk = corpus.chunks.get(event.key)
            if event.event in superseded:
                self._moved(event, chunk, covered=False, fresh=True)
            elif landing.carried and chunk is not None and chunk.eligible:
                # Its evidence moved on: of the text its chunk has now it says nothing.
                self.stale.add((event.question, event.key))
            elif not landing.carried:
                self._count(event, corpus.by_hash.get(event.text_hash or "", ()), fresh=True)
        for one in landed:
            keys = corpus.by_hash[one.text]
            self._count(one.event, keys, fresh=True)
            moved = self.carried if one.carried else self.kept
            moved.update((one.event.question, key) for key in keys)

    def moves(self) -> list[str]:
        """A sentence on the labels that outlived a change of their text, where there are any."""
        found = []
        if self.kept:
            found.append(
                f"Labels that count although their text changed, for their evidence stands in it "
                f"unchanged: {len(self.kept)}, {min(self.kept)[1].short()} for one."
            )
        if self.carried:
            found.append(
                "Labels carried over from chunks that have left the corpus to chunks that hold "
                f"their evidence: {len(self.carried)}, {min(self.carried)[1].short()} for one."
            )
        return found

    def _chunk_and_twins(
        self, placed: Placed[Judgment], chunk: Chunk | None, covered: bool
    ) -> tuple[ChunkKey, ...]:
        if chunk is not None and chunk.eligible:
            return self.corpus.by_hash[chunk.text_hash]
        if chunk is None and covered:
            return ()
        name = placed.event.key.short()
        if chunk is None:
            remedy = "Correct the document, version and chunk ids, or remove the line"
            self.problems.append(Problem(f"the chunk {name} is unknown", placed.place, remedy))
            return ()
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
            pairs[pair] = pair_label("stale", None, 0, highest)
        for pair in self.carried & pairs.keys():
            label = pairs[pair]
            pairs[pair] = PairLabel(label.state, label.grade, label.low, label.high, carried=True)
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
        if not self.retired.texts and not self.retired.keys:
            return
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
