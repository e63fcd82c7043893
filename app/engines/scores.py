"""Label sets and scores in the store."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from app.core.labels import Labels
from app.core.model import ScoringSettings
from app.core.text import canonical
from app.engines.executions import Execution, add_questions, key_row
from app.engines.store import Row, Store, Unit

#: One thread at a time puts label sets in or takes them out.
_keeping = threading.RLock()


@contextmanager
def kept(store: Store, execution: Execution, labels: Labels) -> Iterator[int]:
    """The number of a label set, which is in the store while this lasts.

    Label sets that no scores belong to make room for a new one: they were kept for a comparison
    that is over. Inside, the file is open, so that no other process can take this one out.
    """
    # Admission first: who waits for the lock inside must not be waited for by who holds it outside.
    with store.work() as unit, _keeping:
        owner = {"collection": execution.collection, "revision": labels.revision}
        if known := unit.rows("label_sets_find", owner):
            yield int(known[0]["label_ref"])
            return
        with unit.transaction():
            unit.run("label_sets_drop", owner)
            unit.run("label_pairs_drop")
            unit.run("label_questions_drop")
            number = _add_labels(unit, labels, {**owner, "corpus": execution.corpus_revision})
        yield number


def _add_labels(unit: Unit, labels: Labels, owner: Row) -> int:
    here = {"collection": owner["collection"]}
    add_questions(unit, owner["collection"], labels.questions)
    pairs = [
        {
            "question": question,
            **key_row(key),
            "state": label.state,
            "grade": -1 if label.grade is None else label.grade,
            "low": label.low,
            "high": label.high,
            "departed": label.departed,
        }
        for (question, key), label in labels.pairs.items()
    ]
    unit.run("chunks_add", here, pairs)
    added = unit.rows("label_sets_add", {**owner, "judgments": labels.judgments})
    here["label"] = added[0]["label_ref"]
    questions = [
        {
            "question": question.id,
            "category": question.category,
            "split": question.split,
            "tags": list(question.tags),
            "text": question.text,
            "kind": labels.kinds[question.id],
        }
        for question in labels.questions.values()
    ]
    unit.run("label_questions_add", here, questions)
    unit.run("label_pairs_add", here, pairs)
    return int(added[0]["label_ref"])


def save(
    store: Store,
    execution: Execution,
    labels: Labels,
    scoring: ScoringSettings,
    scores: Sequence[Row],
) -> None:
    """Keep scores with the label set and the scoring settings they belong to; once each."""
    settings = scoring.as_json()
    with (
        kept(store, execution, labels) as label_set,
        store.work() as unit,
        unit.transaction(),
    ):
        here = {"execution": execution.id, "label": label_set, "hash": settings["hash"]}
        unit.run("scorings_add", {"hash": settings["hash"], "settings": canonical(settings)})
        if not unit.rows("scores_find", here):
            unit.run("scores_add", {**here, "collection": execution.collection}, scores)
        unit.run("scorings_done_add", here)


def stored(store: Store, execution: Execution, label_revision: str, scoring_hash: str) -> list[Row]:
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
