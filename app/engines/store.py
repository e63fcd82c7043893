"""The DuckDB file: opened for a unit of work, shared by the threads of a process.

One instance per process, a cursor per unit of work, closed when the last leaves, because while
one process has the file open no other can. A turnstile keeps a busy process from starving
others: once the file has been busy for 2 s nobody new is admitted until it has closed and
stayed closed for 50 ms.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import pyarrow as pa
from numpy.typing import NDArray

from app.engines.opening import patiently
from app.engines.sql import statement
from app.engines.store_errors import newer, ours

BUSY_SECONDS = 2.0
PAUSE_SECONDS = 0.05
LOCK_SECONDS = 10.0
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # Every other extension is a download, which a closed network only fails after seconds.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
Row = dict[str, Any]
#: Rows from outside: records, or an Arrow table for many of them.
Incoming: TypeAlias = "Sequence[Row] | pa.Table"


def migrations() -> list[str]:
    """The SQL of every schema version, in order; version n is what the first n give."""
    folder = resources.files("app.engines.sql") / "migrations"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(folder / name).read_text(encoding="utf-8") for name in files]


class Unit:
    """What can be done inside a unit of work; statements are named files."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, writing: threading.RLock) -> None:
        """Belongs to one thread; `writing` is held by the one that writes."""
        self._cursor = cursor
        self._writing = writing

    def rows(self, name: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Every row of a statement, as dicts."""
        result = self._cursor.execute(statement(name), dict(parameters or {}))
        columns = [column[0] for column in result.description or []]
        return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]

    def run(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        incoming: Incoming | None = None,
    ) -> None:
        """A statement without a result; `incoming` rows are there as the table `incoming`."""
        if incoming is None:
            self._cursor.execute(statement(name), dict(parameters or {}))
        elif len(incoming):
            with self.beside("incoming", incoming):
                self._cursor.execute(statement(name), dict(parameters or {}))

    def arrays(
        self,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        incoming: Incoming | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Every row of a statement without nulls, as one array per column."""
        if incoming is None:
            return self._columns(name, parameters)
        with self.beside("incoming", incoming):
            return self._columns(name, parameters)

    def table(self, name: str, parameters: Mapping[str, Any] | None = None) -> pa.Table:
        """Every row of a statement, as an Arrow table."""
        return self._cursor.sql(statement(name), params=dict(parameters or {})).to_arrow_table()

    def _columns(self, name: str, parameters: Mapping[str, Any] | None) -> dict[str, NDArray[Any]]:
        found: dict[str, Any] = self._cursor.execute(
            statement(name), dict(parameters or {})
        ).fetchnumpy()
        return found

    @contextmanager
    def beside(self, name: str, incoming: Incoming) -> Iterator[None]:
        """Rows from outside, as a table of that name while this lasts."""
        table = incoming if isinstance(incoming, pa.Table) else pa.Table.from_pylist(list(incoming))
        self._cursor.register(name, table)
        try:
            yield
        except BaseException:
            # What went wrong counts, not that the transaction it broke refuses this, too.
            with suppress(duckdb.Error):
                self._cursor.unregister(name)
            raise
        self._cursor.unregister(name)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, also after kill -9. One thread at a time: numbers follow one another."""
        with self._writing:
            self._cursor.begin()
            try:
                yield
            except BaseException:
                self._cursor.rollback()
                raise
            self._cursor.commit()


@contextmanager
def scratch() -> Iterator[Unit]:
    """A unit of work without a store, for statements over files; raises StoreError."""
    try:
        connection = duckdb.connect(":memory:", config=_CONFIG)
        try:
            yield Unit(connection, threading.RLock())
        finally:
            connection.close()
    except duckdb.Error as error:
        raise ours(error, "a temporary file") from error


class Store:
    """The file with the executions. Use `Store.at`, so that a process has one per path."""

    _stores: dict[Path, Store] = {}
    _registry = threading.Lock()

    def __init__(self, path: Path) -> None:
        """Nothing is opened yet."""
        self.path = path
        self._place = f"{path.parent.name}/{path.name}"
        self._condition = threading.Condition()
        self._writing = threading.RLock()
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._users = 0
        self._alone: int | None = None
        self._busy_since = 0.0
        self._closed_at = float("-inf")
        self._inside = threading.local()

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
                yield Unit(cursor, self._writing)
            except duckdb.Error as error:
                raise ours(error, self._place) from error
            finally:
                cursor.close()
        finally:
            self._leave()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Until this ends no other thread of this process is inside; not to be used inside."""
        with self._condition:
            while self._users or self._alone is not None:
                self._condition.wait(PAUSE_SECONDS)
            self._alone = threading.get_ident()
        try:
            yield
        finally:
            with self._condition:
                self._alone = None
                self._condition.notify_all()

    @contextmanager
    def look(self, seconds: float | None = None) -> Iterator[Unit]:
        """Read what is there, alone, whatever its schema; makes and changes nothing.

        Waits `seconds` (10) for another process. Raises as `work` does. Not to be used inside.
        """
        with self.alone(), closing(self._connect(seconds, read_only=True)) as connection:
            try:
                yield Unit(connection, self._writing)
            except duckdb.Error as error:
                raise ours(error, self._place) from error

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
        if self._alone is not None:
            return self._alone == threading.get_ident()
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
        # Each time: a backup may have been put in place, or the file moved away.
        return self._migrate(self._connect())

    def _connect(
        self, seconds: float | None = None, *, read_only: bool = False
    ) -> duckdb.DuckDBPyConnection:
        def connect() -> duckdb.DuckDBPyConnection:
            return duckdb.connect(str(self.path), read_only=read_only, config=_CONFIG)

        seconds = LOCK_SECONDS if seconds is None else seconds
        return patiently(connect, duckdb.Error, self.path, self._place, seconds)

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
            raise ours(error, self._place) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _version(self, connection: duckdb.DuckDBPyConnection, known: int) -> int:
        found = _schema_version(connection)
        if found > known:
            raise newer(f"a newer version of this program (schema {found})", self._place)
        return found


def _schema_version(connection: duckdb.DuckDBPyConnection) -> int:
    connection.execute(statement("schema_version_table"))
    row = connection.execute(statement("schema_version_get")).fetchone()
    return int(row[0]) if row else 0
