"""The scores of one inspected question with their arithmetic in words, for page and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.facts import EvidenceOf, FactRecall, fact_recall
from app.core.metrics import discounts
from app.core.model import ChunkKey
from app.core.questions import Question
from app.flows.inspecting import Inspection
from app.flows.scored import QuestionScore
from app.flows.wording import METRIC_WORDS, count, number, with_bounds


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A metric at K with its value, or its range, and how that came about. `value` may be None."""

    name: str
    metric: str
    value: float | None
    shown: str
    how: str


def facts_of(
    found: Inspection,
    question: Question,
    marks: Mapping[ChunkKey, EvidenceOf],
    k: int,
    relevant: int,
) -> FactRecall | None:
    """Fact recall@K; None where no facts were recorded. Relevant is a grade of at least that."""
    supports = {key: one.facts for key, one in marks.items()}
    hits = [(one.hit.key, one.label) for one in found.kept]
    return fact_recall([fact.id for fact in question.facts], hits, supports, k, relevant)


def score_rows(found: Inspection, facts: FactRecall | None, threshold: int) -> list[ScoreRow]:
    """Every metric at K of a scored question; no row of one that has no score."""
    score = found.score
    if score is None or score.outcome != "scored":
        return []
    rows = [
        ScoreRow(
            f"{METRIC_WORDS[name]}@{score.k}",
            name,
            value,
            with_bounds(value, score.known_bounds.get(name)),
            arithmetic(name, score, threshold),
        )
        for name, value in score.values.items()
    ]
    hits = len(score.ranking)
    settled = sum(one.label.settled for one in score.ranking)
    judged = f"{settled} of {count(hits, 'hit')} with a settled grade" if hits else "no hits"
    rows.append(ScoreRow(f"Judged@{score.k}", "judged", score.judged, number(score.judged), judged))
    if facts is not None:
        rows.append(_facts(facts))
    return rows


def _facts(found: FactRecall) -> ScoreRow:
    every = len(found.supported) + len(found.missing)
    how = f"{len(found.supported)} of {count(every, 'fact')} supported in the first {found.k}"
    if found.missing:
        how += f"; missing: {', '.join(found.missing)}"
    shown = with_bounds(found.value, (found.lower, found.upper))
    return ScoreRow(f"Fact recall@{found.k}", "facts", found.value, shown, how)


def arithmetic(metric: str, score: QuestionScore, threshold: int) -> str:
    """How a metric's value came about, open pairs as grade 0."""
    k, r = score.k, score.relevant or 0
    relevant = score.relevant_hits(threshold)
    found = len(relevant)
    if metric == "precision":
        words = f"{found} of {k} in the first {k}; {r} relevant in all"
        return words + ("" if score.provisional else f"; at most {min(r, k) / k:.3f} attainable")
    if metric == "recall":
        words = f"{found} of {r} relevant in the first {k}"
        return words + ("" if score.provisional else f"; at most {min(r, k) / r:.3f} attainable")
    if metric == "rr":
        first = relevant[0].hit.rank if relevant else 0
        return f"first relevant at rank {first}: 1 / {first}" if first else "none relevant"
    if metric == "ndcg":
        return _gains(score)
    return "a relevant one is there" if relevant else "no relevant one is there"


def _gains(score: QuestionScore) -> str:
    """DCG of the ranking over that of the best order."""
    weights = discounts(score.k)
    gained = sum(
        (2 ** (g.label.grade or 0) - 1) * float(weights[i]) for i, g in enumerate(score.ranking)
    )
    share = score.as_zero["ndcg"]
    ideal = f" / {gained / share:.2f} of the best order" if share else ""
    return f"DCG {gained:.2f}{ideal}"
