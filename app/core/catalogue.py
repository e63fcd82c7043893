"""The catalogue of a foreign collection: which chunks it held when it was last synced.

`catalogue/points.jsonl` has one line per point in the order of point ids, `catalogue/sync.json`
says what was read, when and by which mapping. Both are made by a sync and ignored by git.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from app.core.errors import NotReady
from app.core.files import replace_file
from app.core.validation import Record

POINTS = "points.jsonl"
_SYNC = "sync.json"


class Dense(Record):
    """A dense vector of the collection."""

    size: int
    distance: str


class Sync(Record):
    """What the last sync found.

    `points` are all points there were, `catalogued` those with a chunk's text and ids, `left_out`
    those without, which the filter keeps out. `dense` and `sparse` are the vectors by name, the
    unnamed one by an empty name. `mapping` is a hash of the settings it was read by.
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


def write_sync(folder: Path, sync: Sync) -> None:
    """Keep what a sync found, whole or not at all."""
    replace_file(folder / _SYNC, json.dumps(sync.model_dump(), indent=2, ensure_ascii=False) + "\n")


def read_sync(folder: Path, collection: str) -> Sync | None:
    """What the last sync found, None where there was none; raises NotReady for a damaged file."""
    path = folder / _SYNC
    try:
        return Sync.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise NotReady(
            "what the last sync found cannot be read",
            place=f"data/{collection}/{folder.name}/{_SYNC}",
            remedy=f"Sync it again: desk sync {collection}",
        ) from error


def require_sync(folder: Path, collection: str, of: str, mapping: str) -> Sync:
    """What the last sync found; raises NotReady where there was none or the mapping is another."""
    found, remedy = read_sync(folder, collection), f"Sync it: desk sync {collection}"
    if found is None:
        raise NotReady(f"{collection} has no catalogue of {of} yet", remedy=remedy)
    if found.mapping != mapping:
        raise NotReady(
            f"[source] or [eligible] of {collection} has changed since it was synced",
            place=f"data/{collection}/collection.toml",
            remedy=remedy,
        )
    return found
