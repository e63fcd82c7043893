"""The scores of a collection as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from app.flows.evaluating import Evaluation
from app.flows.means import MEAN_NAMES, METRIC_OF, Mean
from app.flows.scored import Acceptance, QuestionScore
from app.flows.wording import METRIC_WORDS, count, number, table, value_or_range, with_bounds
from app.settings import split_metric

#: Unsupported questions beyond this number are told in sum.
_MOST_LISTED = 10

LEGEND = """\
How to read it (each value is a mean over the scored questions, from 0 to 1; n is their number)
  Precision@K  relevant chunks among the first K, divided by K; "of" is the most attainable
  Recall@K     relevant chunks among the first K, divided by all relevant chunks of the question
  MRR@K        1 / rank of the first relevant chunk, 0 if none is among the first K
  nDCG@K       graded gain by rank against the best order of all judged chunks
  Hit@K        share of questions with a relevant chunk among the first K
  Judged@K     share of the hits with a settled grade; below 1, judge first
  0.44-1.00    provisional: unjudged, stale or disputed chunks could move it within this range
Answerable: a relevant chunk is known. No evidence yet: judged, none relevant so far. Undecided:
nothing judged. Unsupported: the corpus holds no answer. Only answerable questions are scored."""


def score_tables(found: Sequence[Evaluation], primary: str) -> str:
    """The answer of `desk evaluate`: means, categories, low cases and unsupported questions."""
    parts = [_head(found[0])]
    if any(one.means and one.means[0].answerable for one in found):
        named = [(one.execution.configuration, one.means) for one in found]
        parts += [mean_tables(named), _by_category(found, primary)]
        parts += [_details(one, primary) for one in found]
    else:
        name = found[0].execution.collection
        parts.append(
            "Nothing to score yet: no question has a relevant chunk with a settled grade. Grade "
            f"chunks on the page Label, then: desk evaluate {name}"
        )
        parts += [_failures(one) for one in found if one.execution.status == "incomplete"]
    parts.append(_unsupported(found))
    return "\n\n".join(part for part in parts if part)


def _head(first: Evaluation) -> str:
    execution, overall = first.execution, first.means[0]
    relevant = sum(
        q.relevant or 0 for q in first.scored.questions if q.k == first.scoring.cutoffs[0]
    )
    others = ", ".join(f"{n} {kind}" for kind, n in overall.counts.items() if n)
    asked = overall.answerable + sum(overall.counts.values())
    return (
        f"{execution.collection}: {count(execution.points, 'chunk')} in the index, "
        f"{execution.eligible} eligible; {count(asked, 'question')}: {overall.answerable} "
        "answerable"
        # A failed question has no score to count its relevant chunks from.
        + ("" if overall.failed else f" with {count(relevant, 'relevant pair')}")
        + (f", {others}" if others else "")
    )


def mean_tables(found: Sequence[tuple[str, Sequence[Mean]]]) -> str:
    """Means over all questions by name and K, and the provisional ones with open pairs as 0."""
    return "\n\n".join(part for part in (_means(found), _as_zero(found)) if part)


def _means(found: Sequence[tuple[str, Sequence[Mean]]]) -> str:
    metrics = [METRIC_WORDS[name] for name in MEAN_NAMES.values()]
    header = ["configuration", "K", "scored", *metrics, "Judged"]
    rows = [
        _mean_row(name, mean) for name, means in found for mean in means if mean.category is None
    ]
    return table(header, rows, frozenset(range(1, len(header))))


def _mean_row(name: str, mean: Mean) -> list[str]:
    cells = [name, str(mean.k), f"{mean.scored} of {mean.answerable}"]
    for metric in MEAN_NAMES.values():
        cell = value_or_range(mean.values[metric], mean.known_bounds[metric])
        if (most := mean.attainable.get(metric)) is not None and mean.values[metric] is not None:
            cell += f" of {number(most)}"
        cells.append(cell)
    return [*cells, number(mean.judged)]


def _as_zero(found: Sequence[tuple[str, Sequence[Mean]]]) -> str:
    """The provisional means with open pairs as grade 0, under that name."""
    rows = [
        [name, str(mean.k),
         *(number(mean.as_zero[metric]) for metric in MEAN_NAMES.values())]
        for name, means in found
        for mean in means
        if mean.category is None and mean.provisional
    ]  # fmt: skip
    if not rows:
        return ""
    header = ["unjudged as 0", "K", *(METRIC_WORDS[name] for name in MEAN_NAMES.values())]
    return (
        "Ranges are provisional: open chunks may still change these values. If your labels\n"
        "already list everything relevant, say so: completeness in collection.toml.\n\n"
        + table(header, rows, frozenset(range(1, len(header))))
    )


def _title(one: Evaluation) -> str:
    execution = one.execution
    again = " (made earlier; nothing that decides it has changed)"
    engine = execution.provenance.get("engine") or {}  # an imported run has none
    if {"vector", "sparse_vector"} & engine.keys():
        again = " (made earlier; the collection it searched may have changed since)"
    if execution.provenance["configuration"]["mode"] == "external":
        again = " (made earlier; the program it asked may have changed since)"
    again = again if one.reused else ""
    return f"{execution.configuration}: execution {execution.id}, {execution.status}{again}"


def _failures(one: Evaluation) -> str:
    """Why an incomplete execution has no means."""
    k = one.scoring.cutoffs[0]
    failures = [q for q in one.scored.questions if q.k == k and q.outcome == "failed"]
    if not failures:
        return f"{_title(one)}\n  a question of another split failed, so there are no means"
    lines = [_title(one), f"  {count(len(failures), 'question')} failed, so there are no means:"]
    reasons: dict[str, list[str]] = {}
    for question in failures:
        reasons.setdefault(str(question.reason), []).append(question.question)
    for reason, names in list(reasons.items())[:10]:
        more = f" and {len(names) - 1:,} more" if names[1:] else ""
        lines.append(f"    {names[0]}{more}: {reason}")
    if len(reasons) > 10:
        lines.append(f"    and {len(reasons) - 10:,} more reasons")
    if not one.execution.imported:
        lines.append(f"  To ask them again: desk evaluate {one.execution.collection} --resume")
    return "\n".join(lines)


def _primary(one: Evaluation, primary: str) -> tuple[str, int]:
    """The primary metric and its K, or the largest K where that was not asked for."""
    metric, k = split_metric(primary)
    return metric, k if k in one.scoring.cutoffs else one.scoring.cutoffs[-1]


def _by_category(found: Sequence[Evaluation], primary: str) -> str:
    """The primary metric's mean by category, where there are several; a column per execution."""
    whole = [one for one in found if one.execution.status != "incomplete"]
    if not whole:
        return ""
    metric, k = _primary(whole[0], primary)
    columns = [
        {m.category: m for m in one.means if m.k == k and m.category is not None and m.answerable}
        for one in whole
    ]
    if len(columns[0]) < 2:
        return ""
    rows = [
        [str(name), str(mean.scored)]
        + [value_or_range(c[name].values[metric], c[name].known_bounds[metric]) for c in columns]
        for name, mean in columns[0].items()
    ]
    header = [f"{METRIC_WORDS[metric]}@{k} by category", "n"]
    header += [one.execution.configuration for one in whole]
    return table(header, rows, frozenset(range(1, len(header))))


def _details(one: Evaluation, primary: str) -> str:
    """The lowest cases of one execution at the primary metric."""
    if one.execution.status == "incomplete":
        return _failures(one)
    metric, k = _primary(one, primary)
    lines = [_title(one)]
    question_metric = METRIC_OF[metric]
    scored = [q for q in one.scored.questions if q.k == k and q.outcome == "scored"]
    low = sorted(
        (q for q in scored if q.as_zero[question_metric] < 1),
        key=lambda q: q.as_zero[question_metric],
    )
    if low:
        lines.append(f"  lowest {METRIC_WORDS[metric]}@{k}:")
        lines += [f"    {_case(q, question_metric, one.scoring.threshold)}" for q in low[:5]]
    return "\n".join(lines)


def _case(question: QuestionScore, metric: str, threshold: int) -> str:
    """Its value, what came first, and how much of the evidence is there."""
    value = with_bounds(question.values[metric], question.known_bounds[metric])
    relevant = question.relevant_hits(threshold)
    first = question.ranking[0] if question.ranking else None
    came = "nothing came back"
    if first:
        grade = first.label.state if first.label.grade is None else f"grade {first.label.grade}"
        came = f"first came {first.hit.key.short()} ({grade})"
    found = f"{len(relevant)} of {question.relevant} relevant found"
    return f"{value}  {question.question}: {came}; {found}"


def _unsupported(found: Sequence[Evaluation]) -> str:
    """Unsupported questions at the largest K, apart from every mean; many of them in sum."""
    k = found[0].scoring.cutoffs[-1]
    if max(len([a for a in one.scored.unsupported if a.k == k]) for one in found) > _MOST_LISTED:
        return _unsupported_in_sum(found, k)
    rows = [
        [a.question, one.execution.configuration, str(a.hits), number(a.top_score),
         _verdict(a, one.execution.provenance["configuration"]["mode"])]
        for one in found
        for a in one.scored.unsupported
        if a.k == k
    ]  # fmt: skip
    if not rows:
        return ""
    return table(
        ["unsupported", "configuration", f"hits@{k}", "top score", "accepted"],
        rows,
        frozenset({2, 3}),
    )


def _unsupported_in_sum(found: Sequence[Evaluation], k: int) -> str:
    rows = []
    for one in found:
        every = [a for a in one.scored.unsupported if a.k == k]
        if not every:
            continue  # every search failed, which is told above
        tops = sorted((a.top_score, a.question) for a in every if a.top_score is not None)
        if every[0].accepted is None:
            verdict = _verdict(every[0], one.execution.provenance["configuration"]["mode"])
        else:
            accepted = sum(a.accepted is True for a in every)
            verdict = f"{accepted} of {len(every)}, at threshold {every[0].threshold:g}"
        highest = f"{number(tops[-1][0])} {tops[-1][1]}" if tops else "-"
        middle = number(median(top for top, _ in tops)) if tops else "-"
        name = one.execution.configuration
        rows.append([name, str(len(every)), str(len(tops)), middle, highest, verdict])
    header = ["unsupported", "questions", "with hits", "median top score", "highest", "accepted"]
    return table(header, rows, frozenset({1, 2, 3}))


def _verdict(acceptance: Acceptance, mode: str) -> str:
    if acceptance.accepted is not None:
        return f"{'yes' if acceptance.accepted else 'no'}, at threshold {acceptance.threshold:g}"
    return "cannot be judged on RRF scores" if mode == "hybrid" else "no threshold is set"
