"""The `--json` outputs: contracts with a `format`, documented in the README."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.flows.comparing import Comparison
from app.flows.evaluating import Evaluation
from app.flows.listing import Listed
from app.flows.means import Mean
from app.flows.scored import GradedHit, QuestionScore, Scored
from app.flows.syncing import SyncReport

FORMAT = 1


def evaluations(found: Sequence[Evaluation]) -> dict[str, Any]:
    """The answer of `desk evaluate --json`."""
    return {"format": FORMAT, "executions": [_evaluation(one) for one in found]}


def _evaluation(one: Evaluation) -> dict[str, Any]:
    execution = one.execution
    return {
        "execution": execution.id,
        "collection": execution.collection,
        "configuration": execution.configuration,
        "status": execution.status,
        "reused": one.reused,
        "started": execution.started,
        "finished": execution.finished,
        "corpus_revision": execution.corpus_revision,
        "label_revision": one.label_revision,
        "scoring": one.scoring.as_json(),
        "embedder": execution.provenance.get("embedder"),
        "points": execution.points,
        "eligible": execution.eligible,
        "checks": execution.provenance.get("checks", {}),
        "notices": list(one.notices),
        **run(one.means, one.scored),
    }


def sync(one: SyncReport) -> dict[str, Any]:
    """The answer of `desk sync --json`."""
    return {
        "format": FORMAT,
        "collection": one.collection,
        "source": one.sync.collection,
        "host": one.sync.host,
        "synced": one.sync.synced,
        "points": one.sync.points,
        "catalogued": one.sync.catalogued,
        "eligible": one.eligible,
        "left_out": one.sync.left_out,
        "new": one.new,
        "changed": one.changed,
        "removed": one.removed,
        "notices": list(one.notices),
    }


def run(means: Sequence[Mean], scored: Scored) -> dict[str, Any]:
    """Means and outcomes, the unsupported questions apart."""
    return {
        "means": [mean(one) for one in means],
        "questions": [question_score(question) for question in scored.questions],
        "unsupported": [
            {
                "question": acceptance.question,
                "k": acceptance.k,
                "hits": acceptance.hits,
                "top_score": acceptance.top_score,
                "threshold": acceptance.threshold,
                "accepted": acceptance.accepted,
            }
            for acceptance in scored.unsupported
        ],
    }


def _ends(bounds: Mapping[str, tuple[float, float] | None]) -> dict[str, list[float] | None]:
    return {name: None if ends is None else list(ends) for name, ends in bounds.items()}


def mean(mean: Mean) -> dict[str, Any]:
    """One mean; what is kept by metric is nested."""
    return {
        "k": mean.k,
        "category": mean.category,
        "scored": mean.scored,
        "answerable": mean.answerable,
        "failed": mean.failed,
        **{kind.replace(" ", "_"): count for kind, count in mean.counts.items()},
        **mean.values,
        "judged": mean.judged,
        "provisional": mean.provisional,
        "bounds": _ends(mean.bounds),
        "known_bounds": _ends(mean.known_bounds),
        "unjudged_as_0": dict(mean.as_zero),
        "attainable": dict(mean.attainable),
    }


def question_score(question: QuestionScore) -> dict[str, Any]:
    """The outcome of one question at one K."""
    values = {name: question.values.get(name) for name in ("precision", "recall", "rr", "ndcg")}
    return {
        "question": question.question,
        "category": question.category,
        "k": question.k,
        "outcome": question.outcome,
        "reason": question.reason,
        **values,
        "hit": question.values.get("hit"),
        "judged": question.judged,
        "relevant": question.relevant,
        "provisional": question.provisional,
        "tied": question.tied,
        "bounds": _ends(question.bounds),
        "known_bounds": _ends(question.known_bounds),
        "unjudged_as_0": dict(question.as_zero),
        "ranking": [hit(graded) for graded in question.ranking],
    }


def hit(graded: GradedHit) -> dict[str, Any]:
    """One hit: rank from 1, chunk key, score, effective grade or null, and its state."""
    key = graded.hit.key
    return {
        "rank": graded.hit.rank,
        "chunk": [key.document, key.version, key.chunk],
        "score": graded.hit.score,
        "grade": graded.label.grade,
        "state": graded.label.state,
    }


def execution_list(found: Sequence[Listed]) -> dict[str, Any]:
    """The answer of `desk executions --json`, newest first."""
    return {
        "format": FORMAT,
        "executions": [
            {
                "execution": one.id,
                "collection": one.collection,
                "configuration": one.configuration,
                "status": one.status,
                "corpus_revision": one.corpus_revision,
                "points": one.points,
                "eligible": one.eligible,
                "started": one.started,
                "finished": one.finished,
                "user": one.provenance.get("user"),
                "git": one.provenance.get("git"),
                "means": [
                    {name: value for name, value in row.items() if name != "execution"}
                    for row in listed.means
                ],
            }
            for listed in found
            for one in (listed.execution,)
        ],
    }


def comparison(found: Comparison) -> dict[str, Any]:
    """The answer of `desk compare --json`; deltas are candidate - baseline."""
    return {
        "format": FORMAT,
        "baseline": found.baseline.execution.id,
        "candidate": found.candidate.execution.id,
        "collection": found.baseline.execution.collection,
        "label_revision": found.baseline.label_revision,
        "scoring": found.baseline.scoring.as_json(),
        "differs": [
            {"field": name, "baseline": before, "candidate": after}
            for name, before, after in found.differs
        ],
        "only_in_baseline": list(found.only_baseline),
        "only_in_candidate": list(found.only_candidate),
        "means": [
            {
                "k": delta.k,
                "category": delta.category,
                "metric": delta.metric,
                "n": delta.n,
                "baseline": delta.baseline,
                "candidate": delta.candidate,
                "delta": delta.delta,
                "wins": delta.wins,
                "losses": delta.losses,
                "ties": delta.ties,
                "undecided": delta.undecided,
            }
            for delta in found.deltas
        ],
        "questions": [
            {
                "question": case.question,
                "category": case.category,
                "k": case.k,
                "baseline_outcome": case.baseline.outcome,
                "candidate_outcome": case.candidate.outcome,
                "deltas": dict(case.deltas),
            }
            for case in found.cases
        ],
    }
