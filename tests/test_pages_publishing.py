"""What page Label says of labels that are not committed: little, and nothing it has to wait for."""

import pytest
from streamlit.testing.v1 import AppTest

from app.engines import git as engine
from app.flows.sharing.unpublished import Watch
from tests.labelpage import press, shown
from tests.repositories import git, grade, repository


@pytest.fixture
def label(runbooks, repository_folder, git_settings, monkeypatch):
    """Opens page Label for Ana."""
    monkeypatch.chdir(runbooks)

    def run():
        at = AppTest.from_file(str(repository_folder / "app/main.py"), default_timeout=60)
        at.query_params["reviewer"] = "ana"
        at.query_params["question"] = "retry-budget"
        at.run()
        assert not at.exception
        return at

    return run


@pytest.fixture
def repository_folder(request):
    """The folder of the product, under a name that leaves `repository` to git."""
    return request.getfixturevalue("repository")


@pytest.fixture
def always(monkeypatch):
    """Git is asked for the last commit on every look."""
    monkeypatch.setattr(Watch, "_EVERY", 0)


def words(at):
    """The caption about what is unpublished, if there is one."""
    found = [one for one in at.caption if "unpublished" in one.value]
    assert len(found) <= 1
    return found[0].value if found else None


def test_labels_are_counted_as_they_are_saved_and_gone_once_they_are_committed(
    label, runbooks, always
):
    repository(runbooks)
    at = label()
    assert words(at) is None
    press(at, "grade-2")
    assert words(at) == "1 unpublished"
    press(at, "grade-0")
    press(at, "undo")
    assert words(at) == "3 unpublished"
    (caption,) = [one for one in at.caption if "unpublished" in one.value]
    assert "`desk labels publish runbooks`" in caption.help
    git(runbooks, "add", "labels")
    git(runbooks, "commit", "-q", "-m", "labels")
    at.run()
    assert words(at) is None


def test_the_labels_of_all_reviewers_count_and_none_is_named(label, runbooks):
    repository(runbooks)
    grade(runbooks, "ben", 1, collection="runbooks")
    at = label()
    assert words(at) == "1 unpublished"
    assert "ben" not in str(at.caption)


def test_without_git_nothing_is_said(label, runbooks):
    at = label()
    press(at, "grade-2")
    assert words(at) is None
    assert not [one for one in at.caption if "git" in one.value]


def test_between_two_looks_git_is_not_asked(label, runbooks, monkeypatch):
    repository(runbooks)
    monkeypatch.setattr(Watch, "_EVERY", 1e9)
    at = label()
    monkeypatch.setattr(engine, "attempt", lambda *_, **__: pytest.fail("git was asked"))
    press(at, "grade-2")
    assert words(at) == "1 unpublished"


def test_a_git_that_fails_breaks_nothing(label, runbooks, monkeypatch, always):
    repository(runbooks)
    at = label()
    press(at, "grade-2")
    assert words(at) == "1 unpublished"
    monkeypatch.setenv("PATH", "")
    press(at, "grade-1")
    assert words(at) is None
    assert "Saved" in shown(at) and "2 by you" in shown(at)
