"""Sync: read what a foreign Qdrant collection holds into the catalogue here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from app.core.catalogue import POINTS, SYNC, Dense, Sync, as_file, host_of
from app.core.errors import InvalidInput, NotReady, Problem
from app.core.files import on_disk, replacing
from app.core.judgments import now
from app.flows.cataloguing import Changes, Reader, lines_of
from app.flows.indexing import IndexReport, index
from app.flows.progress import Progress, exclusively, marked, silent
from app.flows.wording import count
from app.workspace import Collection

if TYPE_CHECKING:
    from app.engines.qdrant_calls import Connection
    from app.engines.qdrant_source import Shape


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What one sync found, and what has changed since the one before."""

    collection: str
    sync: Sync
    eligible: int
    new: int
    changed: int
    removed: int
    notices: tuple[str, ...]


def sync(collection: Collection, progress: Progress = silent) -> SyncReport:
    """Read every point of a foreign collection into the catalogue; changes nothing there.

    The catalogue is as it was until all is read. Memory does not grow with texts or vectors, only
    by a hash per point. Raises InvalidInput for a collection that is not foreign, lacks a vector
    or has points that cannot be chunks, EngineError for a server that fails.
    """
    from app.engines.qdrant_source import pages, shape_of
    from app.flows.serving import connection_of

    settings, name = collection.settings, collection.name
    if not settings.foreign:
        raise InvalidInput(
            f"the texts of {name} are files here, there is nothing to sync",
            place=f"data/{name}/collection.toml",
            remedy=f"Index them: desk index {name}",
        )
    connection, of = connection_of(collection), str(settings.source.collection)
    shape = shape_of(connection, of)
    _require_vectors(collection, shape)
    total = _count(connection, of)
    reader, path = Reader(settings), collection.catalogue / POINTS
    place = f"data/{name}/catalogue"
    told = marked(collection.workspace.running, f"Syncing {name}", "The catalogue is as it was")
    with on_disk("the catalogue cannot be written", place, "Make room, or mend the permissions"):
        collection.catalogue.mkdir(parents=True, exist_ok=True)
        with (
            exclusively(collection.catalogue / "sync.lock", f"syncing {name}", place),
            told as found,
            # Inside out, the points take their place before the note about them: where a crash
            # comes between, the older note fits neither new settings nor another number of points.
            replacing(collection.catalogue / SYNC) as note_beside,
            replacing(path) as beside,
        ):
            _clear(collection.catalogue, beside)
            with closing(lines_of(path)) as before, beside.open("wb") as file:
                changes, read = Changes(before), 0
                for page in pages(connection, of, reader.fields):
                    for point, payload in page:
                        line = reader.line(point, payload)
                        changes.take(point, line)
                        file.write(line or b"")
                    read += len(page)
                    progress(f"Syncing {name}", read, max(total, read))
                changes.end()
                _settle(file)
            _require_chunks(reader, collection, of)
            doubts = list(_doubts(connection, collection, of, read, reader.eligible))
            made = Sync(
                format=1,
                collection=of,
                host=host_of(str(settings.qdrant_url)),
                points=read,
                catalogued=reader.catalogued,
                left_out=reader.left_out,
                dense={
                    one: Dense(size=size, distance=distance)
                    for one, (size, distance) in shape.dense.items()
                },
                sparse=list(shape.sparse),
                mapping=settings.mapping,
                synced=now(),
            )
            with note_beside.open("wb") as file:
                file.write(as_file(made).encode())
                _settle(file)
    return SyncReport(
        name,
        made,
        reader.eligible,
        changes.new,
        changes.changed,
        changes.removed,
        (*found, *doubts),
    )


def _clear(folder: Path, beside: Path) -> None:
    """Remove what a sync left that was killed; the lock says that none goes on."""
    for path in folder.glob(f".{POINTS}.*"):
        if path != beside:
            path.unlink(missing_ok=True)


def _settle(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _count(connection: Connection, name: str, wanted: Any = None) -> int:
    return connection.call(
        "counting points",
        lambda: connection.client.count(name, count_filter=wanted, exact=True),
    ).count


def _require_vectors(collection: Collection, shape: Shape) -> None:
    """Raise InvalidInput where a configuration searches by a vector that is not there."""
    from app.flows.serving import lacking

    source, problems = collection.settings.source, []
    for configuration in collection.settings.configurations.values():
        mode = configuration.mode
        if mode in ("dense", "hybrid") and (source.vector or "") not in shape.dense:
            missing = lacking(collection, "vector", source.vector, list(shape.dense))
            if (source.vector or "") in shape.several:
                there = f"{missing.message}; {source.vector or 'the unnamed one'} has several a "
                missing = replace(missing, message=f"{there}point, which are not searched here")
            problems.append(missing)
        if mode in ("sparse", "hybrid") and source.sparse_vector not in shape.sparse:
            problems.append(
                lacking(collection, "sparse_vector", source.sparse_vector, shape.sparse)
            )
    if problems:
        raise InvalidInput.of(dict.fromkeys(problems))


def _require_chunks(reader: Reader, collection: Collection, of: str) -> None:
    """Raise InvalidInput where points cannot be chunks, or there is none."""
    if reader.problems:
        problems = list(reader.problems)
        if (more := reader.refused - len(problems)) > 0:
            problems.append(Problem(f"and {count(more, 'more point')} like these", of))
        raise InvalidInput.of(problems)
    if not reader.catalogued:
        raise InvalidInput(
            f"{of} has no point with a chunk's text and ids",
            place=f"data/{collection.name}/collection.toml",
            remedy="Correct source.fields, or fill the collection",
        )


def _doubts(
    connection: Connection, collection: Collection, of: str, read: int, eligible: int
) -> Iterator[str]:
    """What will keep `evaluate` from running."""
    from app.engines.qdrant_requests import Layout, filter_of

    passing = _count(connection, of, filter_of(collection.settings.filters, Layout(literal=True)))
    points = _count(connection, of)
    if (points, passing) != (read, eligible):
        yield (
            f"{of} changed while it was read, or reads its filter otherwise: it has {points:,} "
            f"points, {passing:,} of them eligible; read were {read:,} and {eligible:,}. Sync it "
            "again."
        )


def prepare(
    collection: Collection, progress: Progress = silent
) -> Sequence[IndexReport | SyncReport]:
    """What must be done before a collection can be searched.

    Its own texts are indexed. A foreign collection is synced where that was never done under
    these settings: reading it anew is for `desk sync`.
    """
    if not collection.settings.foreign:
        return index(collection, progress=progress)
    try:
        collection.sync()
    except NotReady:
        return [sync(collection, progress)]
    return []
