"""The labels of a collection: the ledger's judgments resolved against questions and corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from app.core.corpus import Corpus
from app.core.errors import ForeignLabels, InvalidInput, Problem
from app.core.gathering import Gathered, Pair, Retired
from app.core.grades import PairLabel, in_force, last_words, pair_label
from app.core.judgments import Judgment, Retirement
from app.core.ledger import Placed
from app.core.model import ChunkKey, ScoringSettings
from app.core.questions import Question
from app.core.text import digest, shown

Kind = Literal["answerable", "no evidence yet", "undecided", "unsupported"]


@dataclass(frozen=True)
class Labels:
    """The labels of a collection, resolved against one corpus revision."""

    questions: Mapping[str, Question]
    pairs: Mapping[Pair, PairLabel]
    kinds: Mapping[str, Kind]
    scoring: ScoringSettings
    corpus_revision: str
    covered: frozenset[str]
    complete_hashes: frozenset[str]
    notices: tuple[str, ...]
    conflicts: tuple[Problem, ...]
    judgments: int

    def label(self, question: str, key: ChunkKey, text_hash: str) -> PairLabel:
        """The label of any pair: listed, implicit by completeness, or unjudged."""
        if listed := self.pairs.get((question, key)):
            return listed
        if question in self.covered and text_hash in self.complete_hashes:
            return pair_label("implicit", 0, 0, 0)
        return pair_label("unjudged", None, 0, self.scoring.highest)

    def noticing(self, notices: tuple[str, ...]) -> Labels:
        """The same labels with more to tell."""
        return replace(self, notices=(*notices, *self.notices))

    def within(self, corpus: Corpus) -> Labels:
        """The same labels under another filter: pairs whose chunk it keeps out are not there."""
        pairs = {
            pair: label
            for pair, label in self.pairs.items()
            if pair[1] in corpus.eligible or pair[1] not in corpus.chunks
        }
        kinds = _kinds(self.questions, pairs, self.covered, self.scoring)
        return replace(self, pairs=pairs, kinds=kinds, corpus_revision=corpus.revision)

    @cached_property
    def by_question(self) -> Mapping[str, Mapping[ChunkKey, PairLabel]]:
        """Listed pairs by question."""
        found: dict[str, dict[ChunkKey, PairLabel]] = {name: {} for name in self.questions}
        for (question, key), label in self.pairs.items():
            found[question][key] = label
        return found

    def relevant(self, question: str) -> tuple[ChunkKey, ...]:
        """Keys with an effective grade at or above the threshold, departed ones included."""
        threshold = self.scoring.threshold
        return tuple(
            key
            for key, label in self.by_question[question].items()
            if label.grade is not None and label.grade >= threshold
        )

    @cached_property
    def revision(self) -> str:
        """Content hash of grades, question kinds, texts and splits for the corpus revision."""
        return digest(
            {
                "corpus": self.corpus_revision,
                "pairs": sorted(
                    [
                        q,
                        k.document,
                        k.version,
                        k.chunk,
                        p.state,
                        p.grade,
                        p.low,
                        p.high,
                    ]
                    for (q, k), p in self.pairs.items()
                ),
                "questions": sorted(
                    [q.id, q.hash, q.category, q.split, sorted(q.tags), self.kinds[q.id]]
                    for q in self.questions.values()
                ),
                "complete": sorted(self.complete_hashes) if self.covered else [],
                "covered": sorted(self.covered),
            }
        )


def resolve(
    judgments: Sequence[Placed[Judgment]],
    retirements: Sequence[Placed[Retirement]],
    questions: Mapping[str, Question],
    corpus: Corpus,
    scoring: ScoringSettings,
    complete_hashes: frozenset[str] | None,
    guidelines: str | None = None,
    retired: frozenset[str] = frozenset(),
) -> Labels:
    """Resolve the ledger against a corpus.

    `complete_hashes` are the text hashes of the eligible chunks of the revision the labels are
    complete for; None where that revision is not known here. `guidelines` is the version labels
    must have been given under, or None where a change of guidelines does not matter. Labels of
    questions that are `retired` are passed over.

    Raises InvalidInput with every label on an unknown question, an unknown or an ineligible
    chunk, and where no label meets the corpus at all.
    """
    notices: list[str] = []
    gathered = Gathered(questions, corpus, Retired.of(retirements), guidelines)
    said = last_words(judgments, corpus)
    counted = [one for one in in_force(said) if one.event.question not in retired]
    for placed in counted:
        gathered.take(placed)
    gathered.settle(said, judgments)
    problems, met = gathered.problems, gathered.met
    if problems:
        raise InvalidInput.of(problems)
    if counted and not met:
        first = counted[0]
        raise ForeignLabels(
            f"not one of the {len(counted)} labels names a chunk of this corpus, "
            f"{first.event.key.short()} for one",
            place=first.place,
            remedy="Check the chunking rule and the ids: labels and corpus must share them",
        )
    pairs = gathered.labels(scoring)
    notices += gathered.notices
    # Completeness speaks of questions somebody has judged as they now read, not of new ones.
    complete = scoring.completeness == "complete"
    covered = frozenset(
        question
        for (question, _), label in pairs.items()
        if complete and label.grade is not None and label.state != "retired"
    )
    if complete_hashes is None and complete:
        notices.append(
            "The labels are complete for another corpus revision whose chunks are not known here; "
            "chunks without a label count as unjudged."
        )
    notices += gathered.moves()
    departed = [pair for pair, label in pairs.items() if label.departed]
    if gone := [pair for pair in departed if pair not in gathered.textless]:
        notices.append(
            f"Labeled pairs whose chunk has left the corpus: {len(gone)}, {gone[0][1].short()} for "
            "one. Relevant ones stay misses until they are retired."
        )
    if textless := [pair for pair in departed if pair in gathered.textless]:
        notices.append(
            f"Labeled pairs whose chunk has no text here: {len(textless)}, "
            f"{textless[0][1].short()} for one. Only an imported run can return it."
        )
    return Labels(
        questions=questions,
        pairs=pairs,
        kinds=_kinds(questions, pairs, covered, scoring),
        scoring=scoring,
        corpus_revision=corpus.revision,
        covered=covered,
        complete_hashes=complete_hashes or frozenset(),
        notices=tuple(notices),
        conflicts=tuple(_conflicts(questions, pairs, scoring, corpus)),
        judgments=len(counted),
    )


def _kinds(
    questions: Mapping[str, Question],
    pairs: Mapping[Pair, PairLabel],
    covered: frozenset[str],
    scoring: ScoringSettings,
) -> dict[str, Kind]:
    relevant: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    for (asked, _), label in pairs.items():
        if label.grade is not None and label.state != "retired":
            judged[asked] += 1
            relevant[asked] += label.grade >= scoring.threshold
    kinds: dict[str, Kind] = {}
    for name, question in questions.items():
        if question.unsupported_as_of is not None:
            kinds[name] = "unsupported"
        elif relevant[name]:
            kinds[name] = "answerable"
        else:
            kinds[name] = "no evidence yet" if judged[name] or name in covered else "undecided"
    return kinds


def _conflicts(
    questions: Mapping[str, Question],
    pairs: Mapping[Pair, PairLabel],
    scoring: ScoringSettings,
    corpus: Corpus,
) -> list[Problem]:
    """Relevant labels on unsupported questions, and unsupported reviews of another corpus."""
    found: list[Problem] = []
    unsupported = any(one.unsupported_as_of is not None for one in questions.values())
    for (name, key), label in pairs.items() if unsupported else ():
        if (
            questions[name].unsupported_as_of is not None
            and label.grade is not None
            and label.grade >= scoring.threshold
        ):
            found.append(
                Problem(
                    f"the question {shown(name)} is marked unsupported, but {key.short()} has "
                    f"grade {label.grade}",
                    remedy="Withdraw the label, or remove unsupported_as_of from the question",
                )
            )
    for name, question in questions.items():
        if question.unsupported_as_of not in (None, corpus.revision):
            found.append(
                Problem(
                    f"the question {shown(name)} was found unsupported in another corpus revision",
                    remedy="Search the corpus again, then set unsupported_as_of to "
                    f'"{corpus.revision}"',
                )
            )
    return found
