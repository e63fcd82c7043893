"""The catalogue of a foreign collection: which chunks it held when it was last synced.

`catalogue/points.jsonl` has one line per point in the order of point ids, `catalogue/sync.json`
says what was read, when and by which mapping. Both are made by a sync and ignored by git.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import ValidationError

from app.core.errors import NotReady
from app.core.validation import Record

POINTS = "points.jsonl"
SYNC = "sync.json"


class Dense(Record):
    """A dense vector of the collection."""

    size: int
    distance: str


class Sync(Record):
    """What the last sync found.

    `points` are all points there were, `catalogued` those with a chunk's text and ids, `left_out`
    those without, or with those of another point, which the filter keeps out. `dense` and `sparse`
    are the vectors by name, the unnamed one by an empty name. `mapping` is a hash of the settings
    it was read by.
    """

    format: Literal[1]
    collection: str
    host: str
    points: int
    catalogued: int
    left_out: int
    dense: dict[str, Dense]
    sparse: list[str]
    mapping: str
    synced: str

    def has(self, dense: Mapping[str, tuple[int, str]], sparse: Sequence[str]) -> bool:
        """Whether these are the vectors of then: dimension and distance by name, sparse names."""
        then = {name: (one.size, one.distance) for name, one in self.dense.items()}
        return (then, sorted(self.sparse)) == (dict(dense), sorted(sparse))


def as_file(sync: Sync) -> str:
    """What `SYNC` holds."""
    return json.dumps(sync.model_dump(), indent=2, ensure_ascii=False) + "\n"


def read_sync(folder: Path, collection: str) -> Sync | None:
    """What the last sync found, None where there was none; raises NotReady for a damaged file."""
    path = folder / SYNC
    try:
        return Sync.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise NotReady(
            "what the last sync found cannot be read",
            place=f"data/{collection}/{folder.name}/{SYNC}",
            remedy=f"Sync it again: desk sync {collection}",
        ) from error


def host_of(url: str) -> str:
    """Host, port and path of an address, as messages and provenance name a server."""
    parts = urlsplit(url)
    return f"{parts.netloc}{parts.path}".rstrip("/")


def require_sync(folder: Path, collection: str, of: str, url: str, mapping: str) -> Sync:
    """What the last sync found.

    Raises NotReady where there was none, or server or mapping are others now: collections of one
    name on two servers may hold as many points, and other texts.
    """
    found, remedy = read_sync(folder, collection), f"Sync it: desk sync {collection}"
    if found is None:
        raise NotReady(f"{collection} has no catalogue of {of} yet", remedy=remedy)
    changed = (
        "[source] or [eligible]"
        if found.mapping != mapping
        else "qdrant_url"
        if found.host != host_of(url)
        else None
    )
    if changed:
        raise NotReady(
            f"{changed} of {collection} has changed since it was synced",
            place=f"data/{collection}/collection.toml",
            remedy=remedy,
        )
    return found
