"""The executions there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.engines import executions
from app.engines.executions import Execution
from app.engines.store import Store
from app.workspace import Workspace

__all__ = ["Execution", "list_executions"]


def list_executions(
    workspace: Workspace, collection: str | None = None
) -> tuple[list[Execution], Mapping[str, list[dict[str, Any]]]]:
    """Executions, newest first, and the means of their newest stored scores by execution id.

    Of one collection where it is named; no store yet: none.
    """
    if collection is not None:
        workspace.collection(collection)
    if not workspace.store_path.exists():
        return [], {}
    store = Store.at(workspace.store_path)
    with store.work():
        return executions.listed(store, collection), executions.headline(store, collection)
