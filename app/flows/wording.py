"""Numbers in words, for the terminal, pages and reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.flows.scored import Acceptance, QuestionScore

METRIC_WORDS: Mapping[str, str] = {
    "precision": "Precision",
    "recall": "Recall",
    "mrr": "MRR",
    "rr": "RR",
    "ndcg": "nDCG",
    "hit": "Hit",
    "judged": "Judged",
}


def count(n: int, noun: str) -> str:
    """A number with its noun: 1 chunk, 2 chunks."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def number(value: float | None) -> str:
    """Three decimals; `-` for a value that does not exist."""
    return "-" if value is None else f"{value:.3f}"


def signed(value: float | None) -> str:
    """A delta with its sign; `-` for one that does not exist."""
    return "-" if value is None else f"{value:+.3f}"


def value_or_range(value: float | None, bounds: tuple[float, float] | None) -> str:
    """The value, or the range of a provisional one: `0.44-1.00`."""
    if value is None and bounds is not None:
        # Two digits are enough, unless both ends would read the same.
        digits = 2 if f"{bounds[0]:.2f}" != f"{bounds[1]:.2f}" else 3
        return f"{bounds[0]:.{digits}f}-{bounds[1]:.{digits}f}"
    return number(value)


def with_bounds(value: float | None, bounds: tuple[float, float] | None) -> str:
    """The value, or its range named as what it is: `0.44-1.00 provisional`."""
    words = value_or_range(value, bounds)
    return words if value is not None or bounds is None else f"{words} provisional"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> str:
    """Columns aligned under their heads; those in `right` to the right."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]
    lines = [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (header, *rows)
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def outcome_words(score: QuestionScore) -> str:
    """Why a question has no score at K."""
    reasons = {
        "no evidence yet": "Not applicable: chunks were judged, but none is relevant yet.",
        "undecided": "Not applicable: no chunk of this question has been judged.",
        "only disputed or stale evidence": "Not applicable: all its evidence is disputed or stale. "
        "Reviewers must agree, or judge again, before it can be scored.",
    }
    if score.outcome == "failed":
        return "Failed: there is no score."
    return reasons.get(score.reason or "", f"Not applicable: {score.reason}.")


def acceptance_words(found: Acceptance, *, fused: bool = False) -> str:
    """What an unsupported question got back; it has no retrieval metrics. `fused`: its scores are
    functions of ranks.
    """
    top = "no hit" if found.top_score is None else f"top score {found.top_score:.3f}"
    if fused:
        verdict = "acceptance cannot be judged on RRF scores, which are functions of rank"
    elif found.accepted is None:
        verdict = "no threshold is set, so every hit would be accepted"
    else:
        verdict = f"{'accepted' if found.accepted else 'rejected'} at threshold {found.threshold:g}"
    return (
        f"Unsupported: the corpus holds no answer. {count(found.hits, 'hit')} within K, {top}; "
        f"{verdict}. It is in no mean."
    )
