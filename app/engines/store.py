"""The DuckDB file: opened for a unit of work, shared by the threads of a process.

One instance per process, a cursor per unit of work, closed when the last leaves, because while
one process has the file open no other can. A turnstile keeps a busy process from starving
others: once the file has been busy for 2 s nobody new is admitted until it has closed and
stayed closed for 50 ms.
"""

from __future__ import annotations

import random
import re
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from app.core.errors import StoreCorrupt, StoreError, StoreLocked, StoreNewer
from app.engines.sql import statement

BUSY_SECONDS = 2.0
PAUSE_SECONDS = 0.05
LOCK_SECONDS = 10.0
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # Every other extension is a download, which a closed network only fails after seconds.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
Row = dict[str, Any]


def migrations() -> list[str]:
    """The SQL of every schema version, in order; version n is what the first n give."""
    folder = resources.files("app.engines.sql") / "migrations"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in files]


class Unit:
    """What can be done inside a unit of work; statements are named files."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        """Belongs to one thread."""
        self._cursor = cursor

    def rows(self, name: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Every row of a statement, as dicts."""
        result = self._cursor.execute(statement(name), dict(parameters or {}))
        columns = [column[0] for column in result.description or []]
        return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]

    def run(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        incoming: Sequence[Row] | None = None,
    ) -> None:
        """A statement without a result; `incoming` rows are there as the table `incoming`."""
        if incoming is None:
            self._cursor.execute(statement(name), dict(parameters or {}))
        elif incoming:
            self._cursor.register("incoming", pa.Table.from_pylist(list(incoming)))
            try:
                self._cursor.execute(statement(name), dict(parameters or {}))
            finally:
                self._cursor.unregister("incoming")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, also after kill -9."""
        self._cursor.begin()
        try:
            yield
        except BaseException:
            self._cursor.rollback()
            raise
        self._cursor.commit()


class Store:
    """The file with the executions. Use `Store.at`, so that a process has one per path."""

    _stores: dict[Path, Store] = {}
    _registry = threading.Lock()

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet."""
        self.path = path
        self._place = f"{path.parent.name}/{path.name}"
        self._condition = threading.Condition()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._users = 0
        self._busy_since = 0.0
        self._closed_at = float("-inf")
        self._inside = threading.local()
        self._migrated: int | None = None

    @classmethod
    def at(cls, path: Path) -> Store:
        """The store of this process for a path."""
        with cls._registry:
            return cls._stores.setdefault(path.resolve(), cls(path.resolve()))

    @contextmanager
    def work(self) -> Iterator[Unit]:
        """A unit of work; nested ones of a thread share its admission.

        Raises StoreLocked, StoreCorrupt, StoreNewer, or StoreError for what fails inside.
        """
        connection = self._enter()
        try:
            cursor = connection.cursor()
            try:
                yield Unit(cursor)
            except duckdb.Error as error:
                raise self._ours(error) from error
            finally:
                cursor.close()
        finally:
            self._leave()

    def _enter(self) -> duckdb.DuckDBPyConnection:
        depth = getattr(self._inside, "depth", 0)
        with self._condition:
            while depth == 0 and not self._admits():
                self._condition.wait(PAUSE_SECONDS)
            if self._connection is None:
                opened = time.monotonic()
                if opened - self._closed_at >= PAUSE_SECONDS:
                    self._busy_since = opened
                self._connection = self._open()
            self._users += 1
            self._inside.depth = depth + 1
            return self._connection

    def _admits(self) -> bool:
        """Whether a newcomer may enter: not once the file has been busy for too long."""
        now = time.monotonic()
        if self._connection is None:
            was_busy = self._closed_at - self._busy_since > BUSY_SECONDS
            return not was_busy or now - self._closed_at >= PAUSE_SECONDS
        return now - self._busy_since <= BUSY_SECONDS

    def _leave(self) -> None:
        with self._condition:
            self._inside.depth -= 1
            self._users -= 1
            if self._users == 0 and self._connection is not None:
                self._connection.close()
                self._connection = None
                self._closed_at = time.monotonic()
            self._condition.notify_all()

    def _open(self) -> duckdb.DuckDBPyConnection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connect()
        inode = self.path.stat().st_ino
        if self._migrated != inode:  # another file: the first time, or a backup was put in place
            connection = self._migrate(connection)
            self._migrated = self.path.stat().st_ino
        return connection

    def _connect(self) -> duckdb.DuckDBPyConnection:
        until = time.monotonic() + LOCK_SECONDS
        pause = 0.005
        while True:
            try:
                return duckdb.connect(str(self.path), config=_CONFIG)
            except duckdb.Error as error:
                if "lock on file" not in str(error):
                    raise self._ours(error) from error
                if time.monotonic() > until:
                    raise self._locked(error) from error
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(pause * 1.5, 0.03)

    def _locked(self, error: duckdb.Error) -> StoreLocked:
        holder = re.search(r"held in (.+?) \(PID (\d+)\)", str(error))
        who = f"process {holder[2]} ({Path(holder[1]).name})" if holder else "another process"
        return StoreLocked(
            f"{who} has held the store for {LOCK_SECONDS:.0f} s",
            place=self._place,
            remedy="Wait for it to end or stop it, then try again",
        )

    def _ours(self, error: duckdb.Error) -> StoreError:
        text = str(error).splitlines()[0]
        if re.search(r"not a valid DuckDB|corrupt|checksum|deserializ|Serialization", str(error)):
            return StoreCorrupt(
                "the file is not a readable store",
                place=self._place,
                remedy="Put a backup in its place, or move it away: labels are kept elsewhere and "
                "executions can be run again",
            )
        if re.search(r"newer|storage version|version number", str(error)):
            return self._newer("a newer version of DuckDB")
        return StoreError(
            f"the store failed: {text}",
            place=self._place,
            remedy="Check the disk's space and permissions; data/desk.log has the details",
        )

    def _newer(self, what: str) -> StoreNewer:
        return StoreNewer(
            f"the store was written by {what}",
            place=self._place,
            remedy="Update: pip install --upgrade relevance-desk",
        )

    def _migrate(self, connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
        """Bring the schema up to date, after a copy of a store that had an older one."""
        wanted = migrations()
        try:
            found = self._version(connection, len(wanted))
            if 0 < found < len(wanted):
                # Copying an open file would drop this process's lock on it.
                connection.close()
                beside = self.path.with_name(f"{self.path.name}.before-{found + 1}")
                shutil.copy2(self.path, beside)
                connection = self._connect()
                # Another process may have come first.
                found = self._version(connection, len(wanted))
            if found < len(wanted):
                connection.begin()
                for number, text in enumerate(wanted[found:], start=found + 1):
                    connection.execute(text)
                    connection.execute(statement("schema_version_set"), {"version": number})
                connection.commit()
                connection.execute("checkpoint")
        except duckdb.Error as error:
            connection.close()
            raise self._ours(error) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: duckdb.DuckDBPyConnection, known: int) -> int:
        found = _schema_version(connection)
        if found > known:
            raise self._newer(f"a newer version of this program (schema {found})")
        return found


def _schema_version(connection: duckdb.DuckDBPyConnection) -> int:
    connection.execute(statement("schema_version_table"))
    row = connection.execute(statement("schema_version_get")).fetchone()
    return int(row[0]) if row else 0
