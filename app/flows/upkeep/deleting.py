"""Delete executions, with what only they needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.errors import InvalidInput, Problem
from app.core.text import shown
from app.engines import upkeep
from app.engines.store import Store
from app.flows.upkeep.common import size_words
from app.flows.wording import count, table
from app.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Found:
    """An execution to delete, and how much belongs to it."""

    id: str
    collection: str
    configuration: str
    status: str
    started: str
    questions: int
    hits: int
    scores: int


def find(workspace: Workspace, names: Sequence[str]) -> list[Found]:
    """The executions meant by ids, or by beginnings of one id each.

    A configuration's name means none. Raises InvalidInput with every name that means no
    execution, or more than one.
    """
    store = Store.at(workspace.store_path) if workspace.store_path.exists() else None
    found: dict[str, Found] = {}
    problems: list[Problem] = []
    for name in names:
        rows = upkeep.executions_beginning(store, name) if store and name else []
        chosen = [row for row in rows if row["id"] == name] or rows
        if len(chosen) == 1:
            found[chosen[0]["id"]] = Found(**chosen[0])
            continue
        reason = "there is no execution" if not chosen else f"{len(chosen)} executions begin with"
        remedy = "See their ids: desk executions"
        problems.append(Problem(f"{reason} {shown(name)}", remedy=remedy))
    if problems:
        raise InvalidInput.of(problems)
    return list(found.values())


def found_text(found: Sequence[Found]) -> str:
    """What is about to be deleted."""
    header = ["execution", "collection", "configuration", "status", "started", "questions", "hits"]
    rows = [
        [one.id, one.collection, one.configuration, one.status, f"{one.started[:19]}Z"]
        + [f"{n:,}" for n in (one.questions, one.hits, one.scores)]
        for one in found
    ]
    return table([*header, "scores"], rows, frozenset({5, 6, 7}))


def delete(workspace: Workspace, found: Sequence[Found], *, to_compact: bool = False) -> str:
    """Delete executions in one transaction; returns what was done, in words. Raises StoreError.

    With `to_compact` nothing is said of free room, for `compact` is to follow.
    """
    store = Store.at(workspace.store_path)
    done = upkeep.delete_executions(store, [one.id for one in found])
    lines = [f"Deleted {count(len(found), 'execution')}."]
    if done.shared:
        parts = ", ".join(count(n, noun) for noun, n in done.shared.items())
        lines.append(f"Nobody needed any more, and gone too: {parts}.")
    if done.free and not to_compact:
        lines.append(
            f"{size_words(done.free)} of {size_words(done.total)} are free inside "
            "data/desk.duckdb and will be used again; --compact, or the copy in a desk backup, "
            "does without them."
        )
    return "\n".join(lines)


def compact(workspace: Workspace) -> str:
    """Make the store's file as small as what it holds; returns its size, in words.

    Raises StoreError; the store is then as it was.
    """
    upkeep.compact(Store.at(workspace.store_path))
    return f"data/desk.duckdb is compact: {size_words(workspace.store_path.stat().st_size)}."
