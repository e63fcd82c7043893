"""The vector cache: one SQLite file per embedder, keyed by the hash of the text embedded.

The text is the rendered template, so one key stands for (template, title, chunk text). Each
batch is committed: what a crash leaves is whole, and the next run goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.core.errors import EngineError
from app.core.text import normalise
from app.engines.embedding import Embedded, Vectors
from app.engines.sql import statement


def vector_key(rendered: str) -> str:
    """The key of a text to embed."""
    return hashlib.sha256(normalise(rendered).encode()).hexdigest()


@dataclass(frozen=True)
class VectorCache:
    """Vectors of one embedder, by the text they stand for."""

    path: Path

    @classmethod
    def of(cls, folder: Path, digest: str) -> VectorCache:
        """The cache of an embedder's digest in a collection's vector folder."""
        return cls(folder / f"{hashlib.sha256(digest.encode()).hexdigest()[:16]}.sqlite")

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(self.path, timeout=30)) as connection:
                connection.execute("pragma journal_mode=wal")
                connection.execute(statement("vectors_schema"))
                with connection:
                    yield connection
        except sqlite3.Error as error:
            raise EngineError(
                f"the vector cache cannot be used: {error}",
                place=f"{self.path.parent.name}/{self.path.name}",
                remedy="Remove the file and run desk index again: it only holds what can be remade",
            ) from error

    def add(self, keys: Sequence[str], embedded: Embedded) -> None:
        """Keep vectors, durably."""
        rows = [
            (key, vector.tobytes(), int(cut))
            for key, vector, cut in zip(keys, embedded.vectors, embedded.cut, strict=True)
        ]
        with self._open() as connection:
            connection.executemany(statement("vectors_add"), rows)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Those of the keys that have no vector yet, each once, in order."""
        wanted = list(dict.fromkeys(keys))
        with self._open() as connection:
            known = {key for (key,) in connection.execute(*_bound("vectors_known", wanted))}
        return [key for key in wanted if key not in known]

    def load(self, keys: Sequence[str], dimension: int) -> tuple[Vectors, list[bool]] | None:
        """Vectors [keys, dimension] and whether each text was cut; None if one is missing."""
        with self._open() as connection:
            rows = connection.execute(*_bound("vectors_load", keys))
            found = {key: (blob, cut) for key, blob, cut in rows}
        if any(key not in found or len(found[key][0]) != 4 * dimension for key in keys):
            return None
        joined = b"".join(found[key][0] for key in keys)
        vectors = np.frombuffer(joined, dtype=np.float32).reshape(len(keys), dimension)
        return vectors, [bool(found[key][1]) for key in keys]


def _bound(name: str, keys: Sequence[str]) -> tuple[str, tuple[str]]:
    """A statement and its one parameter, the keys as a JSON list."""
    return statement(name), (json.dumps(list(keys)),)
