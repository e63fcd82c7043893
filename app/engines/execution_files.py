"""All the store has of one execution, out and in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from app.core.errors import InvalidInput
from app.engines.executions import Execution, add_chunks, add_execution
from app.engines.store import Row, Store, Unit

_IDENTITY = ["document", "version", "chunk", "text_hash"]


@dataclass(frozen=True)
class Contents:
    """`head` is said once; `tables` are named question, hit, chunk and text, in stored order."""

    head: Mapping[str, Any]
    tables: Mapping[str, pa.Table]

    def same(self, other: Contents, collection: str) -> bool:
        """Whether both say the same, whatever the collection was called where `other` was made."""
        renamed = {**other.head, "collection": collection}
        # Texts may be retained on one side only; the hashes of the chunks stand for them.
        columns = {"question": None, "hit": None, "chunk": _IDENTITY}
        return dict(self.head) == renamed and all(
            _rows(self.tables[name], wanted) == _rows(other.tables[name], wanted)
            for name, wanted in columns.items()
        )

    def without_texts(self) -> Contents:
        """The same without texts, titles and headings."""
        chunks = self.tables["chunk"]
        for name in ("title", "section"):
            blank = pa.array([""] * len(chunks), pa.string())
            chunks = chunks.set_column(chunks.schema.get_field_index(name), name, blank)
        return Contents(
            self.head, {**self.tables, "chunk": chunks, "text": self.tables["text"].slice(0, 0)}
        )


def _rows(table: pa.Table, columns: list[str] | None) -> list[Any]:
    rows: list[Any] = (table if columns is None else table.select(columns)).to_pylist()
    return rows


def find(store: Store, execution: str) -> Contents | None:
    """What there is of an execution, or None."""
    with store.work() as unit:
        found = find_in(unit, execution)
        return None if found is None else _contents(unit, found)


def find_in(unit: Unit, execution: str) -> Row | None:
    """The row of an execution, or None."""
    named = {"collection": None, "fingerprint": None, "name": execution}
    rows = unit.rows("executions_list", named)
    return next((row for row in rows if row["id"] == execution), None)


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
    contents = Contents(
        head,
        {
            "question": questions,
            "hit": hits.sort_by([("question", "ascending"), ("rank", "ascending")]),
            "chunk": unit.table("corpus_chunks_list", here),
            "text": unit.table("corpus_texts_list", here),
        },
    )
    # A text is stored once for all: another execution may have retained what this one did not.
    return contents if head["provenance"].get("retain_text", True) else contents.without_texts()


def save(store: Store, contents: Contents, collection: str) -> Execution:
    """Keep an execution of a file under a collection, in one transaction."""
    head = {**contents.head, "id": contents.head["execution"], "collection": collection}
    execution = Execution(**{name: head[name] for name in Execution.__dataclass_fields__})
    tables = contents.tables
    with store.work() as unit, unit.transaction():
        if find_in(unit, execution.id) is not None:
            raise InvalidInput(
                f"the execution {execution.id} has come in meanwhile", remedy="See: desk executions"
            )
        unit.run("texts_add", {}, tables["text"])
        add_chunks(unit, execution, tables["chunk"])
        unit.run("chunks_add", {"collection": collection}, tables["hit"])
        add_execution(unit, execution, tables["question"].to_pylist())
        here = {"collection": collection, "execution": execution.id}
        unit.run("hits_add", here, tables["hit"])
    return execution
