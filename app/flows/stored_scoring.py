"""Scores of stored executions: rankings and labels are joined in the store, then scored at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.core.errors import InvalidInput
from app.core.model import Ranking, ScoringSettings
from app.core.text import canonical
from app.engines import executions, judged, scores
from app.engines.executions import Execution
from app.engines.store import Row, Store
from app.flows.loading import Loaded
from app.flows.means import MEAN_NAMES
from app.flows.scored import Evidence, GradedHit, QuestionScore, Scored
from app.flows.scoring import acceptance, asked, graded_hits, numbers


def score_execution(
    store: Store, execution: Execution, loaded: Loaded, scoring: ScoringSettings
) -> Scored:
    """The outcomes of an execution under the labels as they are now."""
    depth = None if execution.cut_anywhere else max(scoring.cutoffs)
    evidence = _evidence(store, execution, loaded, depth)
    complete = loaded.labels.complete_hashes
    with scores.kept(store, execution, loaded.labels) as label_set:
        return score_stored(
            store, execution, label_set, scoring, complete, evidence, loaded.questions
        )


def score_stored(
    store: Store,
    execution: Execution,
    label_set: int,
    scoring: ScoringSettings,
    complete_hashes: frozenset[str] = frozenset(),
    evidence: Evidence = lambda question: (),
    order: Mapping[str, Any] | None = None,
) -> Scored:
    """The outcomes of an execution under a stored label set.

    `complete_hashes` are the text hashes that complete labels speak of. `evidence` gives the graded
    hits of a question to whoever asks for them. Outcomes come in the order of the keys of `order`.
    """
    found = judged.read(store, execution, label_set, scoring, complete_hashes, order)
    threshold = execution.threshold
    return Scored(
        asked=tuple(
            asked(
                row["question"],
                row["category"],
                row["split"],
                row["kind"],
                row["failure"],
                row["question"] in found.waiting,
            )
            for row in found.questions
        ),
        numbers={
            k: numbers(found.judged, found.raw, k, scoring, ties=not execution.ordered_by_rank)
            for k in scoring.cutoffs
        },
        unsupported=tuple(
            acceptance(row["question"], k, got["hits"], got["top_score"], threshold)
            for row in found.questions
            if (got := found.acceptance.get(row["question"])) is not None
            for k in scoring.cutoffs
        ),
        evidence=evidence,
    )


def _evidence(store: Store, execution: Execution, loaded: Loaded, depth: int | None) -> Evidence:
    """The graded hits of every question, read once, when the first is asked for."""
    hashes = loaded.corpus.text_hashes
    read: dict[str, Ranking] = {}

    def of(question: str) -> tuple[GradedHit, ...]:
        if not read:
            rankings, _ = executions.rankings(store, execution, depth)
            read.update((ranking.question, ranking) for ranking in rankings)
        if question not in read:
            raise InvalidInput(
                f"the execution {execution.id} is gone",
                remedy="See which there are: desk executions",
            )
        return graded_hits(read[question], loaded.labels, hashes, execution.threshold)

    return of


def score_row(question: QuestionScore) -> Row:
    """A score as the store keeps it."""
    return {
        "question": question.question,
        "k": question.k,
        "outcome": question.outcome,
        "reason": question.reason,
        "relevant": question.relevant,
        "provisional": question.provisional,
        **{name: question.values.get(name) for name in MEAN_NAMES},
        "judged": question.judged,
        "bounds": canonical(
            {
                "bounds": {n: list(ends) for n, ends in question.bounds.items()},
                "known_bounds": {n: list(ends) for n, ends in question.known_bounds.items()},
                "unjudged_as_0": dict(question.as_zero),
            }
        ),
    }
