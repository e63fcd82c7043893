"""Git by its command: what it says, in our words, and what it is asked."""

import os
from pathlib import Path

import pytest

from app.engines import git as engine
from app.engines.git import Repository, git_state
from app.engines.git_commits import (
    commit,
    fetch,
    move_branch,
    push_branch,
    require_branch_name,
    require_remote,
    write_blob,
    write_commit,
)
from app.engines.git_errors import BranchMoved, GitError, NoRepository, PushRejected
from tests.repositories import asked, clone, git, hook, names_in, repository, shared

ODD = ("naïve – ö.txt", "with space.txt", "-dash.txt", ":(top)colon.txt", "star*.txt", '"q".txt')

pytestmark = pytest.mark.usefixtures("git_settings")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")
    return repository(folder)


def sentence(error):
    return str(error.value)


def test_a_folder_without_git(tmp_path):
    with pytest.raises(NoRepository) as error:
        Repository.at(tmp_path)
    assert sentence(error) == (
        "the folder is not under git. Put the workspace under git: git init."
    )
    assert git_state(tmp_path) is None


def test_git_that_is_not_installed(root, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(GitError) as error:
        Repository.at(root)
    assert sentence(error) == "git is not installed. Install git."
    assert git_state(root) is None


def test_git_that_does_not_end(root, monkeypatch, tmp_path):
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 100\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with pytest.raises(GitError, match="git rev-parse did not end within 0 s"):
        Repository.at(root, seconds=0.1)


def test_a_folder_of_somebody_else(root, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(GitError) as error:
        Repository.at(root)
    assert "belongs to another user. If you do: git config --global --add safe" in sentence(error)


def test_what_git_says_is_passed_on_where_we_have_no_words(root):
    with pytest.raises(GitError) as error:
        Repository.at(root).run("ls-tree", "no-such-name")
    assert sentence(error) == "git ls-tree failed: Not a valid object name no-such-name."


def test_git_speaks_english_and_asks_nothing(root, monkeypatch):
    monkeypatch.setenv("LANGUAGE", "de")
    made = engine.environment()
    assert (made["LANGUAGE"], made["GIT_TERMINAL_PROMPT"]) == ("en", "0")


def test_variables_of_a_hook_do_not_lead_elsewhere(root, tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert Repository.at(root).root == root


def test_state_of_a_repository(root):
    head = git(root, "rev-parse", "HEAD").strip()
    assert git_state(root) == {"head": head, "dirty": False}
    (root / "b.txt").write_text("b\n")
    assert git_state(root) == {"head": head, "dirty": True}


def test_state_without_a_commit(tmp_path):
    git(tmp_path, "init", "-q")
    assert git_state(tmp_path) is None


def test_a_subfolder_knows_where_it_stands(root):
    folder = root / "sub ü/labels"
    folder.mkdir(parents=True)
    here = Repository.at(folder)
    assert (here.root, here.prefix) == (root, "sub ü/labels/")


def test_changes_of_every_kind(root):
    for name in ("gone.txt", "edited.txt", "staged.txt"):
        (root / name).write_text("1\n")
    (root / ".gitignore").write_text("ignored.txt\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "more")
    (root / "gone.txt").unlink()
    for name in ("edited.txt", "staged.txt", "ignored.txt", "added.txt", *ODD):
        (root / name).write_text("2\n")
    git(root, "add", "staged.txt", "added.txt")
    found = Repository.at(root).changes(".")
    blob = git(root, "rev-parse", "HEAD:edited.txt").strip()
    assert found.tracked == {
        "gone.txt": blob, "edited.txt": blob, "staged.txt": blob, "added.txt": None,
    }  # fmt: skip
    assert found.untracked == set(ODD)
    assert found.ignored == {"ignored.txt"}
    assert (found.branch, found.upstream, found.ahead) == ("main", None, None)
    assert found.head == git(root, "rev-parse", "HEAD").strip()


def test_changes_without_a_commit_and_without_a_branch(tmp_path, root):
    git(tmp_path, "init", "-q", "-b", "first")
    found = Repository.at(tmp_path).changes(".")
    assert (found.head, found.branch) == (None, "first")
    git(root, "switch", "-q", "--detach")
    assert Repository.at(root).changes(".").branch is None


def test_blobs_come_from_one_process(root, monkeypatch):
    contents = {name: (name * n).encode() + b"\n\0\n" for n, name in enumerate(ODD)}
    for name, content in contents.items():
        (root / name).write_bytes(content)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "odd")
    here = Repository.at(root)
    files = here.files("HEAD", ["."])
    words = asked(monkeypatch)
    blobs = here.blobs(files.values())
    assert len(words) == 1
    assert {name: blobs[files[name]] for name in ODD} == contents


def test_a_blob_that_is_missing(root):
    with pytest.raises(GitError, match="the object 1111111 is missing from the repository"):
        Repository.at(root).blobs(["1" * 40])


def test_a_commit_takes_the_files_named_and_nothing_else(root):
    (root / "staged.txt").write_text("staged\n")
    (root / "a.txt").write_text("a, not to be committed\n")
    git(root, "add", "staged.txt")
    for name in ODD:
        (root / name).write_text("1\n")
    made = commit(Repository.at(root), ODD, ODD, "Add\n\n# not a remark\n")
    assert names_in(root) == sorted(ODD)
    assert git(root, "status", "--porcelain") == " M a.txt\nA  staged.txt\n"
    assert git(root, "rev-parse", "HEAD").strip() == made
    assert git(root, "log", "-1", "--format=%an <%ae>%n%B").strip() == (
        "Desk Tester <tester@example.org>\nAdd\n\n# not a remark"
    )


@pytest.mark.parametrize("commits", [True, False])
def test_a_hook_that_refuses_leaves_the_index_as_it_was(tmp_path, commits):
    root = tmp_path / "here"
    root.mkdir()
    repository(root, commit=commits)
    hook(root, "pre-commit", 'echo "Not today:" >&2; echo "it is Sunday." >&2; exit 1')
    (root / "b.txt").write_text("b\n")
    before = git(root, "status", "--porcelain")
    with pytest.raises(GitError) as error:
        commit(Repository.at(root), ["b.txt"], ["b.txt"], "b")
    assert sentence(error) == (
        "a hook of this repository refused the commit: Not today: / it is Sunday. "
        "Do as it asks, then publish again."
    )
    assert git(root, "status", "--porcelain") == before


def test_nobody_to_commit_as(root, git_settings):
    git_settings.write_text("[user]\n\tuseConfigOnly = true\n")
    (root / "b.txt").write_text("b\n")
    with pytest.raises(GitError) as error:
        commit(Repository.at(root), ["b.txt"], ["b.txt"], "b")
    assert sentence(error).startswith("git does not know who you are")
    assert 'git config --global user.name "Your Name"' in sentence(error)


def test_another_git_at_work(root):
    (root / ".git/index.lock").touch()
    (root / "a.txt").write_text("b\n")
    with pytest.raises(GitError, match="another git command is at work in this repository"):
        commit(Repository.at(root), ["a.txt"], [], "b")


def test_a_signature_that_cannot_be_made(root):
    git(root, "config", "commit.gpgsign", "true")
    git(root, "config", "gpg.program", "false")
    (root / "a.txt").write_text("b\n")
    here = Repository.at(root)
    with pytest.raises(GitError, match="the commit could not be signed"):
        commit(here, ["a.txt"], [], "b")
    with pytest.raises(GitError, match="the commit could not be signed"):
        write_commit(here, [here.resolve("HEAD")], {"a.txt": None}, "b")


def test_a_branch_that_moved_is_not_moved_again(root):
    here = Repository.at(root)
    first = here.resolve("HEAD")
    second = write_commit(here, [first], {"b.txt": write_blob(here, "b.txt", b"b\n")}, "second")
    third = write_commit(here, [first], {"a.txt": None}, "third")
    move_branch(here, "side", second, None)
    for old in (None, first):
        with pytest.raises(BranchMoved, match="somebody else has moved the branch"):
            move_branch(here, "side", third, old)
    assert git(root, "rev-parse", "side").strip() == second
    assert git(root, "ls-tree", "--name-only", third).split() == [".gitattributes"]


@pytest.mark.parametrize("name", ["a b", "-x", "", "a..b", "x.lock", "~"])
def test_names_that_no_branch_may_have(root, name):
    with pytest.raises(GitError, match="cannot be the name of a branch"):
        require_branch_name(Repository.at(root), name)


def test_push_and_fetch_between_two(root, tmp_path):
    remote = shared(root, tmp_path / "remote ü.git")
    other = clone(remote, tmp_path / "other")
    git(other, "commit", "-q", "--allow-empty", "-m", "theirs")
    push_branch(Repository.at(other), "origin", "main")
    git(root, "commit", "-q", "--allow-empty", "-m", "ours")
    here = Repository.at(root)
    with pytest.raises(PushRejected, match="others have published on main of origin meanwhile"):
        push_branch(here, "origin", "main")
    assert fetch(here, "origin", "main") == Repository.at(other).resolve("HEAD")


def test_pushes_that_are_refused(root, tmp_path):
    remote, here = shared(root, tmp_path / "remote.git"), Repository.at(root)
    git(root, "commit", "-q", "--allow-empty", "-m", "ours")
    with pytest.raises(GitError, match=r"no remote far to push to. Remotes here: origin."):
        require_remote(here, "far")
    hook(remote, "pre-receive", 'echo "main is closed" >&2; exit 1')
    with pytest.raises(GitError) as error:
        push_branch(here, "origin", "main")
    assert "refused the push: pre-receive hook declined / main is closed" in sentence(error)
    hook(root, "pre-push", 'echo "tests fail" >&2; exit 1')
    with pytest.raises(GitError, match="a hook of this repository refused the push: tests fail"):
        push_branch(here, "origin", "main")
    Path(root / ".git/hooks/pre-push").unlink()
    git(root, "remote", "set-url", "origin", str(tmp_path / "gone.git"))
    with pytest.raises(GitError, match="the remote origin cannot be reached: .*gone.git"):
        push_branch(here, "origin", "main")
    with pytest.raises(GitError, match="the remote origin cannot be reached"):
        fetch(here, "origin", "main")
