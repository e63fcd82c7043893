"""`desk labels status`: what of the labels is committed, and what is in the way of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from app.core.errors import DeskError, InvalidInput, Problem
from app.core.events import parse_event
from app.core.judgments import Judgment
from app.core.ledger import Ledger
from app.core.questions import parse_record, read_questions
from app.engines.git import LOCAL, Changes, Repository
from app.engines.git_errors import GitError
from app.flows.sharing.unpublished import (
    Growth,
    differ,
    growth,
    is_ledger,
    is_published,
    labels_repository,
)
from app.workspace import Workspace

_WITHDRAW = 'to take a label back, append a line with "kind":"withdraw"'


@dataclass(frozen=True, slots=True)
class FileStatus:
    """A file of labels that is not as it is in the last commit. `name`: from its collection."""

    name: str
    state: Literal["new", "changed", "deleted"]
    growth: Growth
    ignored: bool
    added: bool  # git does not know the file yet


@dataclass(frozen=True)
class CollectionStatus:
    """One collection: files that differ, what cannot be read, and what else is worth knowing.

    `events` are all in the ledger; None where it cannot be read.
    """

    collection: str
    events: int | None
    files: tuple[FileStatus, ...]
    problems: tuple[Problem, ...]
    shrunk: tuple[Problem, ...]
    warnings: tuple[str, ...]

    @property
    def unpublished(self) -> int:
        """Events that are not in the last commit."""
        return sum(len(file.growth.new) for file in self.files)


@dataclass(frozen=True)
class Status:
    """Every collection asked for. Without git `repository` is None and `obstacle` says why."""

    collections: tuple[CollectionStatus, ...]
    repository: Repository | None
    prefix: str
    changes: Changes
    obstacle: GitError | None
    warnings: tuple[str, ...]

    @cached_property
    def paths(self) -> dict[str, FileStatus]:
        """What a commit would take, by the path in the repository."""
        return {
            f"{self.prefix}{one.collection}/{file.name}": file
            for one in self.collections
            for file in one.files
            if not file.ignored
        }


def status(workspace: Workspace, name: str | None = None) -> Status:
    """What is unpublished in all collections, or in one. Changes nothing, asks no remote.

    Raises InvalidInput where there is no such collection.
    """
    if name is not None:
        workspace.require(name)
    names = [name] if name is not None else workspace.names()
    repository, prefix, changes, obstacle = None, "", Changes(None, None), None
    try:
        repository, prefix = labels_repository(workspace, LOCAL)
        changes = repository.changes(prefix or ".")
    except GitError as error:
        repository, obstacle = None, error
    files = {one: _files(workspace, one, prefix, changes, repository) for one in names}
    held = {blob for found in files.values() for blob in found.values() if blob}
    blobs = repository.blobs(held) if repository else {}
    return Status(
        collections=tuple(
            _collection(workspace, one, files[one], blobs, prefix, changes) for one in names
        ),
        repository=repository,
        prefix=prefix,
        changes=changes,
        obstacle=obstacle,
        warnings=tuple(_warnings(workspace, names, prefix, changes, repository)),
    )


def _files(
    workspace: Workspace,
    name: str,
    prefix: str,
    changes: Changes,
    repository: Repository | None,
) -> dict[str, str | None]:
    """Files of a collection that may differ from the last commit, with their blobs in it."""
    folder = workspace.root / "labels" / name
    if repository is None:
        found: dict[str, str | None] = {
            path.relative_to(folder).as_posix(): None for path in folder.rglob("*")
        }
    else:
        under = f"{prefix}{name}/"
        # (A file that was staged as removed is both tracked and untracked.)
        known = {**dict.fromkeys(changes.untracked | changes.ignored), **changes.tracked}
        found = {p.removeprefix(under): b for p, b in known.items() if p.startswith(under)}
    return {file: found[file] for file in sorted(found) if is_published(file)}


def _collection(
    workspace: Workspace,
    name: str,
    files: Mapping[str, str | None],
    blobs: Mapping[str, bytes],
    prefix: str,
    changes: Changes,
) -> CollectionStatus:
    under, place = f"{prefix}{name}/", f"labels/{name}"
    problems = [
        Problem("the file holds a merge conflict", f"{place}/{path.removeprefix(under)}",
                "Keep the lines of both sides, remove the marks, then: git add")
        for path in changes.conflicts if path.startswith(under)
    ]  # fmt: skip
    found: list[FileStatus] = []
    shrunk: list[Problem] = []
    for file, blob in files.items():
        before = blobs[blob] if blob else None
        try:
            now = _content(workspace.root / "labels" / name / file)
        except OSError as error:
            remedy = "Mend it or its permissions"
            message = f"the file cannot be read: {error.strerror}"
            problems.append(Problem(message, f"{place}/{file}", remedy))
            continue
        if not differ(before, now):
            continue
        state: Literal["new", "changed", "deleted"]
        state = "new" if before is None else "deleted" if now is None else "changed"
        grown = growth(before or b"", now or b"") if is_ledger(file) else Growth()
        path = under + file
        found.append(
            FileStatus(file, state, grown, path in changes.ignored, path in changes.untracked)
        )
        shrunk += _shrunk(grown, f"{place}/{file}")
    events, unread, notices = _read(workspace, name)
    # (A file that cannot be opened was met above, too.)
    problems += [problem for problem in unread if problem not in problems]
    return CollectionStatus(
        collection=name,
        events=events,
        files=tuple(found),
        problems=tuple(problems),
        shrunk=tuple(shrunk),
        warnings=tuple(notices),
    )


def _content(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none; links are not followed."""
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _shrunk(grown: Growth, place: str) -> Iterable[Problem]:
    """A ledger only grows: what was committed must still be there, as it was."""
    for names, what in ((grown.missing, "missing"), (grown.changed, "changed")):
        if names:
            lines = (
                "a committed line is" if len(names) == 1 else f"{len(names)} committed lines are"
            )
            message = f"{lines} {what} here (the event {names[0]}), but a ledger only grows"
            remedy = f"Put back what git diff shows as removed; {_WITHDRAW}"
            yield Problem(message, place, remedy)


def _read(workspace: Workspace, name: str) -> tuple[int | None, list[Problem], list[str]]:
    """Events in the ledger, lines that cannot be read, and lines that are cut short."""
    folder, place = workspace.root / "labels" / name, f"labels/{name}"
    problems: list[Problem] = []
    notices: list[str] = []
    events = 0
    ledgers: tuple[Ledger[Any], ...] = (
        Ledger(folder / "judgments", f"{place}/judgments", partial(parse_record, Judgment)),
        Ledger(folder / "events", f"{place}/events", parse_event),
    )
    for ledger in ledgers:
        try:
            snapshot = ledger.read()
        except DeskError as error:
            problems += error.problems
        else:
            events += len(snapshot.events)
            notices += snapshot.notices
    try:
        read_questions(folder / "questions.jsonl", f"{place}/questions.jsonl")
    except InvalidInput as error:
        problems += error.problems
    return None if problems else events, problems, notices


def _warnings(
    workspace: Workspace,
    names: Iterable[str],
    prefix: str,
    changes: Changes,
    repository: Repository | None,
) -> Iterable[str]:
    """What keeps labels from being shared, beside single lines."""
    if repository is None:
        return
    for name in names:
        under = f"{prefix}{name}/"
        ignored = sorted(
            path for path in changes.ignored
            if path.startswith(under) and is_published(path.removeprefix(under))
        )  # fmt: skip
        if ignored:
            rule = repository.ignored_by(ignored[0])
            more = f" and {len(ignored) - 1} more" if len(ignored) > 1 else ""
            yield str(
                Problem(
                    f"git ignores {ignored[0].removeprefix(under)}{more}, so nobody else gets it",
                    f"labels/{name}",
                    f"Change the rule in {rule}" if rule else "",
                )
            )
    ledgers = [
        f"{prefix}{name}/{kind}/x.jsonl" for name in names for kind in ("judgments", "events")
    ]
    if repository.without_union(ledgers):
        yield (
            "Git is not told to keep the lines of both sides when it merges ledger files. Add two "
            "lines to .gitattributes in the workspace: labels/*/judgments/*.jsonl merge=union text "
            "eol=lf and labels/*/events/*.jsonl merge=union text eol=lf."
        )
