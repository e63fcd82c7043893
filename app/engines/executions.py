"""Executions, rankings, label sets and scores in the store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.core.corpus import Corpus
from app.core.labels import Labels
from app.core.model import ChunkKey, Hit, Ranking, ScoringSettings
from app.core.text import canonical
from app.engines.store import Row, Store, Unit

Status = Literal["complete", "incomplete", "imported"]


@dataclass(frozen=True, slots=True)
class Execution:
    """One configuration run over all questions of a collection against one corpus revision."""

    id: str
    collection: str
    configuration: str
    fingerprint: str
    status: Status
    corpus_revision: str
    points: int
    eligible: int
    started: str
    finished: str
    provenance: Mapping[str, Any]

    @property
    def threshold(self) -> float | None:
        """The score below which hits are cut, if any."""
        value = self.provenance["configuration"].get("threshold")
        return None if value is None else float(value)


def save(
    store: Store,
    execution: Execution,
    rankings: Sequence[Ranking],
    texts: Mapping[str, str],
    corpus: Corpus,
    *,
    retain_text: bool,
) -> None:
    """Keep an execution with its rankings, in one transaction."""
    owner = {"collection": execution.collection}
    with store.work() as unit, unit.transaction():
        _add_questions(unit, execution.collection, texts)
        _add_corpus(unit, execution, corpus, retain_text=retain_text)
        unit.run(
            "executions_add",
            {
                **owner,
                "execution": execution.id,
                "configuration": execution.configuration,
                "fingerprint": execution.fingerprint,
                "status": execution.status,
                "revision": execution.corpus_revision,
                "started": execution.started,
                "finished": execution.finished,
                "provenance": canonical(execution.provenance),
            },
        )
        here = {**owner, "execution": execution.id}
        unit.run(
            "execution_questions_add",
            here,
            [
                {
                    "question": ranking.question,
                    "text": texts[ranking.question],
                    "failure": ranking.failure,
                    "embed_ms": ranking.embed_ms,
                    "search_ms": ranking.search_ms,
                }
                for ranking in rankings
            ],
        )
        unit.run(
            "hits_add",
            here,
            [
                {"question": r.question, "rank": h.rank, "score": h.score, **_key_row(h.key)}
                for r in rankings
                for h in r.hits
            ],
        )


def _key_row(key: ChunkKey) -> Row:
    return {"document": key.document, "version": key.version, "chunk": key.chunk}


def _add_questions(unit: Unit, collection: str, names: Iterable[str]) -> None:
    unit.run("questions_add", {"collection": collection}, [{"question": name} for name in names])


def _add_corpus(unit: Unit, execution: Execution, corpus: Corpus, *, retain_text: bool) -> None:
    """The eligible chunks of the corpus revision, once, and their texts, once per hash."""
    owner = {"collection": execution.collection, "revision": execution.corpus_revision}
    rows = [
        {
            **_key_row(key),
            "text_hash": chunk.text_hash,
            "text": chunk.text if retain_text else "",
            "title": chunk.title if retain_text else "",
            "section": chunk.section if retain_text else "",
        }
        for key, chunk in corpus.eligible.items()
    ]
    if retain_text:
        unit.run("texts_add", {}, rows)
    if not unit.rows("corpora_find", owner):
        unit.run("chunks_add", {"collection": execution.collection}, rows)
        counts = {"points": execution.points, "eligible": execution.eligible}
        unit.run("corpora_add", {**owner, **counts})
        unit.run("corpus_chunks_add", owner, rows)


def _execution(row: Row) -> Execution:
    values = {**row, "provenance": json.loads(row["provenance"])}
    return Execution(**values)


def listed(
    store: Store,
    collection: str | None = None,
    *,
    fingerprint: str | None = None,
    name: str | None = None,
) -> list[Execution]:
    """Executions, newest first; those that meet every condition given.

    `fingerprint` finds complete ones only; `name` is the beginning of an id, or a configuration.
    """
    conditions = {"collection": collection, "fingerprint": fingerprint, "name": name}
    with store.work() as unit:
        return [_execution(row) for row in unit.rows("executions_list", conditions)]


def rankings(store: Store, execution: Execution) -> tuple[list[Ranking], dict[str, str]]:
    """The stored, uncut rankings in question order, and the questions' texts as they were."""
    with store.work() as unit:
        asked = unit.rows("execution_questions_list", {"execution": execution.id})
        hits = unit.rows("hits_list", {"execution": execution.id})
    found: dict[str, list[Hit]] = {}
    for row in hits:
        key = ChunkKey(row["document"], row["version"], row["chunk"])
        found.setdefault(row["question"], []).append(Hit(row["rank"], key, row["score"]))
    return [
        Ranking(
            row["question"],
            tuple(found.get(row["question"], ())),
            row["failure"],
            row["embed_ms"],
            row["search_ms"],
        )
        for row in asked
    ], {row["question"]: row["text"] for row in asked}


def save_scores(
    store: Store,
    execution: Execution,
    labels: Labels,
    scoring: ScoringSettings,
    scores: Sequence[Row],
) -> None:
    """Keep scores with the label set and the scoring settings they belong to; once each."""
    owner = {"collection": execution.collection}
    settings = scoring.as_json()
    label_set = {**owner, "revision": labels.revision}
    with store.work() as unit, unit.transaction():
        if not unit.rows("label_sets_find", label_set):
            _add_labels(unit, labels, {**label_set, "corpus": execution.corpus_revision})
        unit.run("scorings_add", {"hash": settings["hash"], "settings": canonical(settings)})
        here = {**label_set, "execution": execution.id, "hash": settings["hash"]}
        if not unit.rows("scores_find", here):
            unit.run("scores_add", here, scores)
        unit.run("scorings_done_add", here)


def _add_labels(unit: Unit, labels: Labels, owner: Row) -> None:
    collection = owner["collection"]
    _add_questions(unit, collection, labels.questions)
    pairs = [
        {
            "question": question,
            **_key_row(key),
            "state": label.state,
            "grade": -1 if label.grade is None else label.grade,
            "low": label.low,
            "high": label.high,
            "departed": label.departed,
        }
        for (question, key), label in labels.pairs.items()
    ]
    unit.run("chunks_add", {"collection": collection}, pairs)
    unit.run("label_sets_add", {**owner, "judgments": labels.judgments})
    here = {"collection": collection, "revision": owner["revision"]}
    unit.run(
        "label_questions_add",
        here,
        [
            {
                "question": question.id,
                "category": question.category,
                "split": question.split,
                "tags": list(question.tags),
                "text": question.text,
                "kind": labels.kinds[question.id],
            }
            for question in labels.questions.values()
        ],
    )
    unit.run("label_pairs_add", here, pairs)


def scores(store: Store, execution: Execution, label_revision: str, scoring_hash: str) -> list[Row]:
    """Stored scores of an execution under one label revision and scoring settings."""
    with store.work() as unit:
        rows = unit.rows(
            "scores_list",
            {
                "collection": execution.collection,
                "revision": label_revision,
                "execution": execution.id,
                "hash": scoring_hash,
            },
        )
    return [{**row, "bounds": json.loads(row["bounds"] or "null")} for row in rows]


def headline(store: Store, collection: str | None) -> dict[str, list[Row]]:
    """Means of the newest stored scores of every execution, by execution id and K."""
    with store.work() as unit:
        rows = unit.rows("scores_headline", {"collection": collection})
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["execution"], []).append(row)
    return found
