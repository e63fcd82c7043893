"""Scores of a run that is nowhere stored: under a collection's labels, or under plain qrels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.chunking import AS_IS
from app.core.corpus import Corpus
from app.core.errors import InvalidInput
from app.core.grades import PairLabel
from app.core.keys import Ids, KeyMap
from app.core.labels import Kind, Labels
from app.core.model import ChunkKey, Hit, Ranking, ScoringSettings
from app.core.questions import Question
from app.core.scale import Scale, scale_words
from app.core.text import shown
from app.flows.exchange.plain_files import Row, trec_qrels, trec_run
from app.flows.exchange.run_rows import Order
from app.flows.loading import Loaded
from app.flows.means import Mean, means
from app.flows.scored import Scored
from app.flows.scoring import score_rankings
from app.settings import check_cutoffs


@dataclass(frozen=True)
class RunScores:
    """The outcomes of a run with its means, and what was noticed."""

    scored: Scored
    means: tuple[Mean, ...]
    notices: tuple[str, ...]


def score_under_labels(
    loaded: Loaded, run: Iterable[Row], scoring: ScoringSettings, order: Order
) -> RunScores:
    """Score a run under the labels of a collection; nothing is stored.

    Raises InvalidInput where no question or no chunk of the run is known there, or where a chunk
    does not pass the filter.
    """
    ids = Ids(loaded.questions, loaded.corpus, loaded.collection.settings.version)
    hashes = loaded.corpus.text_hashes
    found = _score(run, loaded.labels, ids, hashes, scoring, order)
    return RunScores(found.scored, found.means, (*loaded.labels.notices, *found.notices))


def score_under_qrels(
    qrels: Mapping[str, Mapping[str, int]],
    run: Iterable[Row],
    scoring: ScoringSettings,
    order: Order,
    scale: Scale | None = None,
) -> RunScores:
    """Score a run under grades by question and chunk, without any text.

    `scale` maps the grades. Hits without a grade are unjudged. Raises InvalidInput for a grade
    outside the scale, or a question the qrels do not have.
    """
    grades = scale or {grade: grade for grade in range(scoring.highest + 1)}
    pairs: dict[tuple[str, ChunkKey], PairLabel] = {}
    for question, judged in qrels.items():
        for chunk, theirs in judged.items():
            if theirs not in grades:
                raise InvalidInput(
                    f"the grade {theirs} of {shown(question)} and {shown(chunk)} is outside the "
                    f"scale {scale_words(grades)}",
                    remedy="Map every grade: grades='0=0,1=1,2=1,3=2', or --grades",
                )
            if (grade := grades[theirs]) is not None:
                pairs[question, _key(chunk)] = PairLabel("judged", grade, grade, grade)
    relevant = {
        question
        for (question, _), label in pairs.items()
        if label.grade is not None and label.grade >= scoring.threshold
    }
    kinds: dict[str, Kind] = {
        question: "answerable" if question in relevant else "no evidence yet" for question in qrels
    }
    labels = Labels(
        questions={q: Question(id=q, text=q, category="all") for q in qrels},
        pairs=pairs,
        kinds=kinds,
        scoring=scoring,
        corpus_revision="",
        covered=frozenset(),
        complete_hashes=frozenset(),
        notices=(),
        conflicts=(),
        judgments=len(pairs),
    )
    ids = Ids(labels.questions, Corpus({}, 0), AS_IS, KeyMap(chunks={k.chunk: k for _, k in pairs}))
    found = _score(run, labels, ids, {}, scoring, order)
    overall = tuple(mean for mean in found.means if mean.category is None)
    return replace(found, means=overall)


def score_files(
    run: Path, qrels: Path, cutoffs: Sequence[int], order: Order, scale: Scale | None
) -> RunScores:
    """Score a TREC run under TREC qrels. Raises InvalidInput for what is wrong in either."""
    try:
        scoring = ScoringSettings(cutoffs=tuple(check_cutoffs(cutoffs)))
    except ValueError as error:
        raise InvalidInput(f"K {error}", remedy="For example --k 1,3,5") from error
    judged, said = trec_qrels(qrels)
    rows, more = trec_run(run, order)
    if not rows:
        raise InvalidInput("the run is empty", place=run.name, remedy="Name another file")
    found = score_under_qrels(judged, rows, scoring, order, scale)
    return replace(found, notices=(*said, *more, *found.notices))


def _key(chunk: str) -> ChunkKey:
    return ChunkKey(chunk, AS_IS, chunk)


def _score(
    run: Iterable[Row],
    labels: Labels,
    ids: Ids,
    hashes: Mapping[ChunkKey, str],
    scoring: ScoringSettings,
    order: Order,
) -> RunScores:
    by_question: dict[str, list[tuple[int, ChunkKey, float]]] = {}
    unknown: dict[str, None] = {}
    textless: set[ChunkKey] = set()
    for asked, chunk, rank, score in run:
        question = ids.question(asked)
        if question is None:
            unknown[asked] = None
            continue
        key = ids.chunk(chunk)
        if key is None:
            key = ids.without_text(chunk)
            textless.add(key)
        elif not ids.corpus.chunks[key].eligible:
            raise InvalidInput(
                f"eligibility violation: {key.short()} does not pass the filter",
                remedy="Correct the run, or [eligible] in collection.toml",
            )
        hits = by_question.setdefault(question, [])
        place = len(hits) + 1 if rank is None else rank
        hits.append((place, key, -float(place) if score is None else score))
    if unknown and not by_question:
        raise InvalidInput(
            f"not one question of the run is known, {shown(next(iter(unknown)))} for one",
            remedy="Run and labels must share their ids",
        )
    named = {key for hits in by_question.values() for _, key, _ in hits}
    if ids.corpus.chunks and named and named == textless:
        raise InvalidInput(
            f"not one chunk of the run is known, {min(textless).short()} for one",
            remedy="Run and corpus must share their ids",
        )
    notices = []
    if unknown:
        notices.append(f"Questions of the run that are unknown, left out: {len(unknown)}.")
    rankings, duplicates = _rankings(by_question, labels.questions, order)
    if duplicates:
        notices.append(f"Chunks named before in their ranking, first rank kept: {duplicates}.")
    if textless and hashes:
        notices.append(f"Chunks without a text here: {len(textless)}.")
    if missing := [name for name in labels.questions if name not in by_question]:
        notices.append(f"Questions without a row, which got nothing back: {len(missing)}.")
    pairs = ((question, key) for question, hits in by_question.items() for _, key, _ in hits)
    if labels.pairs and not any(pair in labels.pairs for pair in pairs):
        notices.append("Not one hit of the run was judged: do run and labels share their ids?")
    scored = score_rankings(rankings, labels, hashes, scoring.cutoffs, ties=order == "score")
    return RunScores(scored, tuple(means(scored)), tuple(notices))


def _rankings(
    by_question: Mapping[str, Sequence[tuple[int, ChunkKey, float]]],
    questions: Iterable[str],
    order: Order,
) -> tuple[list[Ranking], int]:
    rankings: list[Ranking] = []
    duplicates = 0
    for question in questions:
        hits = list(by_question.get(question, ()))
        if order == "score":
            hits.sort(key=lambda hit: (-hit[2], hit[1]))
        else:
            hits.sort(key=lambda hit: hit[0])
        first = {key: score for _, key, score in reversed(hits)}
        kept = list(dict.fromkeys(key for _, key, _ in hits))
        duplicates += len(hits) - len(kept)
        ranked = (Hit(n, key, first[key]) for n, key in enumerate(kept, start=1))
        rankings.append(Ranking(question, tuple(ranked)))
    return rankings, duplicates
