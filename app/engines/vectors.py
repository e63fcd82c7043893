"""The vector cache: one SQLite file per embedder, keyed by the hash of the text embedded.

The text is the rendered template, so one key stands for (template, title, chunk text). Each
batch is committed: what a crash leaves is whole, and the next run goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

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
            raise self._broken(str(error)) from error

    def _broken(self, reason: str) -> EngineError:
        return EngineError(
            f"the vector cache cannot be used: {reason}",
            place=f"{self.path.parent.name}/{self.path.name}",
            remedy="Remove the file and run desk index again: it only holds what can be remade",
        )

    def add(self, keys: Sequence[str], embedded: Embedded) -> None:
        """Keep vectors, durably."""
        with self.adding() as add:
            add(keys, embedded)

    @contextmanager
    def adding(self) -> Iterator[Callable[[Sequence[str], Embedded], None]]:
        """The same for batch after batch, without opening the file for each."""
        with self._open() as connection:

            def add(keys: Sequence[str], embedded: Embedded) -> None:
                connection.executemany(
                    statement("vectors_add"),
                    [
                        (key, vector.tobytes(), int(cut))
                        for key, vector, cut in zip(
                            keys, embedded.vectors, embedded.cut, strict=True
                        )
                    ],
                )
                connection.commit()

            yield add

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

    def cut(self, keys: Sequence[str]) -> list[bool]:
        """Whether each text was longer than the embedder reads."""
        with self._open() as connection:
            found = {key for (key,) in connection.execute(*_bound("vectors_cut", keys))}
        return [key in found for key in keys]

    @property
    def files(self) -> list[Path]:
        """The file, and what SQLite keeps beside it."""
        names = (self.path.name + end for end in ("", "-wal", "-shm"))
        return [path for path in map(self.path.with_name, names) if path.exists()]

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return sum(path.stat().st_size for path in self.files)

    def unneeded(self, keys: Iterable[str]) -> tuple[int, int]:
        """How many vectors are not of these keys, and how many there are."""
        with self._open() as connection:
            ((unneeded, rows),) = connection.execute(*_bound("vectors_unneeded", list(keys)))
        return int(unneeded), int(rows)

    def keep_only(self, keys: Iterable[str]) -> None:
        """Remove every vector that is not of these keys, and give its room back."""
        with self._open() as connection:
            connection.execute(*_bound("vectors_drop", list(keys)))
            connection.commit()
            connection.execute("vacuum")
            connection.execute("pragma wal_checkpoint(truncate)")

    def remove(self) -> None:
        """Remove the file with what is beside it."""
        for path in self.files:
            path.unlink(missing_ok=True)

    def look(self) -> frozenset[str]:
        """The keys of a file that is whole, read without making or changing anything.

        Raises EngineError. What is still in the `-wal` file is read from a copy.
        """
        try:
            with self._looked_at() as uri, closing(sqlite3.connect(uri, uri=True)) as connection:
                (found,) = connection.execute("pragma quick_check(1)").fetchone()
                if found != "ok":
                    raise self._broken(str(found).splitlines()[-1])
                return frozenset(key for (key,) in connection.execute(statement("vectors_keys")))
        except sqlite3.Error as error:
            raise self._broken(str(error)) from error
        except OSError as error:
            raise self._broken(error.strerror or str(error)) from error

    @contextmanager
    def _looked_at(self) -> Iterator[str]:
        wal = self.path.with_name(f"{self.path.name}-wal")
        if not wal.exists() or not wal.stat().st_size:
            yield f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
            return
        with TemporaryDirectory() as folder:
            for path in (wal, self.path):
                shutil.copyfile(path, Path(folder) / path.name)
            yield (Path(folder) / self.path.name).as_uri()


def _bound(name: str, keys: Sequence[str]) -> tuple[str, tuple[str]]:
    """A statement and its one parameter, the keys as a JSON list."""
    return statement(name), (json.dumps(list(keys)),)
