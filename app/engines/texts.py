"""The archive of texts that labels were given for: one SQLite file per collection, by text hash.

A label remembers the hash of its text alone. When the text changes, this is where the one that was
judged is still to be read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.errors import EngineError
from app.engines.sql import statement
from app.engines.store import Store


@dataclass(frozen=True)
class Texts:
    """Texts by their hash. Opened for each call; safe for threads and between processes.

    Without `retain` nothing is kept and nothing is given out.
    """

    path: Path
    retain: bool

    @classmethod
    def of(cls, folder: Path, *, retain: bool) -> Texts:
        """The archive in a collection's folder of vectors, whose caches end with `.sqlite`."""
        return cls(folder / "texts.db", retain)

    def add(self, texts: Mapping[str, str]) -> int:
        """Keep those that are not there yet, durably; returns how many.

        Raises EngineError where the file cannot be used.
        """
        if not texts or not self.retain:
            return 0
        missing = [(name, texts[name]) for name in self._missing(texts)]
        if missing:
            with self._open() as connection, connection:
                connection.executemany(statement("kept_texts_add"), missing)
        return len(missing)

    def get(self, hashes: Iterable[str]) -> dict[str, str]:
        """Those of the texts that are kept; raises EngineError where the file cannot be used."""
        wanted = json.dumps(sorted(set(hashes)))
        if wanted == "[]" or not self.retain or not self._there():
            return {}
        with self._open() as connection:
            return dict(connection.execute(statement("kept_texts_get"), (wanted,)))

    def known(self) -> frozenset[str]:
        """The hashes of all texts there are, read without making or changing anything.

        Raises EngineError where the file is damaged or cannot be reached.
        """
        if not self._there():
            return frozenset()
        uri = f"{self.path.resolve().as_uri()}?mode=ro"
        with self._ours(), closing(sqlite3.connect(uri, uri=True, timeout=30)) as connection:
            (found,) = connection.execute("pragma quick_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(str(found).splitlines()[-1])
            return frozenset(name for (name,) in connection.execute(statement("kept_texts_known")))

    def keep_only(self, hashes: Iterable[str]) -> None:
        """Remove every other text, and give its room back; raises EngineError."""
        with self._open() as connection:
            with connection:
                connection.execute(statement("kept_texts_drop"), (json.dumps(list(hashes)),))
            connection.execute("vacuum")

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return self.path.stat().st_size if self.path.exists() else 0

    def _missing(self, texts: Mapping[str, str]) -> list[str]:
        with self._open() as connection:
            wanted = json.dumps(list(texts))
            there = {name for (name,) in connection.execute(statement("kept_texts_has"), (wanted,))}
        return [name for name in texts if name not in there]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._ours():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=30)) as connection:
                connection.execute(statement("kept_texts_schema"))
                yield connection

    def _there(self) -> bool:
        with self._ours():
            return self.path.exists()

    @contextmanager
    def _ours(self) -> Iterator[None]:
        """What SQLite and the disk say, in our words."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise EngineError(
                f"the archive of judged texts cannot be used: {error}",
                place=f"{self.path.parent.name}/{self.path.name}",
                remedy="Move the file away, or make its folder writable: labels count without it, "
                "only what their texts were before a change is not shown",
            ) from error


def texts_of_executions(store: Store, hashes: Iterable[str]) -> dict[str, str]:
    """Those of the texts that the store of executions has, asked for by hash and nothing else.

    Makes no store where there is none. Raises StoreError.
    """
    wanted = sorted(set(hashes))
    if not wanted or not store.path.exists():
        return {}
    with store.work() as unit:
        rows = unit.rows("texts_by_hash", {"hashes": wanted})
    return {row["text_hash"]: row["text"] for row in rows}
