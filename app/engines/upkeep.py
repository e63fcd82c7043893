"""The store looked after: copied, looked through, relieved of executions, made compact."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import StoreError
from app.engines.store import LOCK_SECONDS, Row, Store, Unit

#: What belongs to an execution, in the order in which it goes.
_OWNED = (
    "delete_scores",
    "delete_scorings_done",
    "delete_hits",
    "delete_execution_questions",
    "delete_executions",
)
#: What may be needed by none afterwards, in the order in which it shows.
_SHARED = {
    "unneeded_label_sets": "label set",
    "label_questions_drop": None,
    "label_pairs_drop": None,
    "unneeded_scorings": "scoring",
    "unneeded_corpora": "corpus revision",
    "unneeded_corpus_chunks": None,
    "unneeded_texts": "text",
    "unneeded_chunks": "chunk",
    "unneeded_questions": "question",
}


@dataclass(frozen=True, slots=True)
class Table:
    """What a table is made of, and what it holds, as something to compare."""

    columns: str
    rows: int
    content: str


def tables(unit: Unit) -> dict[str, Table]:
    """Every table by name; reads every value, and raises what cannot be read."""
    found: dict[str, Table] = {}
    for row in unit.rows("store_tables"):
        (read,) = unit.rows("store_table_content", {"table": row["name"]})
        found[row["name"]] = Table(row["columns"], read["rows"], read["content"])
    return found


def schema_version(unit: Unit) -> int:
    """The version of the schema; 0 where there is none."""
    if not any(row["name"] == "schema_version" for row in unit.rows("store_tables")):
        return 0
    (row,) = unit.rows("schema_version_get")
    (version,) = row.values()
    return int(version)


@dataclass(frozen=True, slots=True)
class Copied:
    """A copy of the store: the rows of each table, and the schema's version."""

    rows: Mapping[str, int]
    schema: int


def copy_store(store: Store, target: Path) -> Copied:
    """Write a compact copy to `target`, and read it again; it holds what the store holds.

    Raises StoreError, also where the copy is not the same. Nobody else is inside meanwhile.
    """
    _clear(target)
    try:
        with store.alone(), store.work() as unit:
            return _copy(unit, target)
    except BaseException:
        _clear(target)
        raise


def _copy(unit: Unit, target: Path) -> Copied:
    before = tables(unit)
    unit.run("store_copy_attach", {"path": str(target)})
    try:
        unit.run("store_copy")
    finally:
        unit.run("store_copy_detach")
    with Store(target).look() as copy:
        if tables(copy) != before:
            raise StoreError(
                "the copy does not hold what the store holds",
                place=target.name,
                remedy="Check the disk, and the store: desk doctor",
            )
        return Copied({name: table.rows for name, table in before.items()}, schema_version(copy))


def _clear(path: Path) -> None:
    for one in (path, path.with_name(f"{path.name}.wal")):
        one.unlink(missing_ok=True)


def faults(unit: Unit) -> list[str]:
    """What does not fit together, a sentence each."""
    found = [
        f"{row['part']}: rows that point to nothing in {row['target']}: {row['rows']:,}"
        for row in unit.rows("integrity_refs")
    ]
    found += [
        f"{row['part']}: rows that are there more than once: {row['rows']:,}"
        for row in unit.rows("integrity_duplicates")
    ]
    for row in unit.rows("integrity_executions"):
        if not row["questions"]:
            found.append(f"the execution {row['id']} has no questions")
        else:
            beyond = f"hits for questions it does not have: {row['hits']:,}"
            found.append(f"the execution {row['id']} has {beyond}")
    found += [
        f"the corpus revision {row['revision'][:12]} of {row['collection']} has no chunks"
        for row in unit.rows("integrity_corpora")
    ]
    return found


def statuses(unit: Unit) -> list[Row]:
    """`collection`, `status` and the number of `executions`."""
    return unit.rows("store_statuses")


def room(unit: Unit) -> tuple[int, int]:
    """Bytes that are free inside the file, and all of them, once it is checkpointed."""
    (row,) = unit.rows("store_room")
    return int(row["free"]), int(row["total"])


def executions_beginning(store: Store, beginning: str) -> list[Row]:
    """Executions whose id begins so, with what belongs to each."""
    with store.work() as unit:
        return unit.rows("delete_found", {"beginning": beginning})


@dataclass(frozen=True, slots=True)
class Deleted:
    """What went besides the executions, by what it is; bytes free inside the file, and in all."""

    shared: Mapping[str, int]
    free: int
    total: int


def delete_executions(store: Store, ids: Sequence[str]) -> Deleted:
    """Delete executions and what only they needed, in one transaction; raises StoreError.

    Ids that are not there are passed over.
    """
    shared: dict[str, int] = {}
    with store.alone(), store.work() as unit:
        with unit.transaction():
            for name in _OWNED:
                unit.run(name, {"executions": list(ids)})
            for name, words in _SHARED.items():
                (row,) = unit.rows(name)
                if words is not None and row["Count"]:
                    shared[words] = row["Count"]
        unit.run("store_checkpoint")
        return Deleted(shared, *room(unit))


def compact(store: Store) -> None:
    """Rewrite the file without the room that is free inside.

    The copy is read again before it takes the file's place. While it does, this process holds the
    lock that DuckDB asks for; whoever opened the file a moment before finds that it is another one
    now, and opens that. Raises StoreError; the store is then as it was.
    """
    beside = store.path.with_name(f"{store.path.name}.compact-{os.getpid()}")
    for _ in range(3):
        with store.alone():
            try:
                with store.work() as unit:
                    unit.run("store_checkpoint")
                    seen = _stamp(store.path)
                    _clear(beside)
                    _copy(unit, beside)
                with _locked(store.path):
                    if _stamp(store.path) == seen:
                        _take_place(beside, store.path)
                        return
            finally:
                _clear(beside)
    raise StoreError(
        "other processes kept writing to the store; it was not made compact",
        place=f"data/{store.path.name}",
        remedy="Try again when they have ended",
    )


def _stamp(path: Path) -> tuple[int, int, int, bool]:
    """What tells a file from what it is after any change, also one that is in its `.wal` only."""
    status = path.stat()
    wal = path.with_name(f"{path.name}.wal").exists()
    return status.st_ino, status.st_size, status.st_mtime_ns, wal


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock DuckDB asks for, while DuckDB has the file closed."""
    descriptor = os.open(path, os.O_RDWR)
    try:
        until = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > until:
                    raise StoreError(
                        f"another process has held the store for {LOCK_SECONDS:.0f} s",
                        place=f"data/{path.name}",
                        remedy="Wait for it to end or stop it, then try again",
                    ) from error
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _take_place(beside: Path, path: Path) -> None:
    shutil.copymode(path, beside)
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
