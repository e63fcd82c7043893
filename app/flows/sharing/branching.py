"""Labels committed onto a branch that is not checked out: its lines and ours, none lost.

Ledger files become the union of both sides by event id. Other files are taken from the side that
changed them; where both did, they are left to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from app.core.errors import InvalidInput, Problem
from app.engines.git import Repository
from app.engines.git_commits import (
    changed_paths,
    checked_out_at,
    commits_between,
    fetch,
    merge_base,
    move_branch,
    write_blob,
    write_commit,
)
from app.engines.git_errors import GitError
from app.flows.sharing.tally import Tally
from app.flows.sharing.unpublished import differ, events_in, is_ledger, is_published

Files = Mapping[str, bytes]


def union(theirs: bytes, ours: bytes, place: str, branch: str) -> bytes:
    """The lines of a ledger file on a branch, then those of ours that it lacks.

    Raises InvalidInput where one event id stands for two things.
    """
    there = {event["event"]: event for event in reversed(events_in(theirs.split(b"\n")))}
    whole = theirs if theirs.endswith(b"\n") or not theirs else theirs + b"\n"
    came = []
    held = set(theirs.split(b"\n"))
    for number, raw in enumerate(ours.split(b"\n"), start=1):
        line = raw.rstrip(b"\r").removeprefix(b"\xef\xbb\xbf")
        if line in held:
            continue
        for event in events_in([line]):
            if event["event"] not in there:
                there[event["event"]] = event
                came.append(line + b"\n")
            elif there[event["event"]] != event:
                raise InvalidInput(
                    f"the event {event['event']} reads otherwise on the branch {branch}",
                    place=f"{place}:{number}",
                    remedy="Put the line back as it is there, or give it an event id of its own",
                )
    return whole + b"".join(came)


def merged(
    theirs: Files, ours: Files, bases: Sequence[Files], branch: str, prefix: str
) -> dict[str, bytes | None]:
    """What is to change on a branch so that it holds what we have, too; None: taken away.

    `bases` are what both sides may have started from. Raises InvalidInput with every file that
    both have changed.
    """
    changes: dict[str, bytes | None] = {}
    problems: list[Problem] = []
    for path in sorted(theirs.keys() | ours.keys()):
        there, here = theirs.get(path), ours.get(path)
        if not differ(there, here):
            continue
        collection, _, name = path.removeprefix(prefix).partition("/")
        place = f"labels/{collection}/{name}"
        if is_ledger(name):
            both = there if here is None else union(there or b"", here, place, branch)
            if differ(there, both):
                changes[path] = both
            continue
        base, lines = bases[0].get(path), name.endswith(".jsonl")
        as_it_was = any(not differ(there, start.get(path)) for start in bases)
        if as_it_was or (lines and _grew(base, there, here)):
            changes[path] = here
        elif differ(here, base) and not (lines and _grew(base, here, there)):
            problems.append(
                Problem(
                    f"the file was changed here and, otherwise, on the branch {branch}",
                    place,
                    "Bring the two together: publish here without --branch, then git merge "
                    f"{branch}, then publish again",
                )
            )
    if problems:
        raise InvalidInput.of(problems)
    return changes


def _grew(*versions: bytes | None) -> bool:
    """Whether every version has all lines of the one before it."""
    lines = [set((version or b"").splitlines()) for version in versions]
    return versions[-1] is not None and all(a <= b for a, b in pairwise(lines))


def read_files(
    repository: Repository, commit: str | None, under: Iterable[str]
) -> dict[str, bytes]:
    """The files of labels that a commit has under some folders."""
    files = repository.files(commit, under)
    kept = {path: blob for path, blob in files.items() if is_published(path)}
    blobs = repository.blobs(kept.values())
    return {path: blobs[blob] for path, blob in kept.items()}


def tip_of(repository: Repository, branch: str, remote: str) -> tuple[str, str | None]:
    """The commit to build on, and the one the branch names now, None where it is not there yet.

    A new branch begins where the remote's branch of this name was last seen, else here.
    """
    if (folder := checked_out_at(repository, branch)) is not None:
        raise GitError(
            f"the branch {branch} is checked out in {folder}",
            remedy="Publish there, or name another branch",
        )
    old = repository.resolve(f"refs/heads/{branch}")
    tip = old or repository.resolve(f"refs/remotes/{remote}/{branch}") or repository.resolve("HEAD")
    if tip is None:
        raise GitError(
            f"the branch {branch} has nothing to begin from: the repository has no commit yet",
            remedy="Publish without --branch first",
        )
    return tip, old


def commit_onto(
    repository: Repository,
    tip: str,
    ours: Files,
    bases: Sequence[str | None],
    under: Sequence[str],
    *,
    branch: str,
    prefix: str,
    message: str | None,
    beside: str | None = None,
) -> str | None:
    """A commit on top of `tip` that holds what we have, too; None where it does already.

    `bases` are commits both sides may have started from; `beside` is a second parent.
    """
    started = [read_files(repository, base, under) for base in bases]
    theirs = read_files(repository, tip, under)
    changes = merged(theirs, ours, started, branch, prefix)
    if not changes:
        return None
    files = {
        path: None if content is None else write_blob(repository, path, content)
        for path, content in changes.items()
    }
    parents = [tip] if beside is None else [tip, beside]
    words = message or Tally.between(theirs, changes, prefix).message()
    return write_commit(repository, parents, files, words)


def rebuild(
    repository: Repository, branch: str, remote: str, *, prefix: str, message: str | None
) -> tuple[str, str]:
    """Build what is not pushed of a branch on top of what others have pushed meanwhile.

    Returns the remote's commit and the new one, which the branch then names. Raises GitError where
    more than labels waits to be pushed: that is to be merged by people.
    """
    mine = repository.resolve(f"refs/heads/{branch}") or ""
    theirs = fetch(repository, remote, branch)
    base = merge_base(repository, mine, theirs)
    paths = changed_paths(repository, base, mine) if base else []
    if base is None or any(not path.startswith(prefix) for path in paths):
        raise GitError(
            f"the branch {branch} holds more than labels that {remote} does not have",
            remedy=f"Bring the two together: git switch {branch}, then git pull --no-rebase "
            f"{remote} {branch}",
        )
    under = sorted({prefix + path.removeprefix(prefix).partition("/")[0] + "/" for path in paths})
    ours = read_files(repository, mine, under)
    # One commit is made anew; several stay, and are merged.
    beside = mine if commits_between(repository, base, mine) > 1 else None
    new = commit_onto(
        repository, theirs, ours, [base], under,
        branch=branch, prefix=prefix, message=message, beside=beside,
    ) or theirs  # fmt: skip
    move_branch(repository, branch, new, mine)
    return theirs, new
