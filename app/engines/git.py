"""Git by its command: what is committed and what is not. Writing is in `git_commits`.

Paths are those of the repository, never quoted and never patterns. What goes wrong is a GitError.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.engines.git_errors import GitError, said, told

#: Seconds for a command that stays on this machine.
LOCAL = 30.0
#: Variables by which a process around us, such as a hook, would point git elsewhere.
_POINTERS = re.compile(
    "GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|PREFIX"
    "|ALTERNATE_OBJECT_DIRECTORIES)"
)
_NO_OBJECT = re.compile("0+")


def environment(**more: str) -> dict[str, str]:
    """The variables git runs with: messages in English, no questions on the terminal."""
    kept = {name: value for name, value in os.environ.items() if not _POINTERS.fullmatch(name)}
    ours = {"LC_ALL": "C.UTF-8", "LANGUAGE": "en", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **ours, **more}


def run(
    folder: Path,
    *words: str,
    data: bytes = b"",
    seconds: float = LOCAL,
    fine: Sequence[int] = (0,),
    index: Path | None = None,
) -> bytes:
    """What a git command prints; raises GitError where it ends with another code than `fine`."""
    done = attempt(folder, *words, data=data, seconds=seconds, index=index)
    if done.returncode not in fine:
        raise told(words[0], said(done.stderr))
    return done.stdout


def attempt(
    folder: Path,
    *words: str,
    data: bytes = b"",
    seconds: float = LOCAL,
    index: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """A git command run to its end, however it ends; raises GitError where it cannot be."""
    more = {} if index is None else {"GIT_INDEX_FILE": str(index)}
    # The one command that takes paths but not this setting.
    literal = [] if words[0] == "check-ignore" else ["--literal-pathspecs"]
    try:
        return subprocess.run(
            ["git", "--no-optional-locks", *literal, "-C", str(folder), *words],
            input=data,
            capture_output=True,
            timeout=seconds,
            env=environment(**more),
            check=False,
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed", remedy="Install git") from error
    except subprocess.TimeoutExpired as error:
        message = f"git {words[0]} did not end within {seconds:.0f} s"
        raise GitError(message, remedy="Try again, or run it by hand to see why") from error
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}") from error


def git_state(folder: Path) -> dict[str, Any] | None:
    """Head commit and whether there are uncommitted changes; None without git or a repository."""
    try:
        head = run(folder, "rev-parse", "HEAD", seconds=5).decode().strip()
        dirty = bool(run(folder, "status", "--porcelain", seconds=5).strip())
    except GitError:
        return None
    return {"head": head, "dirty": dirty}


@dataclass(frozen=True)
class Changes:
    """The branch, and what differs from its last commit under a folder.

    `tracked` maps the path of a file that git knows to its blob in the commit, None where it has
    none. `ahead` counts commits the upstream does not have; None without an upstream.
    """

    head: str | None
    branch: str | None
    upstream: str | None = None
    ahead: int | None = None
    tracked: Mapping[str, str | None] = field(default_factory=dict)
    untracked: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Repository:
    """A repository's working tree, and where in it the folder stands that it was opened from."""

    root: Path
    prefix: str
    seconds: float = LOCAL

    @classmethod
    def at(cls, folder: Path, seconds: float = LOCAL) -> Repository:
        """The repository a folder is in; raises GitError, NoRepository where there is none."""
        asked = ("rev-parse", "--show-toplevel", "--show-prefix")
        root, prefix = run(folder, *asked, seconds=seconds).split(b"\n")[:2]
        return cls(Path(os.fsdecode(root)), os.fsdecode(prefix), seconds)

    def run(self, *words: str, data: bytes = b"", fine: Sequence[int] = (0,)) -> bytes:
        """What a git command prints in this repository."""
        return run(self.root, *words, data=data, seconds=self.seconds, fine=fine)

    def resolve(self, name: str) -> str | None:
        """The commit behind a name, None where there is none."""
        found = self.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", fine=(0, 1))
        return found.decode().strip() or None

    def changes(self, under: str) -> Changes:
        """What differs from the last commit under a folder, ignored files included."""
        raw = self.run(
            "status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all",
            "--ignored=traditional", "--no-renames", "--ignore-submodules=all", "--", under,
        )  # fmt: skip
        facts: dict[str, str] = {}
        tracked: dict[str, str | None] = {}
        others: dict[str, list[str]] = {"?": [], "!": [], "u": []}
        for entry in os.fsdecode(raw).split("\0"):
            kind, _, rest = entry.partition(" ")
            if kind == "#":
                name, _, value = rest.partition(" ")
                facts[name] = value
            elif kind == "1":
                *_, head, _, path = rest.split(" ", 7)
                tracked[path] = None if _NO_OBJECT.fullmatch(head) else head
            elif kind == "u":
                others["u"].append(rest.split(" ", 9)[-1])
            elif kind in others:
                others[kind].append(rest)
        head, branch = facts["branch.oid"], facts["branch.head"]
        return Changes(
            head=None if head == "(initial)" else head,
            branch=None if branch == "(detached)" else branch,
            upstream=facts.get("branch.upstream"),
            ahead=int(facts["branch.ab"].split()[0]) if "branch.ab" in facts else None,
            tracked=tracked,
            untracked=frozenset(others["?"]),
            ignored=frozenset(others["!"]),
            conflicts=tuple(others["u"]),
        )

    def files(self, commit: str | None, under: Iterable[str]) -> dict[str, str]:
        """Path and blob of every file a commit has under some folders; none without a commit."""
        if commit is None:
            return {}
        raw = self.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *under)
        found = {}
        for entry in os.fsdecode(raw).split("\0"):
            facts, _, path = entry.partition("\t")
            if facts.startswith("100"):  # a file, neither a link nor a submodule
                found[path] = facts.split()[2]
        return found

    def blobs(self, names: Iterable[str]) -> dict[str, bytes]:
        """The bytes of blobs, by one process."""
        wanted = sorted(set(names))
        if not wanted:
            return {}
        raw = self.run("cat-file", "--batch", data="".join(f"{n}\n" for n in wanted).encode())
        found, at = {}, 0
        for name in wanted:
            end = raw.index(b"\n", at)
            size = raw[at:end].rpartition(b" ")[2]
            if not size.isdigit():
                raise GitError(f"the object {name[:7]} is missing from the repository")
            found[name] = raw[end + 1 : end + 1 + int(size)]
            at = end + 2 + int(size)
        return found

    def ignored_by(self, path: str) -> str | None:
        """The `file:line` of the rule by which git ignores a path, None where there is none."""
        raw = self.run("check-ignore", "-v", "-z", "--stdin", data=zero([path]), fine=(0, 1))
        source, line = [*os.fsdecode(raw).split("\0"), ""][:2]
        return f"{source}:{line}" if source else None

    def without_union(self, paths: Iterable[str]) -> list[str]:
        """Those of some files that git would not merge by keeping the lines of both sides."""
        raw = self.run("check-attr", "-z", "--stdin", "merge", data=zero(paths))
        words = os.fsdecode(raw).split("\0")
        return [path for path, how in zip(words[::3], words[2::3], strict=False) if how != "union"]

    def remotes(self) -> list[str]:
        """The names of the remotes."""
        return self.run("remote").decode().split()


def zero(paths: Iterable[str]) -> bytes:
    """Paths as commands read them from a pipe."""
    return b"".join(os.fsencode(path) + b"\0" for path in paths)
