"""Scores, executions and comparisons as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.engines.executions import Execution
from app.flows.comparing import Comparison
from app.flows.evaluating import Evaluation
from app.flows.means import MEAN_NAMES, Mean
from app.flows.scoring import QuestionScore

METRIC_WORDS: Mapping[str, str] = {
    "precision": "Precision",
    "recall": "Recall",
    "mrr": "MRR",
    "rr": "RR",
    "ndcg": "nDCG",
    "hit": "Hit",
    "judged": "Judged",
}

LEGEND = """\
How to read it (each value is a mean over the answerable questions, from 0 to 1)
  Precision@K  relevant chunks among the first K, divided by K; "of" is the most attainable
  Recall@K     relevant chunks among the first K, divided by all relevant chunks of the question
  MRR@K        1 / rank of the first relevant chunk, 0 if none is among the first K
  nDCG@K       graded gain by rank against the best order of all judged chunks
  Hit@K        share of questions with a relevant chunk among the first K
  Judged@K     share of the hits that somebody has judged; below 1, judge first
Unsupported questions have no answer in the corpus. They are in none of these means."""


def count(n: int, noun: str) -> str:
    """A number with its noun: 1 chunk, 2 chunks."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def number(value: float | None) -> str:
    """Three decimals; `-` for a value that does not exist."""
    return "-" if value is None else f"{value:.3f}"


def with_bounds(value: float | None, bounds: tuple[float, float] | None) -> str:
    """The value, or its bounds while open pairs leave it provisional."""
    if value is None and bounds is not None:
        return f"{bounds[0]:.2f}-{bounds[1]:.2f} provisional"
    return number(value)


def signed(value: float | None) -> str:
    """A delta with its sign; `-` for one that does not exist."""
    return "-" if value is None else f"{value:+.3f}"


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


def _scored_of(mean: Mean) -> str:
    return f"{mean.scored} of {mean.answerable}"


def _mean_row(name: str, mean: Mean) -> list[str]:
    cells = [name, str(mean.k), _scored_of(mean)]
    for metric in MEAN_NAMES.values():
        cell = with_bounds(mean.values[metric], mean.known_bounds[metric])
        if (most := mean.attainable.get(metric)) is not None and mean.values[metric] is not None:
            cell += f" of {number(most)}"
        cells.append(cell)
    return [*cells, number(mean.judged)]


def _as_zero(found: Sequence[Evaluation]) -> str:
    """The provisional means with open pairs as grade 0, under that name."""
    rows = [
        [one.execution.configuration, str(mean.k),
         *(number(mean.as_zero[metric]) for metric in MEAN_NAMES.values())]
        for one in found
        for mean in one.means
        if mean.category is None and mean.provisional
    ]  # fmt: skip
    if not rows:
        return ""
    header = ["unjudged as 0", "K", *(METRIC_WORDS[name] for name in MEAN_NAMES.values())]
    return (
        "Provisional: chunks that nobody judged may still change these values. If your labels\n"
        "already list everything relevant, say so: completeness in collection.toml.\n\n"
        + table(header, rows, frozenset(range(1, len(header))))
    )


def score_tables(found: Sequence[Evaluation], primary: str) -> str:
    """The answer of `desk evaluate`: means, categories, low cases and unsupported questions."""
    first = found[0]
    execution, overall = first.execution, first.means[0]
    relevant = sum(
        q.relevant or 0 for q in first.scored.questions if q.k == first.scoring.cutoffs[0]
    )
    kinds = ", ".join(f"{n} {kind}" for kind, n in overall.counts.items() if n)
    parts = [
        f"{execution.collection}: {count(execution.points, 'point')} in the index, "
        f"{execution.eligible} eligible; {count(overall.answerable, 'answerable question')} with "
        f"{count(relevant, 'relevant pair')}" + (f"; {kinds}" if kinds else "")
    ]
    metrics = [METRIC_WORDS[name] for name in MEAN_NAMES.values()]
    header = ["configuration", "K", "scored", *metrics, "Judged"]
    rows = [
        _mean_row(one.execution.configuration, mean)
        for one in found
        for mean in one.means
        if mean.category is None
    ]
    parts.append(table(header, rows, frozenset(range(1, len(header)))))
    parts.append(_as_zero(found))
    parts += [_details(one, primary) for one in found]
    parts.append(_unsupported(found))
    parts.append(LEGEND)
    return "\n\n".join(part for part in parts if part)


def _details(one: Evaluation, primary: str) -> str:
    """Categories and the lowest cases of one execution at the primary metric."""
    metric, _, cutoff = primary.partition("@")
    k = int(cutoff) if int(cutoff) in one.scoring.cutoffs else one.scoring.cutoffs[-1]
    name = f"{METRIC_WORDS[metric]}@{k}"
    execution = one.execution
    lines = [
        f"{execution.configuration}: execution {execution.id}, {execution.status}"
        + (" (made earlier; nothing that decides it has changed)" if one.reused else "")
    ]
    failures = [q for q in one.scored.questions if q.k == k and q.outcome == "failed"]
    if execution.status == "incomplete":
        lines.append(f"  {count(len(failures), 'question')} failed, so there are no means:")
        lines += [f"    {q.question}: {q.reason}" for q in failures[:10]]
        return "\n".join(lines)
    categories = [m for m in one.means if m.k == k and m.category is not None and m.answerable]
    if not categories:
        lines.append("  no question is answerable yet: grade chunks on the page Label")
        return "\n".join(lines)
    lines.append(
        f"  {name} by category: "
        + ", ".join(
            f"{m.category} {with_bounds(m.values[metric], m.known_bounds[metric])} (n {m.scored})"
            for m in categories
        )
    )
    low = sorted(_below_one(one, metric, k), key=lambda pair: pair[0])
    if low:
        lines.append(f"  lowest {name}:")
        lines += [f"    {number(value)}  {_case(q, one.scoring.threshold)}" for value, q in low[:5]]
    return "\n".join(lines)


def _below_one(one: Evaluation, metric: str, k: int) -> list[tuple[float, QuestionScore]]:
    name = {mean: metric for metric, mean in MEAN_NAMES.items()}[metric]
    return [
        (value, q)
        for q in one.scored.questions
        if q.k == k and q.outcome == "scored" and (value := q.as_zero[name]) < 1
    ]


def _case(question: QuestionScore, threshold: int) -> str:
    """What came first, and how much of the evidence is there."""
    relevant = [g for g in question.ranking if (g.label.grade or 0) >= threshold]
    first = question.ranking[0] if question.ranking else None
    came = (
        f"first came {first.hit.key.short()} "
        f"({'grade ' + str(first.label.grade) if first.label.grade is not None else 'unjudged'})"
        if first
        else "nothing came back"
    )
    return f"{question.question}: {came}; {len(relevant)} of {question.relevant} relevant found"


def _unsupported(found: Sequence[Evaluation]) -> str:
    """Unsupported questions at the largest K, apart from every mean."""
    rows = []
    for one in found:
        k = one.scoring.cutoffs[-1]
        for a in one.scored.unsupported:
            if a.k == k:
                verdict = (
                    "no threshold set"
                    if a.accepted is None
                    else f"{'accepted' if a.accepted else 'rejected'} at {a.threshold:g}"
                )
                rows.append(
                    [
                        a.question,
                        one.execution.configuration,
                        str(a.hits),
                        number(a.top_score),
                        verdict,
                    ]
                )
    if not rows:
        return ""
    header = [
        "unsupported",
        "configuration",
        f"hits@{found[0].scoring.cutoffs[-1]}",
        "top score",
        "",
    ]
    return table(header, rows, frozenset({2, 3}))


def execution_table(
    found: Sequence[Execution], means: Mapping[str, Sequence[Mapping[str, Any]]]
) -> str:
    """The answer of `desk executions`, newest first."""
    rows = []
    for one in found:
        last = next(iter(reversed(means.get(one.id, []))), None)
        score = (
            "-" if last is None else f"nDCG@{last['k']} {number(last['ndcg'])}, n {last['scored']}"
        )
        rows.append(
            [one.id, one.collection, one.configuration, one.status, one.finished[:19] + "Z",
             str(one.eligible), score, str(one.provenance.get("user", "-"))]
        )  # fmt: skip
    header = ["execution", "collection", "configuration", "status", "finished", "eligible",
              "last scored", "who"]  # fmt: skip
    return table(header, rows, frozenset({5}))


def comparison_text(found: Comparison, primary: str) -> str:
    """The answer of `desk compare`: contract, means with deltas, cases that lost."""
    before, after = found.baseline.execution, found.candidate.execution
    parts = [
        f"{before.collection}: {before.id} ({before.configuration}) against "
        f"{after.id} ({after.configuration}), delta = candidate - baseline"
    ]
    parts.append(
        "Set differently: "
        + ("; ".join(f"{n}: {a} -> {b}" for n, a, b in found.differs) or "nothing")
    )
    rows = [
        [f"{METRIC_WORDS[d.metric]}@{d.k}", str(d.n), number(d.baseline), number(d.candidate),
         signed(d.delta), str(d.wins), str(d.losses), str(d.ties), str(d.undecided or "")]
        for d in found.deltas
        if d.category is None
    ]  # fmt: skip
    header = ["metric", "n", "baseline", "candidate", "delta", "better", "worse", "same", "open"]
    parts.append(table(header, rows, frozenset(range(1, 9))))
    metric, _, cutoff = primary.partition("@")
    k = int(cutoff)
    name = f"{METRIC_WORDS[metric]}@{k}"
    lost = sorted(
        ((d, c) for c in found.cases if c.k == k and (d := c.deltas[metric]) is not None and d < 0),
        key=lambda pair: pair[0],
    )
    if lost:
        lines = [f"Worse at {name}:"]
        lines += [f"  {signed(delta)}  {case.question} ({case.category})" for delta, case in lost]
        parts.append("\n".join(lines))
    for side, only in (("baseline", found.only_baseline), ("candidate", found.only_candidate)):
        if only:
            parts.append(f"Only in the {side}: {', '.join(only)}")
    return "\n\n".join(parts)
