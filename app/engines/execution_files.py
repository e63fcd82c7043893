"""All the store has of one execution, out and in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from app.core.errors import InvalidInput
from app.engines.executions import Execution, add_execution
from app.engines.store import Store, Unit


@dataclass(frozen=True)
class Contents:
    """`head` is said once; `tables` are named question, hit, chunk and text, in stored order."""

    head: Mapping[str, Any]
    tables: Mapping[str, pa.Table]

    def same(self, other: Contents, collection: str) -> bool:
        """Whether both say the same, whatever the collection was called where `other` was made."""
        renamed = {**other.head, "collection": collection}
        return dict(self.head) == renamed and all(
            self.tables[name].to_pylist() == table.to_pylist()
            for name, table in other.tables.items()
        )


def find(store: Store, execution: str) -> Contents | None:
    """What there is of an execution, or None."""
    with store.work() as unit:
        found = [
            row
            for row in unit.rows(
                "executions_list", {"collection": None, "fingerprint": None, "name": execution}
            )
            if row["id"] == execution
        ]
        return _contents(unit, found[0]) if found else None


def read(store: Store, execution: str) -> Contents:
    """What there is of an execution; raises InvalidInput where there is none."""
    contents = find(store, execution)
    if contents is None:
        raise InvalidInput(f"there is no execution {execution}", remedy="See: desk executions")
    return contents


def _contents(unit: Unit, row: dict[str, Any]) -> Contents:
    execution = row.pop("id")
    head = {"format": 1, "execution": execution, **row}
    head["provenance"] = json.loads(row["provenance"])
    here = {"execution": execution}
    # By name, not by number: numbers differ from store to store.
    questions = unit.table("execution_questions_list", here).sort_by("question")
    hits = unit.table("hits_list", {**here, "depth": None})
    return Contents(
        head,
        {
            "question": questions,
            "hit": hits.sort_by([("question", "ascending"), ("rank", "ascending")]),
            "chunk": unit.table("corpus_chunks_list", here),
            "text": unit.table("corpus_texts_list", here),
        },
    )


def save(store: Store, contents: Contents, collection: str) -> Execution:
    """Keep an execution of a file under a collection, in one transaction."""
    head = {**contents.head, "id": contents.head["execution"], "collection": collection}
    execution = Execution(**{name: head[name] for name in Execution.__dataclass_fields__})
    owner = {"collection": collection, "revision": execution.corpus_revision}
    tables = contents.tables
    with store.work() as unit, unit.transaction():
        unit.run("texts_add", {}, tables["text"])
        unit.run("chunks_add", {"collection": collection}, tables["chunk"])
        unit.run("chunks_add", {"collection": collection}, tables["hit"])
        if not unit.rows("corpora_find", owner):
            counts = {"points": execution.points, "eligible": execution.eligible}
            unit.run("corpora_add", {**owner, **counts})
            unit.run("corpus_chunks_add", owner, tables["chunk"])
        add_execution(unit, execution, tables["question"].to_pylist())
        here = {"collection": collection, "execution": execution.id}
        unit.run("hits_add", here, tables["hit"])
    return execution
