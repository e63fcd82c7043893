"""The answer of `desk search`: one question, one or two configurations, as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core.diagnosis import ndcg_shares
from app.core.errors import InvalidInput
from app.core.facts import FactRecall
from app.core.model import ChunkKey
from app.core.questions import Question
from app.flows.contract import FORMAT, hit, question_score
from app.flows.evidence_marks import evidence_of
from app.flows.inspecting import Evidence, Inspection, inspect
from app.flows.loading import Loaded, question_asking, require_questions
from app.flows.lost import Lost
from app.flows.moves import Move, moves
from app.flows.one_search import OneSearch, ask
from app.flows.origin import origin_rows
from app.flows.score_rows import facts_of, score_rows
from app.flows.searching import depth_of
from app.flows.trying import view_of
from app.flows.wording import acceptance_words, outcome_words, table
from app.settings import split_metric

#: Characters of a text in a line of the terminal.
_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Searched:
    """One configuration's answer to a question, scored at K."""

    search: OneSearch
    found: Inspection
    facts: FactRecall | None


@dataclass(frozen=True, slots=True)
class Report:
    """A question with the answers of one or two configurations. `question` is None for a text that
    is of no question of the collection.
    """

    loaded: Loaded
    question: Question | None
    text: str
    k: int
    sides: tuple[Searched, ...]

    @property
    def failed(self) -> bool:
        """Whether a search failed."""
        return any(one.found.ranking.failure is not None for one in self.sides)


def search(loaded: Loaded, asked: str, names: Sequence[str] = (), k: int | None = None) -> Report:
    """Ask one question, by its id, its text, or in words of one's own.

    `names` are configurations, the first one of the settings unless given; `k` the cut-off, that of
    the primary metric unless given. Raises InvalidInput for a blank question, an unknown
    configuration and a K out of range, and as `one_search.ask`.
    """
    require_questions(loaded)
    settings = loaded.collection.settings
    if not asked.strip():
        raise InvalidInput("the question is blank", remedy="Write what is to be searched for")
    names = list(names) or [next(iter(settings.configurations))]
    if len(names) > 2:
        raise InvalidInput(
            f"{len(names)} configurations are too many to lay side by side",
            remedy="Name one or two with --configuration",
        )
    for name in names:
        loaded.collection.configuration(name)
    k = split_metric(settings.scoring.primary)[1] if k is None else k
    question = loaded.questions.get(asked) or question_asking(loaded, asked.strip())
    text = question.text if question else asked.strip()
    view = view_of(loaded)
    marks = evidence_of(loaded, question.id) if question and question.facts else {}
    sides = []
    for name in names:
        configuration = settings.configurations[name]
        one = ask(
            view,
            name,
            configuration,
            text,
            depth_of(configuration, [*settings.scoring.cutoffs, k]),
            question=question.id if question else None,
        )
        found = inspect(one, k)
        facts = None
        if question is not None and marks:
            facts = facts_of(found, question, marks, k, view.labels.scoring.threshold)
        sides.append(Searched(one, found, facts))
    return Report(loaded, question, text, k, tuple(sides))


def as_text(report: Report) -> str:
    """For a terminal."""
    labels = report.loaded.labels
    head = " ".join(report.text.split())
    if report.question is not None:
        kind = labels.kinds[report.question.id]
        head += f"\n{report.question.id} · {report.question.category} · {kind}"
    else:
        head += "\nof no question of the collection: nothing is judged, so nothing is scored"
    parts = [head]
    for one in report.sides:
        other = next((side for side in report.sides if side is not one), None)
        parts += _side(report, one, other)
    return "\n\n".join(parts)


def _side(report: Report, one: Searched, other: Searched | None) -> list[str]:
    found, k = one.found, report.k
    ranking = found.ranking
    embeds = one.search.searcher.embedder is not None
    took = f"embedded in {ranking.embed_ms:.1f} ms, " if embeds else ""
    parts = [
        f"{one.search.name}: {took}searched in {ranking.search_ms:.1f} ms, "
        f"scored in {found.score_ms:.1f} ms"
    ]
    if ranking.failure is not None:
        return [*parts, f"The search failed: {ranking.failure}"]
    moved = _moves(one, other)
    parts.append(_hits(found, k, moved) if found.evidence else "Nothing came back.")
    if any(item.graded.hit.rank > k and not item.cut for item in found.evidence):
        parts[-1] += f"\n(in brackets: beyond K = {k}, not scored)"
    threshold = report.loaded.labels.scoring.threshold
    if found.acceptance is not None:
        fused = one.search.configuration.mode == "hybrid"
        parts.append(acceptance_words(found.acceptance, fused=fused))
    elif found.score is not None and found.score.outcome != "scored":
        parts.append(outcome_words(found.score))
    elif rows := score_rows(found, one.facts, threshold):
        cells = [[row.name, row.shown, row.how] for row in rows]
        parts.append(table(["metric", "value", "how"], cells, right=frozenset({1})))
    if found.score is not None and (found.score.outcome == "scored" or found.lost):
        lost = [f"  {item.key.short()} (grade {item.grade}): {item.words}" for item in found.lost]
        none = ["  none: every relevant chunk is within K"]
        parts.append("\n".join(["Lost evidence", *(lost or none)]))
    return parts


def _moves(one: Searched, other: Searched | None) -> dict[ChunkKey, Move]:
    """Against the other side; none where there is no other, or its search failed."""
    if other is None or other.found.ranking.failure is not None:
        return {}
    return moves(one.found.kept, other.found.kept, other.search.name)


def _hits(found: Inspection, k: int, moved: Mapping[Any, Move]) -> str:
    rows = [_row(one, k, moved.get(one.graded.hit.key)) for one in found.evidence]
    head = ["rank", "score", "grade", *(["moved"] if moved else []), "chunk", "text"]
    kept = rows if moved else [[*row[:3], *row[4:]] for row in rows]
    return table(head, kept, right=frozenset({0, 1}))


def _row(one: Evidence, k: int, move: Move | None) -> list[str]:
    hit_, label = one.graded.hit, one.graded.label
    grade = str(label.grade) if label.grade is not None else label.state
    if label.state == "unsettled":
        grade = f"{label.low} or {label.high}"
    rank = "cut" if one.cut else str(hit_.rank) if hit_.rank <= k else f"({hit_.rank})"
    words = " ".join(one.chunk.text.split())
    line = words if len(words) <= _WIDTH else f"{words[: _WIDTH - 1]}…"
    return [rank, f"{hit_.score:.4f}", grade, move.words if move else "", hit_.key.short(), line]


def as_json(report: Report) -> dict[str, Any]:
    """The answer of `desk search --json`."""
    question = report.question
    return {
        "format": FORMAT,
        "collection": report.loaded.collection.name,
        "question": question.id if question else None,
        "category": question.category if question else None,
        "kind": report.loaded.labels.kinds[question.id] if question else None,
        "text": report.text,
        "k": report.k,
        "label_revision": report.loaded.labels.revision,
        "configurations": [
            _side_json(one, report.k, next((o for o in report.sides if o is not one), None))
            for one in report.sides
        ],
    }


def _side_json(one: Searched, k: int, other: Searched | None) -> dict[str, Any]:
    found = one.found
    scored = found.score is not None and found.score.outcome == "scored"
    highest = one.search.view.labels.scoring.highest
    shares = ndcg_shares(found.grades, found.pair_grades, k, highest) if scored else ()
    moved = _moves(one, other)
    acceptance = found.acceptance
    return {
        "configuration": one.search.name,
        "failure": found.ranking.failure,
        "embed_ms": found.ranking.embed_ms,
        "search_ms": found.ranking.search_ms,
        "score_ms": found.score_ms,
        "hits": [
            {
                **hit(evidence.graded),
                "cut": evidence.cut,
                "tied": list(evidence.tied) if evidence.tied else None,
                "moved_from": _there(moved, evidence),
                "ndcg": shares[evidence.graded.hit.rank - 1].actual
                if not evidence.cut and evidence.graded.hit.rank <= len(shares)
                else None,
                "title": evidence.chunk.title,
                "section": evidence.chunk.section,
                "text": evidence.chunk.text,
                "fields": dict(evidence.chunk.fields),
            }
            for evidence in found.evidence
        ],
        "scores": None if found.score is None else question_score(found.score),
        "fact_recall": None
        if one.facts is None
        else {
            "value": one.facts.value,
            "bounds": [one.facts.lower, one.facts.upper],
            "supported": list(one.facts.supported),
            "missing": list(one.facts.missing),
        },
        "acceptance": None
        if acceptance is None
        else {
            "hits": acceptance.hits,
            "top_score": acceptance.top_score,
            "threshold": acceptance.threshold,
            "accepted": acceptance.accepted,
        },
        "lost": [_lost(item) for item in found.lost],
        "run_with": dict(origin_rows(one.search)) if found.ranking.failure is None else {},
    }


def _there(moved: Mapping[Any, Move], evidence: Evidence) -> int | None:
    move = moved.get(evidence.graded.hit.key)
    return None if move is None else move.there


def _lost(one: Lost) -> dict[str, Any]:
    return {
        "chunk": [one.key.document, one.key.version, one.key.chunk],
        "grade": one.grade,
        "cause": one.cause,
        "words": one.words,
        "rank": one.rank,
        "exact_rank": one.exact_rank,
        "score": one.score,
    }
