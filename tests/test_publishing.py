"""`desk labels publish` onto the current branch: the labels, all of them, and nothing else."""

import pytest

from app.engines.git_errors import GitError
from app.flows.sharing import publishing
from app.flows.sharing.publishing import publish
from app.workspace import Workspace
from tests.repositories import (
    ANN,
    BOB,
    clone,
    committed,
    git,
    grade,
    head,
    names_in,
    part_of,
    repository,
    shared,
)

pytestmark = pytest.mark.usefixtures("git_settings")


@pytest.fixture
def root(tiny):
    """A workspace whose three labels are committed."""
    return repository(tiny())


def test_labels_are_committed_and_nothing_else(root, desk):
    grade(root, "ann", 9)
    grade(root, "bob", 1)
    grade(root, "bob", 2)
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt")
    (root / "data/tiny/collection.toml").write_bytes(b"# changed\n")
    for name in ("bob.jsonl.lock", "bob.jsonl.torn", ".bob.jsonl.4711"):
        (root / "labels/tiny/judgments" / name).touch()
    status = git(root, "status", "--porcelain")
    answer = desk(root, "labels", "publish")
    assert answer.code == 0 and answer.err == ""
    assert answer.out == (
        f"Published 3 events of 2 reviewers on main ({head(root)[:7]}).\n  ann 1, bob 2\n"
    )
    assert names_in(root) == [ANN, BOB]
    assert committed(root, ANN) == ["e0", "e1", "e2", "ann-9"]
    assert committed(root, BOB) == ["bob-1", "bob-2"]
    assert git(root, "log", "-1", "--format=%B").strip() == (
        "Publish 3 labels of tiny\n\nann: 1\nbob: 2"
    )
    left = [line for line in status.splitlines() if not line.endswith((ANN, BOB))]
    # (The lock, the torn lines and the half-written file are what else is not known to git.)
    assert left == git(root, "status", "--porcelain").splitlines()
    assert {"A  staged.txt", " M data/tiny/collection.toml"} < set(left)


def test_what_was_staged_of_a_ledger_is_no_more_than_a_part(root):
    grade(root, "ann", 8)
    git(root, "add", ".")
    grade(root, "ann", 9)
    made = publish(Workspace.at(root))
    assert (made.tally.events, made.tally.authors) == (2, {"ann": 2})
    assert committed(root, ANN)[3:] == ["ann-8", "ann-9"]
    assert git(root, "status", "--porcelain") == ""


def test_nothing_to_publish(root, desk):
    before = head(root)
    answer = desk(root, "labels", "publish", "tiny")
    assert (answer.code, answer.out) == (
        0, "Nothing to publish: all of it is on main already.\n"
    )  # fmt: skip
    assert head(root) == before
    assert desk(root, "labels", "publish", "--json").json == {
        "format": 1, "branch": "main", "commit": None, "events": 0, "authors": {}, "files": [],
        "pushed_to": None, "notices": [],
    }  # fmt: skip


def test_other_files_are_published_too_and_named(root, desk):
    (root / "labels/tiny/guidelines.md").write_text("Be strict.\n")
    (root / "labels/tiny/complete").mkdir()
    (root / "labels/tiny/complete/naïve name.jsonl").write_text("{}\n")
    answer = desk(root, "labels", "publish", "--json").json
    assert answer["files"] == [
        "labels/tiny/complete/naïve name.jsonl", "labels/tiny/guidelines.md"
    ]  # fmt: skip
    assert (answer["events"], answer["commit"]) == (0, head(root))
    assert git(root, "log", "-1", "--format=%s").strip() == (
        "Publish tiny/complete/naïve name.jsonl, tiny/guidelines.md"
    )
    (root / "labels/tiny/guidelines.md").unlink()
    answer = desk(root, "labels", "publish")
    assert answer.out == f"Published tiny/guidelines.md on main ({head(root)[:7]}).\n"
    assert "guidelines.md" not in git(root, "ls-files")


def test_one_collection_of_several(root):
    for part in ("data", "labels"):
        git(root, "mv", f"{part}/tiny", f"{part}/tiny-2")
        git(root, "checkout", "-q", "HEAD", "--", f"{part}/tiny")
    git(root, "commit", "-q", "-m", "two")
    for name in ("tiny", "tiny-2"):
        grade(root, "bob", 1, collection=name)
    publish(Workspace.at(root), "tiny", message="Only one")
    assert names_in(root) == [BOB]
    assert git(root, "log", "-1", "--format=%B").strip() == "Only one"
    publish(Workspace.at(root))
    assert names_in(root) == ["labels/tiny-2/judgments/bob.jsonl"]


@pytest.mark.parametrize("inside", ["", "sub folder/näher"])
def test_a_workspace_inside_a_repository(tiny, tmp_path, desk, inside):
    outer = tmp_path / "outer"
    root = part_of(outer, tiny(), inside)
    grade(root, "björn 'q\"", 1)
    assert "Published 1 event of 1 reviewer on main" in desk(root, "labels", "publish").out
    (name,) = names_in(outer)
    assert name == (f"{inside}/" if inside else "") + "desk/labels/tiny/judgments/björn 'q\".jsonl"


def test_labels_that_are_a_repository_of_their_own(tiny, desk):
    root = tiny()
    repository(root / "labels")
    grade(root, "bob", 1)
    desk(root, "labels", "publish")
    assert names_in(root / "labels") == ["tiny/judgments/bob.jsonl"]


def test_the_first_commit_of_a_repository(tiny, desk):
    root = repository(tiny(), commit=False)
    answer = desk(root, "labels", "publish")
    assert (answer.code, answer.out.splitlines()) == (0, [
        f"Published 3 events of 1 reviewer on main ({head(root)[:7]}).",
        "  ann 3",
        "  tiny/questions.jsonl",
    ])  # fmt: skip
    assert names_in(root) == [ANN, "labels/tiny/questions.jsonl"]


def test_grading_goes_on_while_labels_are_published(root, desk, monkeypatch):
    """What is appended after it was counted is committed, and counted in what is told."""
    grade(root, "bob", 1)

    def late(*words):
        grade(root, "bob", 2)
        return commit(*words)

    commit = publishing.commit
    monkeypatch.setattr(publishing, "commit", late)
    assert desk(root, "labels", "publish").out.startswith("Published 2 events of 1 reviewer")
    assert committed(root, BOB) == ["bob-1", "bob-2"]


def test_push(root, tmp_path, desk):
    remote = shared(root, tmp_path / "remote.git")
    grade(root, "bob", 1)
    answer = desk(root, "labels", "publish")
    assert answer.out.endswith("Not pushed: others get it once you publish with --push.\n")
    answer = desk(root, "labels", "publish", "--push")
    assert (answer.code, answer.out) == (
        0, "Nothing to publish: all of it is on main already.\nPushed main to origin.\n"
    )  # fmt: skip
    assert git(remote, "rev-parse", "main").strip() == head(root)


def test_a_push_that_comes_second_says_what_to_do_and_that_works(root, tmp_path, desk):
    remote = shared(root, tmp_path / "remote.git")
    other = clone(remote, tmp_path / "other")
    for folder, number in ((other, 1), (root, 2)):
        grade(folder, "bob", number)
        answer = desk(folder, "labels", "publish", "--push")
    assert (answer.code, answer.errors) == (2, [
        f"error: 1 event is committed on main ({head(root)[:7]}), but not pushed: others have "
        "published on main of origin meanwhile. Get theirs: git pull --no-rebase origin main "
        "(ledger files keep the lines of both), then: desk labels publish --push."
    ])  # fmt: skip
    git(root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert desk(root, "labels", "publish", "--push").code == 0
    assert sorted(committed(remote, BOB, "main")) == ["bob-1", "bob-2"]


def test_a_push_that_fails_keeps_the_commit(root, tmp_path, desk, monkeypatch):
    shared(root, tmp_path / "remote.git")
    git(root, "remote", "set-url", "origin", str(tmp_path / "gone.git"))
    grade(root, "bob", 1)
    answer = desk(root, "labels", "publish", "--push")
    assert answer.code == 2
    assert f"1 event is committed on main ({head(root)[:7]}), but not pushed: the rem" in answer.err
    assert committed(root, BOB) == ["bob-1"]

    def hangs(*_):
        raise GitError("git push did not end within 120 s", remedy="Try again")

    monkeypatch.setattr(publishing, "push_branch", hangs)
    (sentence,) = desk(root, "labels", "publish", "--push").errors
    assert sentence == "error: main was not pushed: git push did not end within 120 s. Try again."
