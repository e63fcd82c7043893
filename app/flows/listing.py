"""The executions there are, each with its last stored score at its collection's primary metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from app.core.errors import DeskError
from app.engines import executions, scores
from app.engines.executions import Execution
from app.engines.store import Store
from app.flows.wording import METRIC_WORDS, number
from app.settings import split_metric
from app.workspace import Workspace

__all__ = ["Execution", "Listed", "list_executions"]


@dataclass(frozen=True, slots=True)
class Listed:
    """An execution; `means` are its last stored ones per K, `headline` the primary in words."""

    execution: Execution
    means: tuple[dict[str, Any], ...]
    headline: str


def list_executions(workspace: Workspace, collection: str | None = None) -> list[Listed]:
    """Executions, newest first; of one collection where it is named. No store yet: none."""
    if collection is not None:
        workspace.collection(collection)
    if not workspace.store_path.exists():
        return []
    store = Store.at(workspace.store_path)
    with store.work():
        found, means = executions.listed(store, collection), scores.headline(store, collection)
    primaries = {one.collection: _primary(workspace, one.collection) for one in found}
    return [
        Listed(
            one,
            tuple(means.get(one.id, ())),
            _headline(one, means.get(one.id, ()), primaries[one.collection]),
        )
        for one in found
    ]


def _primary(workspace: Workspace, collection: str) -> str | None:
    """The primary metric, or None for a collection that is gone or whose settings are refused."""
    try:
        return workspace.collection(collection).settings.scoring.primary
    except DeskError:
        return None


def _headline(one: Execution, means: Sequence[dict[str, Any]], primary: str | None) -> str:
    if primary is None or one.status == "incomplete":
        return "-"
    metric, k = split_metric(primary)
    row = next((row for row in means if row["k"] == k), None)
    if row is None:
        return "-"
    value = "provisional" if row[metric] is None and row["provisional"] else number(row[metric])
    return f"{METRIC_WORDS[metric]}@{k} {value}, n {row['scored']}"
