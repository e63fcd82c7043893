"""An execution as one file, Parquet or JSON, that another workspace takes in.

The file has all that is stored of an execution and of the corpus it was run on: what was asked,
every hit, the eligible chunks with their hashes, and their texts unless they are not retained.
Scores are not in it: they belong to labels, which travel in the ledger.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from app.core.errors import InvalidInput
from app.core.snapshot import replace_file
from app.core.text import fault_in_id, text_hash
from app.core.validation import Record, problems_in
from app.engines import execution_files
from app.engines.execution_files import Contents
from app.engines.store import Store
from app.flows.exchange.outcome import Outcome
from app.flows.wording import count
from app.workspace import Collection

_REMEDY = "Export the execution again: desk export C execution FILE --execution ID"
#: Tables of the file and the columns each has, with their types.
TABLES: Mapping[str, Mapping[str, pa.DataType]] = {
    "question": {"question": pa.string(), "text": pa.string(), "failure": pa.string(),
                 "embed_ms": pa.float64(), "search_ms": pa.float64()},
    "hit": {"question": pa.string(), "rank": pa.int64(), "document": pa.string(),
            "version": pa.string(), "chunk": pa.string(), "score": pa.float64()},
    "chunk": {"document": pa.string(), "version": pa.string(), "chunk": pa.string(),
              "text_hash": pa.string(), "title": pa.string(), "section": pa.string()},
    "text": {"text_hash": pa.string(), "text": pa.string()},
}  # fmt: skip
_COLUMNS = {name: kind for table in TABLES.values() for name, kind in table.items()}


class _Head(Record):
    """What is said of an execution once."""

    format: int
    execution: str
    collection: str
    configuration: str
    fingerprint: str
    status: str
    corpus_revision: str
    points: int
    eligible: int
    started: str
    finished: str
    provenance: dict[str, Any]


def export_execution(store: Store, execution: str, path: Path) -> int:
    """Write an execution as Parquet, or as JSON where the name ends so; the number of hits."""
    contents = execution_files.read(store, execution)
    if path.suffix.lower() == ".json":
        replace_file(path, _json(contents))
    else:
        _write_parquet(path, contents)
    return len(contents.tables["hit"])


def _json(contents: Contents) -> str:
    """One line per row, so that files can be compared and read."""
    parts = [f'{{"head":{json.dumps(contents.head, ensure_ascii=False, sort_keys=True)}']
    for name, columns in TABLES.items():
        rows = contents.tables[name].select(list(columns)).to_pylist()
        lines = ",\n".join(json.dumps(list(row.values()), ensure_ascii=False) for row in rows)
        parts.append(f'"{name}":[\n{lines}\n]' if rows else f'"{name}":[]')
    return ",\n".join(parts) + "}\n"


def _write_parquet(path: Path, contents: Contents) -> None:
    """One table with a column `kind`; what is said once is in the file's metadata."""
    head = json.dumps(contents.head, ensure_ascii=False, sort_keys=True)
    schema = pa.schema([("kind", pa.string()), *_COLUMNS.items()], metadata={"desk": head})
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with pq.ParquetWriter(beside, schema, compression="zstd") as writer:
            for name in TABLES:
                table = contents.tables[name]
                columns = {
                    column: table[column].cast(kind)
                    if column in TABLES[name]
                    else pa.nulls(len(table), kind)
                    for column, kind in _COLUMNS.items()
                }
                kinds = pa.array([name] * len(table), pa.string())
                writer.write_table(pa.table({"kind": kinds, **columns}, schema=schema))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def import_execution(
    collection: Collection, path: Path, *, dry_run: bool = False, skip_refused: bool = False
) -> Outcome:
    """Take an execution from a file; one that is there already is left as it is.

    It keeps its id, and belongs to this collection whatever it was called where it was run.
    Raises InvalidInput where the file is no execution, or the id is taken by another one.
    """
    contents = _read(path)
    head = contents.head
    found = Outcome(f"execution of {collection.name}", "execution", path.name)
    found.read = contents.tables["hit"].num_rows
    store = Store.at(collection.workspace.store_path)
    there = execution_files.find(store, head["execution"]) if store.path.exists() else None
    if there is not None:
        if not there.same(contents, collection.name):
            raise InvalidInput(
                f"there is another execution {head['execution']} already",
                place=path.name,
                remedy="Look at it: desk executions",
            )
        found.known = found.read
        return found.finish(lambda: None, dry_run=dry_run, skip_refused=skip_refused)
    found.new = found.read
    if head["collection"] != collection.name:
        found.notes.append(
            f"It was run on a collection called {head['collection']}, and belongs to "
            f"{collection.name} here."
        )
    revision = collection.corpus().revision
    if head["corpus_revision"] != revision:
        found.notes.append(
            f"It was run on another revision of the corpus ({head['corpus_revision'][:12]}, here "
            f"{revision[:12]}): it is listed, and compares with executions of its revision only."
        )
    found.notes.append(
        f"{head['configuration']}: execution {head['execution']}, {head['status']}, "
        f"{count(contents.tables['question'].num_rows, 'question')}, finished {head['finished']}."
    )
    return found.finish(
        lambda: execution_files.save(store, contents, collection.name),
        dry_run=dry_run,
        skip_refused=skip_refused,
    )


def _read(path: Path) -> Contents:
    try:
        if path.suffix.lower() == ".json":
            value = json.loads(path.read_bytes())
            head, tables = value["head"], _from_json(value)
        else:
            whole = pq.read_table(path)
            head = json.loads((whole.schema.metadata or {})[b"desk"])
            kinds = whole["kind"]
            tables = {
                name: whole.filter(pa.compute.equal(kinds, name)).select(list(columns))
                for name, columns in TABLES.items()
            }
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        raise InvalidInput(
            "the file is not an exported execution", place=path.name, remedy=_REMEDY
        ) from error
    try:
        known = _Head.model_validate(head)
    except ValidationError as error:
        raise InvalidInput.of(problems_in(error, path.name, _Head.model_fields, _REMEDY)) from error
    if known.format != 1:
        raise InvalidInput(
            f"the file has format {known.format}, not 1",
            place=path.name,
            remedy="Update the program",
        )
    contents = Contents(head, tables)
    _check(contents, path.name)
    return contents


def _from_json(value: Mapping[str, Any]) -> dict[str, pa.Table]:
    return {
        name: pa.table(
            {
                column: pa.array([row[number] for row in value[name]], kind)
                for number, (column, kind) in enumerate(columns.items())
            }
        )
        for name, columns in TABLES.items()
    }


def _check(contents: Contents, place: str) -> None:
    """Raise InvalidInput for what no export of this program would hold."""
    head, tables = contents.head, contents.tables
    if head["status"] not in ("complete", "incomplete", "imported"):
        _refuse(f"the status is {head['status']}", place)
    if not isinstance(head["provenance"].get("configuration"), dict):
        _refuse("it does not say how it was configured", place)
    asked = tables["question"]["question"].to_pylist()
    if len(set(asked)) != len(asked):
        _refuse("a question stands twice in it", place)
    if set(tables["hit"]["question"].unique().to_pylist()) - set(asked):
        _refuse("it has hits of a question that it did not ask", place)
    for table in ("question", "hit", "chunk"):
        for column in ("question", "document", "version", "chunk"):
            if column in TABLES[table]:
                _check_ids(tables[table][column].unique().to_pylist(), column, place)
    if len(tables["chunk"]) != head["eligible"]:
        _refuse("it does not hold every eligible chunk", place)
    hashes = tables["text"].to_pylist()
    if any(text_hash(row["text"]) != row["text_hash"] for row in hashes):
        _refuse("a text is not the one its hash speaks of", place)


def _check_ids(names: Iterable[str | None], what: str, place: str) -> None:
    for name in names:
        if name is None or fault_in_id(name):
            _refuse(f"a {what} id {fault_in_id(name or '')}", place)


def _refuse(message: str, place: str) -> None:
    raise InvalidInput(f"the file is not whole: {message}", place=place, remedy=_REMEDY)
