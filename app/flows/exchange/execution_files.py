"""An execution as one file, Parquet or JSON, that another workspace takes in.

The file has all that is stored of an execution and of the corpus it was run on: what was asked,
every hit, the eligible chunks with their hashes, and their texts unless they are not retained.
Scores are not in it: they belong to labels, which travel in the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.core.errors import InvalidInput
from app.core.files import replace_file, replacing
from app.core.questions import Id, Text
from app.core.validation import Record, problems_in
from app.engines import execution_files
from app.engines.execution_files import Contents
from app.engines.store import Store
from app.flows.exchange.execution_checks import fault_in
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


Count = Annotated[int, Field(ge=0, le=2**31 - 1)]


class _Configuration(BaseModel):
    """What is read of how an execution was configured."""

    model_config = ConfigDict(strict=True)
    mode: str
    threshold: float | int | None = None


class _Provenance(BaseModel):
    """What is read of where an execution comes from; whatever else it says is kept as it is."""

    model_config = ConfigDict(strict=True)
    configuration: _Configuration
    depth: Count
    checks: dict[str, Any] = {}
    run: dict[str, Any] = {}
    filters: dict[str, Any] = {}
    embedder: dict[str, Any] | None = None
    engine: dict[str, Any] | None = None
    retain_text: bool = True


class _Head(Record):
    """What is said of an execution once."""

    format: Literal[1]
    execution: Id
    collection: Id
    configuration: Id
    fingerprint: Id
    status: Literal["complete", "incomplete", "imported"]
    corpus_revision: Id
    points: Count
    eligible: Count
    started: Text
    finished: Text
    provenance: dict[str, Any]


def export_execution(store: Store, execution: str, path: Path, *, retain_text: bool = True) -> int:
    """Write an execution as Parquet, or as JSON where the name ends so; the number of hits.

    Texts are in it only with `retain_text`, and if the execution was stored with them.
    """
    contents = execution_files.read(store, execution)
    if not retain_text:
        contents = contents.without_texts()
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
    with replacing(path) as beside, pq.ParquetWriter(beside, schema, compression="zstd") as writer:
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


def import_execution(
    collection: Collection, path: Path, *, dry_run: bool = False, skip_refused: bool = False
) -> Outcome:
    """Take an execution from a file; one that is there already is left as it is.

    It keeps its id, and belongs to this collection whatever it was called where it was run.
    Raises InvalidInput where the file is no execution, or the id is taken by another one.
    """
    contents = _read(path)
    if not collection.settings.retain_text:
        contents = contents.without_texts()
    head = contents.head
    found = Outcome(f"hits of an execution of {collection.name}", path.name)
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
            value = json.loads(path.read_bytes(), parse_constant=_no_constant)
            head, tables = value["head"], _from_json(value)
        else:
            whole = pq.read_table(path)
            said = (whole.schema.metadata or {})[b"desk"]
            head = json.loads(said, parse_constant=_no_constant)
            tables = _from_table(whole)
        version = head["format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, pa.ArrowException) as error:
        raise InvalidInput(
            "the file is not an exported execution", place=path.name, remedy=_REMEDY
        ) from error
    if isinstance(version, int) and version != 1:
        raise InvalidInput(
            f"the file has format {version}, not 1", place=path.name, remedy="Update the program"
        )
    try:
        _Head.model_validate(head)
        _Provenance.model_validate(head["provenance"])
    except ValidationError as error:
        found = problems_in(error, path.name, _Head.model_fields, _REMEDY)
        raise InvalidInput.of(found[:1]) from error
    if fault := fault_in(head, tables):
        raise InvalidInput(f"the file is not whole: {fault}", place=path.name, remedy=_REMEDY)
    return Contents(head, tables)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _from_json(value: Mapping[str, Any]) -> dict[str, pa.Table]:
    return {
        name: pa.table(
            dict(
                zip(
                    columns,
                    map(pa.array, _columns(value[name], len(columns)), columns.values()),
                    strict=True,
                )
            )
        )
        for name, columns in TABLES.items()
    }


def _columns(rows: Any, width: int) -> list[list[Any]]:
    """Rows turned into columns; raises ValueError where one is too short or too long."""
    if any(not isinstance(row, list) or len(row) != width for row in rows):
        raise ValueError("a row is not as wide as the table")
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]


def _from_table(whole: pa.Table) -> dict[str, pa.Table]:
    tables = {}
    for name, columns in TABLES.items():
        if any(whole.schema.field(column).type != kind for column, kind in columns.items()):
            raise ValueError("a column is of another type")
        tables[name] = whole.filter(pc.equal(whole["kind"], name)).select(list(columns))
    return tables
