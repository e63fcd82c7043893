"""What git says when it fails, in our words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.core.errors import EngineError


class GitError(EngineError):
    """Git is missing, refused something, or took too long."""


class NoRepository(GitError):
    """The folder is in no repository."""


class BranchMoved(GitError):
    """Somebody moved the branch meanwhile; nothing was written."""


class PushRejected(GitError):
    """The remote has commits that are not here; nothing was pushed."""


#: What git says, what we say of it, and the remedy.
_KNOWN: tuple[tuple[str, type[GitError], str, str], ...] = (
    (
        "not a git repository|must be run in a work tree",
        NoRepository,
        "the folder is not under git",
        "Put the workspace under git: git init",
    ),
    (
        "dubious ownership",
        GitError,
        "git does not trust the folder, for it belongs to another user",
        "If you do: git config --global --add safe.directory and the folder's full path",
    ),
    (
        "tell me who you are|empty ident|unable to auto-detect email|no email was given",
        GitError,
        "git does not know who you are, and a commit carries a name and an address",
        'Tell it: git config --global user.name "Your Name", and git config --global user.email '
        "you@example.org",
    ),
    (
        r"(index|HEAD)\.lock'?: File exists|Another git process",
        GitError,
        "another git command is at work in this repository",
        "Wait until it has ended; if there is none, remove the file index.lock in the folder .git",
    ),
    (
        "cannot do a partial commit during|unmerged files|unfinished merge",
        GitError,
        "a merge, rebase or cherry-pick is under way in this repository",
        "Finish it or stop it, such as by git merge --abort",
    ),
    (
        "but expected|reference already exists|reference is missing",
        BranchMoved,
        "somebody else has moved the branch meanwhile; nothing was published",
        "Publish again",
    ),
    (
        "failed to sign|signing failed",
        GitError,
        "the commit could not be signed, as the settings of git ask for",
        "Try git commit -S by hand: it says what is missing",
    ),
)


def said(output: bytes) -> list[str]:
    """The lines a command printed, without blank ones and hints."""
    lines = (line.strip() for line in output.decode("utf-8", "replace").splitlines())
    return [line for line in lines if line and not line.startswith("hint:")]


def known(lines: Sequence[str]) -> GitError | None:
    """Our error for what a command said, None where it said nothing that we know."""
    everything = "\n".join(lines)
    for pattern, kind, message, remedy in _KNOWN:
        if re.search(pattern, everything):
            return kind(message, remedy=remedy)
    return None


def told(command: str, lines: Sequence[str]) -> GitError:
    """Our error for what a command said, in its own words where we do not know them."""
    # A line that calls itself an error says more than what follows it.
    marks = ("fatal: ", "error: ")
    marked = [line.partition(": ")[2] for line in lines if line.startswith(marks)]
    reason = [*marked, *lines[-1:], "it gave no reason"][0]
    return known(lines) or GitError(f"git {command} failed: {reason}")
