"""Real git repositories to publish in, whatever the machine's own settings are."""

import json
import subprocess

from app.engines import git as engine

ANN = "labels/tiny/judgments/ann.jsonl"
BOB = "labels/tiny/judgments/bob.jsonl"
ATTRIBUTES = (
    "labels/*/judgments/*.jsonl merge=union text eol=lf\n"
    "labels/*/events/*.jsonl merge=union text eol=lf\n"
)


def alone(monkeypatch, tmp_path):
    """No settings of this machine or of a user reach git; one made here do."""
    settings = tmp_path / "gitconfig"
    settings.write_text("[user]\n\tname = Desk Tester\n\temail = tester@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return settings


def git(root, *words, fine=True):
    """What git prints in a folder; a failure is the test's."""
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
    )
    assert not fine or done.returncode == 0, done.stderr
    return done.stdout


def repository(root, *, commit=True):
    """Makes a folder a repository on the branch main, with all that is there committed."""
    git(root, "init", "-q", "-b", "main")
    (root / ".gitattributes").write_text(ATTRIBUTES)
    (root / ".git/info/exclude").write_text("data/desk.log*\n")
    if commit:
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", "Begin")
    return root


def part_of(outer, workspace, inside):
    """Moves a workspace into a new folder, some folders down, and makes that a repository."""
    root = outer / inside / "desk"
    root.parent.mkdir(parents=True)
    workspace.rename(root)
    repository(outer)
    (root / ".gitattributes").write_text(ATTRIBUTES)
    return root


def shared(root, folder):
    """A bare repository that has what `root` has, as its remote origin."""
    git(root, "init", "-q", "--bare", "-b", "main", str(folder))
    git(root, "remote", "add", "origin", str(folder))
    git(root, "push", "-q", "-u", "origin", "main")
    return folder


def clone(remote, folder):
    """Somebody else's copy of a remote."""
    git(remote, "clone", "-q", str(remote), str(folder))
    return folder


def grade(root, author, number, *, collection="tiny", question="q1", chunk="apple", grade=1):
    """Appends one event to a reviewer's ledger; returns it."""
    event = {
        "format": 1, "event": f"{author}-{number}", "time": "2026-01-01T00:00:00.000Z",
        "author": author, "kind": "grade", "question": question,
        "chunk": [chunk, "as-is-v1", chunk], "grade": grade,
    }  # fmt: skip
    path = root / f"labels/{collection}/judgments/{author}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(event, ensure_ascii=False) + "\n")
    return event


def committed(root, path, revision="HEAD"):
    """Ids of the events a file has in a commit, in order."""
    text = git(root, "show", f"{revision}:{path}")
    return [json.loads(line)["event"] for line in text.splitlines()]


def head(root):
    """The id of the last commit."""
    return git(root, "rev-parse", "HEAD").strip()


def names_in(root, revision="HEAD"):
    """The files one commit changed."""
    words = ("show", "-z", "--name-only", "--format=", "--root", "-m", "--first-parent")
    return sorted(name for name in git(root, *words, revision).split("\0") if name)


def asked(monkeypatch):
    """What the product asks git from now on: the first word of each call."""
    words = []
    run = engine.attempt
    monkeypatch.setattr(engine, "attempt", lambda *a, **k: words.append(a[1]) or run(*a, **k))
    return words


def hook(root, name, script):
    """Makes a hook of a repository, bare or not."""
    folder = root / ".git" if (root / ".git").is_dir() else root
    path = folder / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path
