"""`desk labels publish`: commit the labels, and nothing else, for others to get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.core.errors import InvalidInput, Problem
from app.engines.git import Repository
from app.engines.git_commits import (
    commit,
    commits_between,
    merge_base,
    move_branch,
    push_branch,
    require_branch_name,
    require_remote,
)
from app.engines.git_errors import GitError, PushRejected
from app.flows.sharing.branching import commit_onto, read_files, rebuild, tip_of
from app.flows.sharing.publication import Status, status
from app.flows.sharing.tally import Tally
from app.flows.wording import count
from app.workspace import Workspace

#: How often a branch is built anew because others pushed first.
_REBUILDS = 2


@dataclass(frozen=True)
class Published:
    """What was published on a branch. `commit` is None where there was nothing new.

    `current` is the branch that is checked out.
    """

    branch: str
    commit: str | None = None
    tally: Tally = field(default_factory=Tally)
    pushed_to: str | None = None
    current: str | None = None
    remotes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def publish(
    workspace: Workspace,
    name: str | None = None,
    *,
    branch: str | None = None,
    push: bool = False,
    remote: str = "origin",
    message: str | None = None,
) -> Published:
    """Commit the labels of all collections, or of one; nothing else that is changed or staged.

    Without `branch` onto the current one, by an ordinary commit. With it onto that branch, without
    touching working tree, index or current branch; it is made where it is not there.

    Raises InvalidInput with every line that cannot be read, and GitError where git refuses; when
    only the push fails, the commit stays.
    """
    found = status(workspace, name)
    if found.repository is None:
        raise found.obstacle or GitError("the folder is not under git")
    repository = found.repository
    _refuse(found, repository)
    if branch is not None:
        require_branch_name(repository, branch)
    if push:
        require_remote(repository, remote)
    elsewhere = branch is not None and branch != found.changes.branch
    if branch is not None and elsewhere:
        made = _onto(workspace, found, repository, branch, remote, message)
    else:
        made = _here(found, repository, message)
    notices = found.warnings
    if push:
        if not elsewhere:
            notices = (*notices, *_with_it(repository, made, remote))
        made = _push(repository, found.prefix, made, remote, message, elsewhere=elsewhere)
    return replace(
        made,
        current=found.changes.branch,
        remotes=tuple(repository.remotes()),
        notices=notices,
    )


def _with_it(repository: Repository, made: Published, remote: str) -> list[str]:
    """That a push takes earlier commits along, which may hold anything."""
    theirs = repository.resolve(f"refs/remotes/{remote}/{made.branch}")
    if theirs is None:
        return []
    ahead = commits_between(repository, theirs, f"refs/heads/{made.branch}")
    earlier = ahead - (made.commit is not None)
    if earlier <= 0:
        return []
    return [
        f"{count(earlier, 'commit')} of {made.branch} that had not been pushed yet went along. To "
        "publish labels alone: --branch NAME"
    ]


def _refuse(found: Status, repository: Repository) -> None:
    """Raise InvalidInput with all that must be mended before labels are given to others."""
    problems: list[Problem] = []
    for one in found.collections:
        problems += one.problems
        for torn in one.warnings:
            problems.append(Problem(torn, remedy="Save one more label there, or delete the line"))
        if any(file.ignored for file in one.files):
            rule = repository.ignored_by(f"{found.prefix}{one.collection}/judgments/any.jsonl")
            if rule:
                message = "git ignores the labels, so they cannot be published"
                remedy = f"Change the rule in {rule}"
                problems.append(Problem(message, f"labels/{one.collection}", remedy))
    if problems:
        raise InvalidInput.of(problems)


def _here(found: Status, repository: Repository, message: str | None) -> Published:
    """An ordinary commit of the files that differ, onto the current branch."""
    branch = found.changes.branch
    if branch is None:
        raise GitError(
            f"no branch is checked out, only the commit {(found.changes.head or '')[:7]}",
            remedy="Check one out (git switch BRANCH), or name one: --branch BRANCH",
        )
    if shrunk := [problem for one in found.collections for problem in one.shrunk]:
        raise InvalidInput.of(shrunk)
    paths = found.paths
    if not paths:
        return Published(branch)
    new = [path for path, file in paths.items() if file.added]
    counted = Tally.of(
        (path.removeprefix(found.prefix), file.growth.new) for path, file in paths.items()
    )
    made = commit(repository, list(paths), new, message or counted.message())
    return _published(repository, found.prefix, list(paths), branch, found.changes.head, made)


def _onto(
    workspace: Workspace,
    found: Status,
    repository: Repository,
    branch: str,
    remote: str,
    message: str | None,
) -> Published:
    """A commit onto a branch that is not checked out."""
    prefix, head = found.prefix, found.changes.head
    under = [f"{prefix}{one.collection}/" for one in found.collections]
    tip, old = tip_of(repository, branch, remote)
    ours = read_files(repository, head, under)
    for path, file in found.paths.items():
        ours.pop(path, None)
        if file.state != "deleted":
            ours[path] = (workspace.root / "labels" / path.removeprefix(prefix)).read_bytes()
    bases = [merge_base(repository, tip, head) if head else None, head]
    made = commit_onto(
        repository, tip, ours, bases, under, branch=branch, prefix=prefix, message=message
    )
    if made is None:
        return Published(branch)
    move_branch(repository, branch, made, old)
    return _published(repository, prefix, under, branch, tip, made)


def _published(
    repository: Repository,
    prefix: str,
    under: Sequence[str],
    branch: str,
    before: str | None,
    made: str,
) -> Published:
    """What a commit has brought, counted in the commit itself: grading goes on meanwhile."""
    old, new = (read_files(repository, name, under) for name in (before, made))
    return Published(branch, made, Tally.between(old, {**dict.fromkeys(old), **new}, prefix))


def _push(
    repository: Repository,
    prefix: str,
    made: Published,
    remote: str,
    message: str | None,
    *,
    elsewhere: bool,
) -> Published:
    """Push a branch; one that is not checked out is built anew where others were first."""
    branch, rebuilds = made.branch, 0
    if repository.resolve(f"refs/heads/{branch}") is None:
        return made  # neither made nor needed
    while True:
        try:
            push_branch(repository, remote, branch)
            return replace(made, pushed_to=remote)
        except PushRejected as error:
            if not elsewhere:
                remedy = (
                    f"Get theirs: git pull --no-rebase {remote} {branch} (ledger files keep the "
                    "lines of both), then: desk labels publish --push"
                )
                raise _kept(made, error, remedy) from error
            if rebuilds == _REBUILDS:
                raise _kept(made, error, "Publish again") from error
        except GitError as error:
            raise _kept(made, error) from error
        rebuilds += 1
        try:
            theirs, new = rebuild(repository, branch, remote, prefix=prefix, message=message)
        except (GitError, InvalidInput) as error:
            raise _kept(made, error) from error
        made = _published(repository, prefix, [prefix or "."], branch, theirs, new)


def _kept(made: Published, error: GitError | InvalidInput, remedy: str | None = None) -> GitError:
    """The push failed: what is kept, why it failed, what to do."""
    problem = error.problems[0]
    if made.commit is None:
        kept = f"{made.branch} was not pushed"
    else:
        events = made.tally.events
        what = count(events, "event") if events else made.tally.what() or "the ledger"
        verb = "are" if events > 1 else "is"
        kept = f"{what} {verb} committed on {made.branch} ({made.commit[:7]}), but not pushed"
    place = f" {problem.place}:" if problem.place else ""
    words = f"{kept}:{place} {problem.message}"
    return GitError(words, remedy=problem.remedy if remedy is None else remedy)
