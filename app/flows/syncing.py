"""Sync: read what a foreign Qdrant collection holds into the catalogue here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from app.core.catalogue import POINTS, Dense, Sync, write_sync
from app.core.errors import InvalidInput, NotReady, Problem
from app.core.files import on_disk, replacing
from app.core.judgments import now
from app.engines.qdrant_calls import Connection
from app.engines.qdrant_requests import Layout, filter_of
from app.engines.qdrant_source import Shape, pages, shape_of
from app.flows.cataloguing import Changes, Reader, lines_of
from app.flows.filling import connection_of, lacking
from app.flows.indexing import IndexReport, index
from app.flows.progress import Progress, exclusively, marked, silent
from app.flows.wording import count
from app.workspace import Collection


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
    with on_disk("the catalogue cannot be written", place, "Make room, or mend the permissions"):
        collection.catalogue.mkdir(parents=True, exist_ok=True)
    told = marked(collection.workspace.running, f"Syncing {name}", "The catalogue is as it was")
    with exclusively(collection.catalogue / "sync.lock", f"syncing {name}", place), told as found:
        with closing(lines_of(path)) as before, replacing(path) as beside:
            changes, read = Changes(before), 0
            with (
                on_disk("the catalogue cannot be written", place, "Make room, then sync again"),
                beside.open("wb") as file,
            ):
                for page in pages(connection, of, reader.fields):
                    for point, payload in page:
                        line = reader.line(point, payload)
                        changes.take(point, line)
                        file.write(line or b"")
                    read += len(page)
                    progress(f"Syncing {name}", read, max(total, read))
                changes.end()
                file.flush()
                os.fsync(file.fileno())
            _require_chunks(reader, collection, of)
        made = Sync(
            format=1,
            collection=of,
            host=connection.server.host if connection.server else "",
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
        write_sync(collection.catalogue, made)
    return SyncReport(
        name,
        made,
        reader.eligible,
        changes.new,
        changes.changed,
        changes.removed,
        (*found, *_doubts(connection, collection, made, reader.eligible)),
    )


def _count(connection: Connection, name: str) -> int:
    return connection.call(
        "counting points", lambda: connection.client.count(name, exact=True)
    ).count


def _require_vectors(collection: Collection, shape: Shape) -> None:
    """Raise InvalidInput where a configuration searches by a vector that is not there."""
    source, problems = collection.settings.source, []
    for configuration in collection.settings.configurations.values():
        mode = configuration.mode
        if mode in ("dense", "hybrid") and (source.vector or "") not in shape.dense:
            problems.append(lacking(collection, "vector", source.vector, list(shape.dense)))
            if source.vector in shape.several:
                several = (
                    f"{source.vector} has several vectors a point, which are not searched here"
                )
                problems.append(Problem(several, str(source.collection), "Name another vector"))
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
    connection: Connection, collection: Collection, made: Sync, eligible: int
) -> Iterator[str]:
    """What will keep `evaluate` from running, or deserves a look before labels are spent."""
    layout = Layout(literal=True)
    wanted = filter_of(collection.settings.filters, layout)
    passing = connection.call(
        "counting points",
        lambda: connection.client.count(made.collection, count_filter=wanted, exact=True),
    ).count
    points = _count(connection, made.collection)
    if (points, passing) != (made.points, eligible):
        yield (
            f"{made.collection} changed while it was read, or reads its filter otherwise: it has "
            f"{points:,} points, {passing:,} of them eligible; read were {made.points:,} and "
            f"{eligible:,}. Sync it again."
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
