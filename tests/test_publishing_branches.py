"""`desk labels publish --branch`: no line of anybody lost, and nothing here is touched."""

import subprocess
import sys

import pytest

from app.core.errors import InvalidInput
from app.engines.git_commits import move_branch, write_commit
from app.engines.git_errors import BranchMoved, GitError
from app.flows.sharing import branching, publishing
from app.flows.sharing.publishing import publish
from app.workspace import Workspace
from tests.repositories import (
    ANN,
    BOB,
    clone,
    committed,
    git,
    grade,
    hook,
    names_in,
    repository,
    shared,
)

pytestmark = pytest.mark.usefixtures("git_settings")


@pytest.fixture
def root(tiny):
    """A workspace whose three labels are committed."""
    return repository(tiny())


@pytest.fixture
def two(root, tmp_path):
    """Two copies of a workspace with one remote; both have the branch labels."""
    git(root, "branch", "labels")
    remote = shared(root, tmp_path / "remote.git")
    git(root, "push", "-q", "origin", "labels")
    other = clone(remote, tmp_path / "other")
    git(other, "branch", "-q", "labels", "origin/labels")
    return root, other, remote


def on(root, **more):
    return publish(Workspace.at(root), branch="labels", **more)


def test_nothing_here_is_touched(root, desk):
    grade(root, "bob", 1)
    (root / "labels/tiny/guidelines.md").write_text("Be strict.\n")
    (root / "staged.txt").write_text("staged\n")
    git(root, "add", "staged.txt", ANN)
    (root / "labels/tiny/judgments/bob.jsonl.lock").touch()
    hook(root, "pre-commit", "exit 1")

    def here():
        index = (root / ".git/index").read_bytes()
        return index, git(root, "rev-parse", "HEAD"), (root / ".git/HEAD").read_bytes()

    before = here()
    answer = desk(root, "labels", "publish", "--branch", "review/labels")
    tip = git(root, "rev-parse", "--short=7", "review/labels").strip()
    assert (answer.code, answer.out.splitlines()) == (0, [
        f"Published 1 event of 1 reviewer on review/labels ({tip}).",
        "  bob 1",
        "  tiny/guidelines.md",
        "On main it stays unpublished until review/labels is merged.",
    ])  # fmt: skip
    assert here() == before
    assert names_in(root, "review/labels") == ["labels/tiny/guidelines.md", BOB]
    assert git(root, "rev-parse", "review/labels^") == git(root, "rev-parse", "HEAD")
    assert git(root, "log", "-1", "--format=%an%n%B", "review/labels").strip() == (
        "Desk Tester\nPublish 1 label of tiny\n\nbob: 1\ntiny/guidelines.md"
    )


def test_a_branch_keeps_its_lines_and_gets_ours_behind_them(root):
    grade(root, "ann", "there")
    git(root, "switch", "-q", "-c", "labels")
    git(root, "commit", "-q", "-a", "-m", "theirs")
    git(root, "switch", "-q", "main")
    grade(root, "ann", "here")
    made = on(root)
    assert (made.tally.authors, made.tally.files) == ({"ann": 1}, ())
    assert committed(root, ANN, "labels") == ["e0", "e1", "e2", "ann-there", "ann-here"]
    tip = git(root, "rev-parse", "labels")
    assert on(root).commit is None
    assert git(root, "rev-parse", "labels") == tip


def test_the_current_branch_by_its_name_is_an_ordinary_commit(root):
    grade(root, "bob", 1)
    assert publish(Workspace.at(root), branch="main").tally.events == 1
    assert git(root, "status", "--porcelain") == ""


def test_a_branch_that_is_not_there_is_not_made_for_nothing(root, desk):
    answer = desk(root, "labels", "publish", "--branch", "labels")
    assert answer.out == "Nothing to publish: all of it is on labels already.\n"
    assert "labels" not in git(root, "branch")


def test_a_new_branch_begins_where_the_remote_has_it(two):
    root, other, _ = two
    git(other, "branch", "-q", "-D", "labels")
    grade(root, "bob", 1)
    on(root, push=True)
    git(other, "fetch", "-q")
    grade(other, "bob", 2)
    on(other)
    assert committed(other, BOB, "labels") == ["bob-1", "bob-2"]


def test_others_who_pushed_first_lose_nothing(two, desk):
    root, other, remote = two
    for number in (1, 2):
        grade(other, "bob", number)
    on(other, push=True)
    grade(root, "bob", 3)
    grade(root, "zoë", 1)
    answer = desk(root, "labels", "publish", "--branch", "labels", "--push")
    tip = git(root, "rev-parse", "--short=7", "labels").strip()
    assert answer.out.splitlines()[:2] == [
        f"Published 2 events of 2 reviewers on labels ({tip}).", "  bob 1, zoë 1",
    ]  # fmt: skip
    assert committed(remote, BOB, "labels") == ["bob-1", "bob-2", "bob-3"]
    assert git(root, "rev-parse", "labels") == git(remote, "rev-parse", "labels")
    # One commit each, one behind the other.
    assert (
        git(root, "log", "--format=%s", "main..labels", "--").count("Publish 2 labels of tiny") == 2
    )
    assert git(root, "rev-list", "--merges", "labels", "--") == ""


def test_several_commits_that_wait_are_merged_not_made_anew(two):
    root, other, remote = two
    grade(other, "bob", 1)
    on(other, push=True)
    mine = []
    for number in (2, 3):
        grade(root, "bob", number)
        mine.append(on(root).commit)
    made = on(root, push=True)
    assert committed(remote, BOB, "labels") == ["bob-1", "bob-2", "bob-3"]
    assert set(mine) < set(git(remote, "rev-list", "labels", "--").split())
    assert made.tally.events == 2


def test_a_branch_with_other_work_that_waits_is_left_to_people(two):
    root, other, remote = two
    grade(other, "bob", 1)
    on(other, push=True)
    git(root, "switch", "-q", "labels")
    (root / "code.txt").write_text("code\n")
    git(root, "add", "code.txt")
    git(root, "commit", "-q", "-m", "code")
    git(root, "switch", "-q", "main")
    grade(root, "bob", 2)
    with pytest.raises(GitError) as error:
        on(root, push=True)
    assert "1 event is committed on labels (" in str(error.value)
    assert str(error.value).endswith(
        "but not pushed: the branch labels holds more than labels that origin does not have. Bring "
        "the two together: git switch labels, then git pull --no-rebase origin labels."
    )
    assert committed(remote, BOB, "labels") == ["bob-1"]
    assert committed(root, BOB, "labels") == ["bob-2"]


def test_a_race_that_is_lost_again_and_again_ends(two, monkeypatch):
    root, other, _ = two
    again = []

    def late(*words):
        again.append(len(again))
        grade(other, "bob", again[-1])
        on(other, push=True)
        return push_branch(*words)

    push_branch = publishing.push_branch
    grade(root, "ann", 9)

    def first_of_root(repository, *words):
        act = late if repository.root == root else push_branch
        return act(repository, *words)

    monkeypatch.setattr(publishing, "push_branch", first_of_root)
    with pytest.raises(GitError, match=r"others have published on labels .*\. Publish again\."):
        on(root, push=True)
    assert len(again) == 3
    monkeypatch.undo()


def test_two_at_once_both_get_through(two):
    root, other, remote = two
    words = [sys.executable, "-c", "from app.cli import main; main()", "labels", "publish",
             "--branch", "labels", "--push"]  # fmt: skip
    for number in range(2):
        grade(root, "ann", f"round-{number}")
        grade(other, "ann", f"other-{number}")
        both = [subprocess.Popen([*words, "-w", str(one)], stderr=subprocess.PIPE, text=True,
                                 stdout=subprocess.DEVNULL)
                for one in (root, other)]  # fmt: skip
        for one in both:
            _, err = one.communicate(timeout=120)
            assert one.returncode == 0, err
    names = committed(remote, ANN, "labels")
    assert sorted(names) == sorted(
        ["e0", "e1", "e2", *(f"ann-{who}-{n}" for who in ("round", "other") for n in range(2))]
    )


def test_a_branch_that_moves_meanwhile_is_not_overwritten(root, monkeypatch):
    git(root, "branch", "labels")
    grade(root, "bob", 1)

    def late(repository, parents, files, message):
        made = write_commit(repository, parents, files, message)
        tree = git(root, "rev-parse", f"{parents[0]}^{{tree}}").strip()
        theirs = git(root, "commit-tree", tree, "-p", parents[0], "-m", "theirs").strip()
        move_branch(repository, "labels", theirs, parents[0])
        return made

    monkeypatch.setattr(branching, "write_commit", late)
    with pytest.raises(BranchMoved, match="somebody else has moved the branch meanwhile; nothing"):
        on(root)
    assert git(root, "log", "-1", "--format=%s", "labels", "--") == "theirs\n"


def test_a_branch_checked_out_elsewhere_is_refused(root, tmp_path):
    git(root, "worktree", "add", "-q", "-b", "labels", str(tmp_path / "second"))
    grade(root, "bob", 1)
    with pytest.raises(GitError, match=r"the branch labels is checked out in .*second\. Publish"):
        on(root)


def test_without_a_commit_there_is_nothing_to_begin_from(tiny):
    root = repository(tiny(), commit=False)
    with pytest.raises(GitError, match=r"has no commit yet\. Publish without --branch first\."):
        on(root)


def test_from_a_commit_without_a_branch(root, desk):
    git(root, "switch", "-q", "--detach")
    grade(root, "bob", 1)
    answer = desk(root, "labels", "publish", "--branch", "labels")
    assert answer.code == 0 and "stays unpublished" not in answer.out
    assert committed(root, BOB, "labels") == ["bob-1"]


def edited_on_both_sides(root, path, there, here):
    """The file as it was committed, changed on the branch labels and, otherwise, here."""
    git(root, "switch", "-q", "-c", "labels")
    (root / path).write_text(there)
    git(root, "add", path)
    git(root, "commit", "-q", "-m", "theirs")
    git(root, "switch", "-q", "main")
    (root / path).write_text(here)


def test_a_file_both_have_changed_is_left_to_people(root):
    path = "labels/tiny/guidelines.md"
    edited_on_both_sides(root, path, "Theirs.\n", "Ours.\n")
    with pytest.raises(InvalidInput) as error:
        on(root)
    assert str(error.value) == (
        f"{path}: the file was changed here and, otherwise, on the branch labels. Bring the two "
        "together: publish here without --branch, then git merge labels, then publish again."
    )
    # What the sentence says works.
    publish(Workspace.at(root))
    git(root, "merge", "labels", fine=False)
    (root / path).write_text("Both.\n")
    git(root, "add", path)
    git(root, "commit", "-q", "--no-edit")
    assert on(root).tally.files == ("tiny/guidelines.md",)
    assert git(root, "show", f"labels:{path}") == "Both.\n"
