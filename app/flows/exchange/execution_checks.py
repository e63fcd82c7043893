"""Whether the tables of an exported execution are whole: what no export would hold is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from app.core.text import fault_in_id, fault_in_text, text_hash

_KEY = ["document", "version", "chunk"]
_IDS = {"question": ["question"], "hit": ["question", *_KEY], "chunk": _KEY}
#: Columns in which nothing may stand.
_OPTIONAL = {"failure"}


def fault_in(head: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str | None:
    """The first thing that is wrong, or None."""
    return next(_faults(head, tables), None)


def _faults(head: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> Iterator[str]:
    for name, table in tables.items():
        for column in table.column_names:
            if column not in _OPTIONAL and table[column].null_count:
                yield f"a {name} has no {column}"
    for name, columns in _IDS.items():
        for column in columns:
            for value in tables[name][column].unique().to_pylist():
                if fault := fault_in_id(value):
                    yield f"the id of a {column} {fault}"
    yield from _in_questions(tables["question"])
    yield from _in_chunks(head, tables["chunk"], tables["text"])
    yield from _in_hits(head, tables["question"], tables["hit"], tables["chunk"])


def _in_questions(questions: pa.Table) -> Iterator[str]:
    for value in questions["text"].to_pylist():
        if fault_in_text(value) or not value.strip():
            yield "a question has no words"
    if _distinct(questions, ["question"]) != len(questions):
        yield "a question stands twice"


def _in_chunks(head: Mapping[str, Any], chunks: pa.Table, texts: pa.Table) -> Iterator[str]:
    if _distinct(chunks, _KEY) != len(chunks):
        yield "a chunk stands twice"
    if len(chunks) != head["eligible"] or head["points"] < head["eligible"]:
        yield "it does not hold every eligible chunk"
    for row in texts.to_pylist():
        if fault_in_text(row["text"]) or text_hash(row["text"]) != row["text_hash"]:
            yield "a text is not the one its hash speaks of"
    if set(texts["text_hash"].to_pylist()) - set(chunks["text_hash"].to_pylist()):
        yield "it has a text of no chunk"


def _in_hits(
    head: Mapping[str, Any], questions: pa.Table, hits: pa.Table, chunks: pa.Table
) -> Iterator[str]:
    if set(hits["question"].unique().to_pylist()) - set(questions["question"].to_pylist()):
        yield "it has hits of a question that it did not ask"
    if not pc.all(pc.is_finite(hits["score"]), min_count=0).as_py():
        yield "a score is no number"
    if _distinct(hits, ["question", *_KEY]) != len(hits):
        yield "a chunk was returned twice for a question"
    sums = [("rank", "min"), ("rank", "max"), ("rank", "count"), ("rank", "count_distinct")]
    for row in hits.group_by("question").aggregate(sums).to_pylist():
        number = row["rank_count"]
        if (row["rank_min"], row["rank_max"], row["rank_count_distinct"]) != (1, number, number):
            yield f"the ranks of {row['question']} are not 1 to {number}"
    if "run" not in head["provenance"] and len(hits.join(chunks, _KEY, join_type="left anti")):
        yield "a chunk was returned that is not eligible"


def _distinct(table: pa.Table, columns: list[str]) -> int:
    return len(table.group_by(columns).aggregate([]))
