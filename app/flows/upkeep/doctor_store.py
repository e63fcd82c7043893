"""Examine the store: who has it open, whether it can be read, whether it fits together."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from app.core.errors import StoreError, StoreLocked
from app.core.text import shown
from app.engines import upkeep
from app.engines.store import Store, Unit, migrations
from app.engines.store_errors import Holder, holder
from app.flows.upkeep.common import size_words
from app.flows.upkeep.findings import Finding, error, limited, ok, raised, warning
from app.flows.wording import count
from app.workspace import Workspace

PLACE = "data/desk.duckdb"
#: Another process has the file open for a moment at a time; one that keeps it is reported.
_WAIT = 2.0
_RESTORE = "Put a backup in its place (desk backup makes them), or delete the executions concerned"


def store_findings(workspace: Workspace) -> list[Finding]:
    """What there is to say of the store; opens it for reading only."""
    path = workspace.store_path
    found = _beside(path)
    if not path.exists():
        return [ok("there is no store yet; desk evaluate makes it", PLACE), *found]
    try:
        found.insert(0, ok(f"the store has {size_words(path.stat().st_size)}", PLACE))
        with Store.at(path).look(_WAIT) as unit:
            return [*found, *_wal(path), *_inside(unit, workspace)]
    except StoreLocked as failure:
        return [*found, _held(holder(failure.__cause__))]
    except StoreError as failure:
        return [*found, *raised(failure)]


def _wal(path: Path) -> list[Finding]:
    """Changes beside a store that nobody has open."""
    if not path.with_name(f"{path.name}.wal").exists():
        return []
    message = "changes by a process that was ended before it could put them into the store's file"
    remedy = "Leave the file there: the next command takes them in"
    return [warning(message, f"{PLACE}.wal", remedy)]


def _beside(path: Path) -> list[Finding]:
    """Files that belong to the store, or did."""
    found: list[Finding] = []
    wal = path.with_name(f"{path.name}.wal")
    if wal.exists() and not path.exists():
        message = "changes to a store that is not there; they are lost once a new one is made"
        found.append(warning(message, f"{PLACE}.wal", "Put the store back, or move the file away"))
    for copy in sorted(path.parent.glob(f"{path.name}.before-*")):
        message = f"a copy from before the schema changed, {size_words(copy.stat().st_size)}"
        remedy = "Remove it when the executions are as they should be"
        found.append(ok(message, f"data/{copy.name}", remedy))
    for copy in sorted(path.parent.glob(f"{path.name}.compact-*")):
        message = "left by a desk delete --compact that was cut short, unless one is running"
        found.append(warning(message, f"data/{copy.name}", "Remove the file"))
    return found


def _held(by: Holder | None) -> Finding:
    """Another process has the store open, and keeps it."""
    if by is None:
        return warning("another process has the store open; it was not looked into", PLACE)
    alive = _is_alive(by.pid)
    state = "which is running" if alive else "which is not running on this machine"
    return warning(
        f"process {by.pid} ({_command(by.pid) or by.program}), {state}, has the store open; it was "
        "not looked into",
        PLACE,
        "Wait for it to end or stop it, then try again",
    )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _command(pid: int) -> str:
    """The words a process was started with, where the system tells them."""
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return ""
    return shown(" ".join(raw.decode(errors="replace").split("\0")).strip(), 100).strip('"')


def _inside(unit: Unit, workspace: Workspace) -> list[Finding]:
    tables = upkeep.tables(unit)
    version, known = upkeep.schema_version(unit), len(migrations())
    if version == 0:
        if tables.keys() - {"schema_version"}:
            message = "the file is a DuckDB file, but not a store of this program"
            return [error(message, PLACE, "Put a backup in its place, or move it away")]
        return [ok("the store is empty; the next command makes its tables", PLACE)]
    if version > known:
        message = f"a newer version of this program wrote the store (schema {version}, not {known})"
        return [error(message, PLACE, "Update: pip install --upgrade relevance-desk")]
    rows = sum(table.rows for table in tables.values())
    found = [ok(f"opens and can be read: {rows:,} rows in {count(len(tables), 'table')}", PLACE)]
    if version < known:
        message = f"its schema is {version}; the next command brings it to {known}, after a copy"
        found.append(ok(message, PLACE))
    else:
        found.append(ok(f"its schema is that of the program, {version}", PLACE))
    if broken := limited(error(one, PLACE, _RESTORE) for one in upkeep.faults(unit)):
        found += broken
    else:
        found.append(ok("everything in it fits together", PLACE))
    return [*found, *_executions(unit, workspace)]


def _executions(unit: Unit, workspace: Workspace) -> list[Finding]:
    by_status: Counter[str] = Counter()
    by_collection: Counter[str] = Counter()
    for row in upkeep.statuses(unit):
        by_status[row["status"]] += row["executions"]
        by_collection[row["collection"]] += row["executions"]
    parts = ", ".join(f"{n:,} {status}" for status, n in sorted(by_status.items()))
    found = [ok(f"{count(by_status.total(), 'execution')}{f': {parts}' if parts else ''}", PLACE)]
    names = workspace.names()
    found += [
        warning(
            f"{count(n, 'execution')} of {shown(name)}, a collection that is not there",
            PLACE,
            "Put the collection back, or delete them: desk executions, desk delete",
        )
        for name, n in by_collection.items()
        if name not in names
    ]
    return found
