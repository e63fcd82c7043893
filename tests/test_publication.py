"""`desk labels status`: what is committed, what is not, and what is in the way."""

import pytest

from app.flows.sharing.publication import status
from app.flows.sharing.publishing_words import status_json, status_text
from app.workspace import Workspace
from tests.repositories import ANN, asked, git, grade, head, part_of, repository, shared

pytestmark = pytest.mark.usefixtures("git_settings")


@pytest.fixture
def root(tiny):
    """A workspace whose three labels are committed."""
    return repository(tiny())


def status_of(root, name=None):
    return status(Workspace.at(root), name)


def text_of(root):
    return status_text(status_of(root))


def files_of(root):
    """Per file: state, and events that are new, missing and changed."""
    (one,) = status_of(root).collections
    return {
        file.name: (file.state, *map(len, (file.growth.new, file.growth.missing,
                                           file.growth.changed)))
        for file in one.files
    }  # fmt: skip


def test_everything_published(root):
    assert text_of(root) == "tiny: everything published on main"
    found = status_json(status_of(root))
    assert found["git"] == {
        "repository": True, "obstacle": None, "branch": "main",
        "head": head(root), "upstream": None, "unpushed": None,
    }  # fmt: skip
    (one,) = found["collections"]
    assert (found["format"], one["events"], one["unpublished"], one["files"]) == (1, 3, 0, [])


def test_new_events_and_other_files(root):
    grade(root, "ann", 9)
    grade(root, "bob müller", 1)
    grade(root, "bob müller", 2)
    (root / "labels/tiny/guidelines.md").write_text("Be strict.\n")
    (root / "labels/tiny/questions.jsonl").write_text("\n")
    (root / "labels/tiny/judgments/ann.jsonl.lock").touch()
    (root / "labels/tiny/judgments/bob müller.jsonl.torn").write_text("{")
    (root / "elsewhere.txt").write_text("not of the labels\n")
    assert text_of(root).splitlines() == [
        "tiny: 3 of 6 events unpublished on main",
        "      new  guidelines.md",
        "    1 new  judgments/ann.jsonl",
        "    2 new  judgments/bob müller.jsonl",
        "  changed  questions.jsonl",
        "  To publish: desk labels publish tiny",
    ]
    assert status_json(status_of(root))["collections"][0]["files"][1] == {
        "file": ANN, "state": "changed", "unpublished": 1, "missing": 0, "changed": 0,
        "ignored": False,
    }  # fmt: skip


def test_what_is_staged_is_not_published(root):
    grade(root, "ann", 9)
    grade(root, "bob", 1)
    git(root, "add", ".")
    assert files_of(root) == {
        "judgments/ann.jsonl": ("changed", 1, 0, 0), "judgments/bob.jsonl": ("new", 1, 0, 0),
    }  # fmt: skip


def test_an_event_staged_and_taken_back_in_the_file_is_no_difference(root):
    before = (root / ANN).read_bytes()
    grade(root, "ann", 9)
    git(root, "add", ".")
    (root / ANN).write_bytes(before)
    assert files_of(root) == {}


def test_a_file_staged_as_removed_is_still_published(root):
    git(root, "rm", "-q", "--cached", ANN)
    assert files_of(root) == {}
    grade(root, "ann", 9)
    assert files_of(root) == {"judgments/ann.jsonl": ("changed", 1, 0, 0)}


def test_committed_lines_that_were_deleted_or_edited(root):
    lines = (root / ANN).read_text().splitlines(keepends=True)
    (root / ANN).write_text(lines[0].replace('"grade": 2', '"grade": 0') + lines[2])
    assert files_of(root) == {"judgments/ann.jsonl": ("changed", 0, 1, 1)}
    text = text_of(root)
    assert f"  warning: {ANN}: a committed line is missing here (the event e1), but a" in text
    assert f"  warning: {ANN}: a committed line is changed here (the event e0), but a" in text
    assert "To publish" not in text
    (root / ANN).unlink()
    assert files_of(root) == {"judgments/ann.jsonl": ("deleted", 0, 3, 0)}
    assert "3 committed lines are missing here (the event e0)" in text_of(root)


def test_lines_that_cannot_be_read_are_told_with_their_place(root):
    with (root / ANN).open("a") as file:
        file.write('{broken\n{"format":1}\n')
    with (root / "labels/tiny/questions.jsonl").open("a") as file:
        file.write("[]\n")
    grade(root, "bob", 1)
    (one,) = status_of(root).collections
    assert (one.events, one.unpublished) == (None, 1)
    places = {problem.place for problem in one.problems}
    assert places == {f"{ANN}:4", f"{ANN}:5", "labels/tiny/questions.jsonl:3"}
    assert f"  error: {ANN}:4: the line is not JSON" in text_of(root)


def test_a_file_that_cannot_be_opened_is_told_once(root, monkeypatch):
    grade(root, "ann", 9)
    read = type(root).read_bytes

    def refuse(path):
        if path.name == "ann.jsonl":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(type(root), "read_bytes", refuse)
    (one,) = status_of(root).collections
    assert [str(problem) for problem in one.problems] == [
        f"{ANN}: the file cannot be read: Permission denied. Mend it or its permissions."
    ]


def test_without_git_everything_is_unpublished(tiny):
    root = tiny()
    assert text_of(root).splitlines() == [
        "tiny: 3 of 3 events unpublished",
        "  3 new  judgments/ann.jsonl",
        "    new  questions.jsonl",
        "note: the folder is not under git. Put the workspace under git: git init. Labels can also "
        "be sent as a file: desk labels bundle COLLECTION FILE.zip",
    ]
    found = status_json(status_of(root))
    assert found["git"]["repository"] is False
    assert found["git"]["obstacle"].startswith("the folder is not under git")
    assert found["unpublished"] == 3


@pytest.mark.parametrize(
    ("rule", "path"), [("labels/", ".gitignore"), ("judgments", "labels/.gitignore")]
)
def test_ignored_labels_are_told_with_the_rule(tiny, rule, path):
    root = tiny()
    (root / path).write_text(f"# mine\n{rule}\n")
    repository(root)
    text = text_of(root)
    assert text.startswith("tiny: 3 of 3 events unpublished on main")
    assert "3 new, ignored by git  judgments/ann.jsonl" in text
    assert f"nobody else gets it. Change the rule in {path}:2." in text


def test_a_repository_without_a_commit_and_a_commit_without_a_branch(tiny):
    root = repository(tiny(), commit=False)
    assert text_of(root).startswith(
        "tiny: 3 of 3 events unpublished on main, which has no commit yet\n"
    )
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    head = git(root, "rev-parse", "--short=7", "HEAD").strip()
    git(root, "switch", "-q", "--detach")
    grade(root, "bob", 1)
    assert text_of(root).splitlines() == [
        f"tiny: 1 of 4 events unpublished at the commit {head} (no branch is checked out)",
        "  1 new  judgments/bob.jsonl",
        "  To publish: desk labels publish tiny --branch BRANCH",
    ]


def test_commits_that_are_not_pushed(root, tmp_path):
    shared(root, tmp_path / "remote.git")
    assert status_json(status_of(root))["git"]["unpushed"] == 0
    for words, sentence in (
        ("one", "1 commit on main is not pushed to origin/main."),
        ("two", "2 commits on main are not pushed to origin/main."),
    ):
        git(root, "commit", "-q", "--allow-empty", "-m", words)
        assert sentence in text_of(root)


@pytest.mark.parametrize("inside", ["", "sub folder/näher"])
def test_a_workspace_may_be_a_part_of_a_repository(tiny, tmp_path, inside):
    outer = tmp_path / "outer"
    root = part_of(outer, tiny(), inside)
    grade(root, "bob", 1)
    assert text_of(root).splitlines() == [
        "tiny: 1 of 4 events unpublished on main",
        "  1 new  judgments/bob.jsonl",
        "  To publish: desk labels publish tiny",
    ]


def test_labels_may_be_a_repository_of_their_own(tiny):
    root = tiny()
    repository(root / "labels")
    grade(root, "bob", 1)
    assert files_of(root) == {"judgments/bob.jsonl": ("new", 1, 0, 0)}


def test_git_that_would_not_merge_by_union_is_told(root):
    (root / ".gitattributes").write_text("labels/*/judgments/*.jsonl merge=union\n")
    assert "note: Git is not told to keep the lines of both sides" in text_of(root)


def test_a_merge_conflict_is_told(root):
    (root / ".gitattributes").unlink()
    path = root / "labels/tiny/questions.jsonl"
    text = path.read_text()
    git(root, "switch", "-q", "-c", "side")
    for branch, words in (("side", "x"), ("main", "y")):
        git(root, "switch", "-q", branch)
        path.write_text(text.replace("apple", words))
        git(root, "commit", "-q", "-a", "-m", branch)
    git(root, "merge", "side", fine=False)
    assert "labels/tiny/questions.jsonl: the file holds a merge conflict. Keep the" in text_of(root)


def test_several_collections(root):
    for part in ("data", "labels"):
        git(root, "mv", f"{part}/tiny", f"{part}/tiny-2")
        git(root, "checkout", "-q", "HEAD", "--", f"{part}/tiny")
    git(root, "commit", "-q", "-m", "two")
    grade(root, "bob", 1, collection="tiny-2")
    heads = [line for line in text_of(root).splitlines() if not line.startswith(" ")]
    assert heads == [
        "tiny: everything published on main", "tiny-2: 1 of 4 events unpublished on main"
    ]  # fmt: skip
    (one,) = status_of(root, "tiny").collections
    assert (one.collection, one.unpublished) == ("tiny", 0)


def test_a_collection_without_labels(root):
    git(root, "rm", "-q", "-r", "labels")
    git(root, "commit", "-q", "-m", "none")
    assert text_of(root) == "tiny: everything published on main"


def test_git_is_asked_a_handful_of_times_however_many_files_there_are(root, monkeypatch):
    for number in range(30):
        grade(root, f"reviewer {number}", 1)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "many")
    for number in range(30):
        grade(root, f"reviewer {number}", 2)
    words = asked(monkeypatch)
    (one,) = status_of(root).collections
    assert one.unpublished == 30
    assert words == ["rev-parse", "status", "cat-file", "check-attr"]


def test_status_changes_nothing(root):
    grade(root, "ann", 9)
    grade(root, "bob", 1)

    def everything():
        files = (path for path in root.rglob("*") if path.is_file())
        return {path: path.read_bytes() for path in files}

    before = everything()
    text_of(root)
    assert everything() == before
