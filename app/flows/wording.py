"""Numbers in words, for pages and reports."""

from __future__ import annotations

from app.flows.scoring import Acceptance, QuestionScore


def arithmetic(metric: str, score: QuestionScore, threshold: int) -> str:
    """How a metric's value came about, open pairs as grade 0."""
    k, r = score.k, score.relevant or 0
    relevant = [g for g in score.ranking if (g.label.grade or 0) >= threshold]
    found = len(relevant)
    if metric == "precision":
        return f"{found} relevant / {k}; at most {min(r, k)} / {k}"
    if metric == "recall":
        return f"{found} of {r} relevant; at most {min(r, k)} of {r}"
    if metric == "rr":
        return f"first relevant at rank {relevant[0].hit.rank}" if relevant else "none relevant"
    if metric == "ndcg":
        return "graded gain by rank / that of the best order"
    return "a relevant one is there" if relevant else "no relevant one is there"


def outcome_words(score: QuestionScore) -> str:
    """Why a question has no score at K."""
    reasons = {
        "no evidence yet": "Not applicable: chunks were judged, but none is relevant yet.",
        "undecided": "Not applicable: no chunk of this question has been judged.",
        "only disputed or stale evidence": "Not applicable: all its evidence is disputed or stale.",
    }
    if score.outcome == "failed":
        return "Failed: there is no score."
    return reasons.get(score.reason or "", f"Not applicable: {score.reason}.")


def acceptance_words(found: Acceptance) -> str:
    """What an unsupported question got back; it has no retrieval metrics."""
    top = "no hit" if found.top_score is None else f"top score {found.top_score:.3f}"
    if found.accepted is None:
        verdict = "no threshold is set, so every hit would be accepted"
    else:
        verdict = f"{'accepted' if found.accepted else 'rejected'} at threshold {found.threshold:g}"
    return (
        f"Unsupported: the corpus holds no answer. {found.hits} hits within K, {top}; {verdict}. "
        "It is in no mean."
    )
