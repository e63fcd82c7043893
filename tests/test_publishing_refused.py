"""When `desk labels publish` refuses: one sentence each, and nothing is changed."""

import pytest

from tests.repositories import ANN, BOB, git, grade, head, hook, names_in, repository

pytestmark = pytest.mark.usefixtures("git_settings")


@pytest.fixture
def root(tiny):
    """A workspace whose three labels are committed."""
    return repository(tiny())


def refusal(root, desk, *words):
    """The sentences of a publication that is refused, and changes nothing."""
    before = git(root, "status", "--porcelain"), git(root, "for-each-ref")
    answer = desk(root, "labels", "publish", *words)
    assert (answer.code, answer.out) == (2, "")
    assert (git(root, "status", "--porcelain"), git(root, "for-each-ref")) == before
    return answer.errors


@pytest.mark.parametrize("words", [(), ("--branch", "side")])
def test_lines_that_cannot_be_read_stop_it_all_of_them_told(root, desk, words):
    grade(root, "bob", 1)
    with (root / ANN).open("a") as file:
        file.write('{broken\n{"format":1}\n')
    with (root / "labels/tiny/questions.jsonl").open("a") as file:
        file.write("[]\n")
    told = "\n".join(refusal(root, desk, *words))
    for place in (f"{ANN}:4: ", f"{ANN}:5: ", "labels/tiny/questions.jsonl:3: "):
        assert f"error: {place}" in told


def test_a_line_that_was_cut_short_is_not_published(root, desk):
    with (root / ANN).open("a") as file:
        file.write('{"format":1,"eve')
    (sentence,) = refusal(root, desk)
    assert f"{ANN}:4: the last line is cut short" in sentence
    assert sentence.endswith("Save one more label there, or delete the line.")


def test_a_ledger_that_lost_lines_is_not_published(root, desk):
    lines = (root / ANN).read_text().splitlines(keepends=True)
    (root / ANN).write_text("".join(lines[1:]))
    grade(root, "bob", 1)
    (sentence,) = refusal(root, desk)
    assert sentence == (
        f"error: {ANN}: a committed line is missing here (the event e0), but a ledger only grows. "
        'Put back what git diff shows as removed; to take a label back, append a line with "kind":'
        '"withdraw".'
    )


def test_without_git_and_without_a_branch(tiny, desk):
    root = tiny()
    answer = desk(root, "labels", "publish")
    assert (answer.code, answer.errors) == (2, [
        "error: the folder is not under git. Put the workspace under git: git init.",
    ])  # fmt: skip
    repository(root)
    grade(root, "bob", 1)
    git(root, "switch", "-q", "--detach")
    (sentence,) = refusal(root, desk)
    assert sentence == (
        f"error: no branch is checked out, only the commit {head(root)[:7]}. Check one out (git "
        "switch BRANCH), or name one: --branch BRANCH."
    )


@pytest.mark.parametrize("words", [(), ("--branch", "side")])
def test_ignored_labels_cannot_be_published(tiny, desk, words):
    root = tiny()
    (root / ".gitignore").write_text("labels/\n")
    repository(root)
    assert refusal(root, desk, *words) == [
        "error: labels/tiny: git ignores the labels, so they cannot be published. Change the rule "
        "in .gitignore:1."
    ]


def test_a_single_ignored_file_is_left_out_and_told(root, desk):
    (root / ".git/info/exclude").write_text("labels/tiny/judgments/test*\ndata/desk.log\n")
    grade(root, "tester", 1)
    grade(root, "bob", 1)
    answer = desk(root, "labels", "publish")
    assert answer.notes == [
        "note: labels/tiny: git ignores judgments/tester.jsonl, so nobody else gets it. Change the "
        "rule in .git/info/exclude:1."
    ]
    assert names_in(root) == [BOB]


def test_a_hook_that_refuses(root, desk):
    hook(root, "commit-msg", 'grep -q DESK- "$1" || { echo "A ticket is missing." >&2; exit 1; }')
    grade(root, "bob", 1)
    assert refusal(root, desk) == [
        "error: a hook of this repository refused the commit: A ticket is missing. Do as it asks, "
        "then publish again."
    ]
    assert desk(root, "labels", "publish", "-m", "DESK-1: labels").code == 0


def test_a_merge_under_way(root, desk):
    git(root, "switch", "-q", "-c", "side")
    for branch in ("side", "main"):
        git(root, "switch", "-q", branch)
        (root / "x.txt").write_text(branch)
        git(root, "add", "x.txt")
        git(root, "commit", "-q", "-m", branch)
    git(root, "merge", "side", fine=False)
    grade(root, "bob", 1)
    (sentence,) = refusal(root, desk)
    assert "a merge, rebase or cherry-pick is under way in this repository. Finish it" in sentence
    git(root, "merge", "--abort")


def test_a_remote_that_is_not_there_stops_it_before_anything_is_committed(root, desk):
    grade(root, "bob", 1)
    assert refusal(root, desk, "--push") == [
        "error: there is no remote origin to push to. Add one: git remote add origin ADDRESS."
    ]
