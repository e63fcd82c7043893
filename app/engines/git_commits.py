"""Git by its command: a commit of some files, here or on another branch, and its push."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from app.engines.git import Repository, attempt, run, zero
from app.engines.git_errors import GitError, PushRejected, said, told

#: Seconds for what may run the repository's hooks, and for what waits for a server.
COMMITTING, NETWORK = 600.0, 120.0
_PATHS = ("--pathspec-from-file=-", "--pathspec-file-nul")
#: How git says that somebody was first, also where both pushed at the same moment.
_BEHIND = "fetch first|non-fast-forward|stale info|lock ref|failed to update|incorrect old value"
#: How git and ssh say that a server does not let us in, and that there is none.
_SHUT = "could not read (Username|Password)|[Pp]ermission denied|Authentication failed|40[13]"
_AWAY = "resolve host|unable to access|Connection|timed out|does not appear to be a git repository"


def commit(
    repository: Repository, paths: Collection[str], new: Collection[str], message: str
) -> str:
    """Commit some files as they are, and nothing else, onto the current branch; returns its id.

    `new` are those that git does not know yet. Hooks run and the commit is signed as git is set up.
    Raises GitError; what was staged is then as it was before.
    """
    try:
        if new:
            repository.run("add", "--intent-to-add", *_PATHS, data=zero(new))
        words = ("commit", "--only", *_PATHS, "--message", message)
        done = attempt(repository.root, *words, data=zero(paths), seconds=COMMITTING)
        if done.returncode:
            lines = said(done.stderr) or said(done.stdout)
            # (1 is a hook's refusal; git's own failures end with 128.)
            refused = done.returncode == 1
            raise _hook_refused("commit", lines) if refused else told("commit", lines)
    except BaseException:
        if new:
            attempt(repository.root, "reset", "--quiet", *_PATHS, data=zero(new))
        raise
    head = repository.resolve("HEAD")
    if head is None:
        raise GitError("git made no commit")
    return head


def require_branch_name(repository: Repository, name: str) -> None:
    """Raise GitError for what cannot be the name of a branch."""
    # (git takes every name after refs/heads/ for a full one, also one that begins with a dash.)
    words = ("check-ref-format", f"refs/heads/{name}")
    if name.startswith("-") or name == "HEAD" or attempt(repository.root, *words).returncode:
        raise GitError(
            f"{name!r} cannot be the name of a branch",
            remedy="Use letters, digits, '-', '_' and '/'",
        )


def checked_out_at(repository: Repository, branch: str) -> str | None:
    """The folder of the working tree a branch is checked out in, None where in none."""
    asked = "--format=%(refname)%00%(worktreepath)"
    raw = repository.run("for-each-ref", asked, f"refs/heads/{branch}")
    found = dict(line.split("\0") for line in os.fsdecode(raw).splitlines())
    return found.get(f"refs/heads/{branch}") or None


def write_blob(repository: Repository, path: str, content: bytes) -> str:
    """Store what a file is to hold; line ends are turned as the repository's attributes say."""
    return repository.run("hash-object", "-w", "--stdin", f"--path={path}", data=content).decode()[
        :-1
    ]


def write_commit(
    repository: Repository,
    parents: Sequence[str],
    files: Mapping[str, str | None],
    message: str,
) -> str:
    """A commit that is the first parent with some files replaced, or taken away where None.

    Working tree, index and branches stay as they are.
    """
    none = "0" * len(parents[0])
    lines = [
        f"0 {none}\t{path}" if blob is None else f"100644 {blob}\t{path}"
        for path, blob in files.items()
    ]
    with tempfile.TemporaryDirectory() as folder:
        index, root = Path(folder) / "index", repository.root
        run(root, "read-tree", parents[0], index=index)
        run(root, "update-index", "-z", "--index-info", data=zero(lines), index=index)
        tree = run(root, "write-tree", index=index).decode().strip()
    named = [word for parent in parents for word in ("-p", parent)]
    asked = ("config", "--type=bool", "--get", "commit.gpgsign")
    signed = ["-S"] if repository.run(*asked, fine=(0, 1)).strip() == b"true" else []
    words = ("commit-tree", tree, *named, *signed, "-F", "-")
    return repository.run(*words, data=message.encode()).decode().strip()


def move_branch(repository: Repository, branch: str, new: str, old: str | None) -> None:
    """Let a branch name another commit; raises BranchMoved where it no longer names `old`.

    None for `old`: the branch must not be there yet.
    """
    words = ("update-ref", "-m", "desk labels publish", f"refs/heads/{branch}", new, old or "")
    repository.run(*words)


def merge_base(repository: Repository, one: str, other: str) -> str | None:
    """The newest commit both have in their past; None where there is none."""
    return repository.run("merge-base", one, other, fine=(0, 1)).decode().split("\n")[0] or None


def changed_paths(repository: Repository, old: str, new: str) -> list[str]:
    """The files in which two commits differ."""
    raw = repository.run("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
    return os.fsdecode(raw).split("\0")[:-1]


def commits_between(repository: Repository, old: str, new: str) -> int:
    """The number of commits that `new` has and `old` has not."""
    return int(repository.run("rev-list", "--count", f"{old}..{new}"))


def require_remote(repository: Repository, name: str) -> None:
    """Raise GitError unless there is a remote of that name."""
    names = repository.remotes()
    if name not in names:
        there = f"Remotes here: {', '.join(names)}. " if names else ""
        remedy = f"{there}Add one: git remote add {name} ADDRESS"
        raise GitError(f"there is no remote {name} to push to", remedy=remedy)


def fetch(repository: Repository, remote: str, branch: str) -> str:
    """Get a branch of a remote; returns its newest commit."""
    kept = f"refs/remotes/{remote}/{branch}"
    words = ("fetch", "--quiet", "--no-tags", remote, f"+refs/heads/{branch}:{kept}")
    done = attempt(repository.root, *words, seconds=NETWORK)
    found = repository.resolve(kept)
    if done.returncode or found is None:
        raise _failed("fetch", remote, done)
    return found


def push_branch(repository: Repository, remote: str, branch: str) -> None:
    """Push a branch; raises PushRejected where the remote has commits that are not here."""
    ref = f"refs/heads/{branch}"
    words = ("push", "--porcelain", remote, f"{ref}:{ref}")
    done = attempt(repository.root, *words, seconds=NETWORK)
    if not done.returncode:
        return
    verdicts = [line for line in said(done.stdout) if line.startswith("!")]
    if not verdicts:
        raise _failed("push", remote, done)
    reason = verdicts[0].rpartition("(")[2].rstrip(")")
    if re.search(_BEHIND, reason):
        raise PushRejected(f"others have published on {branch} of {remote} meanwhile")
    heard = [line.removeprefix("remote:").strip() for line in said(done.stderr)[:-1]]
    because = " / ".join([reason, *(words for words in heard[-3:] if words)])
    raise GitError(
        f"the remote {remote} refused the push: {because}",
        remedy=f"Name another branch with --branch, or ask who looks after {remote}",
    )


def _failed(command: str, remote: str, done: subprocess.CompletedProcess[bytes]) -> GitError:
    """Our error for a command that got no verdict from the remote."""
    lines = said(done.stderr)
    everything = "\n".join(lines)
    reason = told(command, lines).problems[0].message.partition(" failed: ")[2]
    if re.search(_SHUT, everything):
        remedy = f"Sign in as git {command} {remote} asks for when it is run by hand"
        return GitError(f"the remote {remote} does not let you in: {reason}", remedy=remedy)
    if re.search(_AWAY, everything):
        remedy = f"Look at its address: git remote get-url {remote}"
        return GitError(f"the remote {remote} cannot be reached: {reason}", remedy=remedy)
    if command == "push" and done.returncode == 1:
        return _hook_refused("push", [line for line in lines if not line.startswith("error: ")])
    return told(command, lines)


def _hook_refused(what: str, lines: Sequence[str]) -> GitError:
    words = " / ".join(lines[-3:]) or "it gave no reason"
    message = f"a hook of this repository refused the {what}: {words}"
    return GitError(message, remedy="Do as it asks, then publish again")
