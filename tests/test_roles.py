"""Who may grade, on the pages and in what they call; who may adjudicate."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.core.errors import InvalidInput
from app.flows import labeling
from app.flows.checking import check
from app.flows.loading import load
from app.flows.own import Own
from app.team import STARTED_WITH
from app.workspace import Workspace
from tests.conftest import judgment
from tests.labelpage import buttons, chunk_on_screen, controls, press, send, shown

PROXY = '[sign_in]\nkind = "proxy"\nheader = "X-User"\n'
OIDC = '[sign_in]\nkind = "oidc"\n'
ROLES = '[roles]\nreviewers = ["ana@example.org"]\nadjudicators = ["ben"]\n'
PAGES = ("label", "retrieve", "review")
LEDGER = "labels/runbooks/judgments/ana@example.org.jsonl"


@pytest.fixture
def opened(runbooks, repository, monkeypatch):
    """Opens a page as somebody, under some `desk.toml`, in a server that was started with it."""
    monkeypatch.chdir(runbooks)

    def run(text, page="label", started=None, query=(), **user):
        Path("data/desk.toml").write_text(f"format = 1\n{text}")
        known = "proxy X-User" if PROXY in text else "oidc" if OIDC in text else ""
        monkeypatch.setenv(STARTED_WITH, known if started is None else started)
        at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
        at.user = user
        # A link to a question: who comes without one is offered practice first.
        asked = {"question": "retry-budget"} if page == "label" else {}
        for key, value in {**asked, **dict(query)}.items():
            at.query_params[key] = value
        at.run()
        if page != "label":
            at.switch_page(f"pages/{page}.py").run()
        assert not at.exception
        return at

    return run


def test_who_is_signed_in_grades_under_that_name(opened):
    at = opened(PROXY + ROLES, email=" Ana@Example.org", query={"reviewer": "mallory"})
    assert "Signed in as" in shown(at) and "ana@example.org" in shown(at)
    assert not at.text_input and "Sign out" not in [b.label for b in at.button]
    press(at, "grade-2")
    (event,) = map(json.loads, Path(LEDGER).read_text().splitlines())
    assert (event["author"], event["grade"]) == ("ana@example.org", 2)
    assert len(list(Path(LEDGER).parent.glob("*.jsonl"))) == 2  # the sample's and this one


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("user", [{}, {"email": None}, {"email": " "}])
def test_without_the_header_no_page_shows_anything(opened, page, user):
    at = opened(PROXY, page, **user)
    assert "Nobody is signed in: no proxy sent the header X-User." in shown(at)
    assert "at the address of its proxy, not at this port" in shown(at)
    assert not at.button and not at.selectbox


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("user", [{}, {"is_logged_in": False}, {"email": "eve@example.org"}])
def test_without_a_sign_in_by_openid_there_is_only_its_button(opened, page, user):
    at = opened(OIDC, page, **user)
    assert "Nobody is signed in. Sign in to read and to grade." in shown(at)
    assert [b.label for b in at.button] == ["Sign in"] and not at.selectbox


def test_the_button_fails_in_a_sentence(opened):
    at = opened(OIDC)
    at.button[0].click().run()  # there are no secrets here
    assert "Something unexpected happened" in shown(at)


def test_signed_in_by_openid(opened):
    at = opened(OIDC, email="Ana@Example.org", is_logged_in=True)
    assert "ana@example.org" in shown(at) and len(buttons(at, "grade")) == 3
    at.button(key="sign-out").click().run()
    assert [b.label for b in at.button] == ["Sign in"]


@pytest.mark.parametrize("claims", [{}, {"email": "e@example.org", "email_verified": False}])
def test_an_address_that_nobody_verified_is_no_identity(opened, claims):
    at = opened(OIDC, is_logged_in=True, **claims)
    assert "The provider names no verified e-mail address" in shown(at)
    assert [b.label for b in at.button] == ["Sign out"]


def test_a_name_that_no_reviewer_can_have(opened):
    at = opened(PROXY, email="x" * 61)
    assert "Who is signed in cannot be a reviewer: the name" in shown(at)
    assert "has over 60 characters. Sign in under another name." in shown(at)
    assert not at.button


def test_a_name_beyond_ascii_in_a_header(opened):
    assert "bj\u00f6rn" in shown(opened(PROXY, email="bj\u00f6rn".encode().decode("latin-1")))
    assert "bj\u00f6rn" in shown(opened(PROXY, email="bj\u00f6rn"))


@pytest.mark.parametrize("started", ["", "oidc", "proxy X-Other"])
def test_another_sign_in_than_the_servers_lets_nobody_in(opened, started):
    at = opened(PROXY, started=started, email="ana@example.org")
    sentence = "data/desk.toml: the sign-in set there is not the one this server was started with."
    assert f"{sentence} Start desk again." in shown(at)
    assert not at.button


@pytest.mark.parametrize("page", PAGES)
def test_a_sign_in_that_was_taken_out_lets_nobody_in(opened, page):
    assert "Start desk again." in shown(opened("", page, started="oidc"))


def test_settings_that_are_refused_let_nobody_in(opened):
    at = opened("[sign_in]\n", email="ana@example.org")
    assert "data/desk.toml: the key sign_in.kind is missing." in shown(at)
    assert not at.button


def test_without_the_role_there_is_something_to_read(opened):
    at = opened(PROXY + ROLES, email="dan@example.org")
    assert (
        "You may read but not grade: roles.reviewers in data/desk.toml does not have "
        "dan@example.org. Ask whoever keeps this workspace to add the name." in shown(at)
    )
    assert 'data-testid="chunk"' in shown(at) and not at.button
    assert "Left for you" not in shown(at)
    # One reads on, with all that helps to read, and finds nothing that judges.
    acts = ["back", "next", "words", "around", "document", "search"]
    assert [b["act"] for b in buttons(at, "")] == acts
    before = chunk_on_screen(at)
    press(at, "document")
    assert "The whole document" in shown(at)
    press(at, "next")
    assert chunk_on_screen(at) not in (None, before)
    press(at, "search")
    assert set(controls(at)["keys"].values()) == {"search", "escape"}
    send(at, {"act": "grade-2", "item": controls(at)["item"], "value": None})
    assert not Path(LEDGER).exists()
    assert "Scores at K" in shown(opened(PROXY + ROLES, "retrieve", email="dan@example.org"))


def test_a_role_that_was_taken_meanwhile(opened):
    at = opened(PROXY + ROLES, email="ana@example.org")
    Path("data/desk.toml").write_text(f'format = 1\n{PROXY}[roles]\nreviewers = ["ben"]\n')
    press(at, "grade-0")
    assert shown(at).count("You may read but not grade") == 1
    assert not Path(LEDGER).exists() and not buttons(at, "grade")


def test_a_sign_in_that_ended_meanwhile(opened):
    at = opened(PROXY, email="ana@example.org")
    at.user = {"email": "ben@example.org"}
    press(at, "grade-0")
    assert "The sign-in of ana@example.org has ended. Nothing was saved: sign in again." in shown(
        at
    )
    assert not Path(LEDGER).exists()


def test_roles_without_a_sign_in_are_told_on_the_page(opened):
    at = opened(ROLES, query={"reviewer": "ana@example.org"})
    assert "protect nothing without a sign-in" in shown(at) and len(buttons(at, "grade")) == 3
    assert not buttons(opened(ROLES, query={"reviewer": "dan"}), "grade")


def test_nothing_is_written_for_who_may_not_grade(runbooks):
    loaded = load(Workspace.at(runbooks).collection("runbooks"))
    first, second, *_ = loaded.corpus.eligible
    item = labeling.item(loaded, "retry-budget", first)
    saved = labeling.grade(loaded, "dan", item, 2).event
    (runbooks / "data/desk.toml").write_text(f"format = 1\n{ROLES}")
    before = (runbooks / "labels/runbooks/judgments/dan.jsonl").read_bytes()
    again = labeling.item(loaded, "retry-budget", second)
    for act in (
        lambda: labeling.grade(loaded, "dan", again, 1),
        lambda: labeling.undo(loaded, Own(loaded, "dan"), saved.event),
    ):
        with pytest.raises(InvalidInput, match="you may read but not grade"):
            act()
    assert (runbooks / "labels/runbooks/judgments/dan.jsonl").read_bytes() == before


def adjudicated(root, author, number, **more):
    path = root / f"labels/tiny/judgments/{author}.jsonl"
    line = judgment("q1", "apple", 2, number, author=author, adjudication=True) | more
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def test_an_adjudication_by_somebody_else_is_a_finding(indexed):
    root = indexed()
    (root / "data/desk.toml").write_text(f"format = 1\n{ROLES}")
    adjudicated(root, "ben", "b1")
    adjudicated(root, "dan", "d1")
    adjudicated(root, "dan", "d2", question="q2", chunk=["plum", "as-is-v1", "plum"])
    report = check(Workspace.at(root), "tiny")
    assert report.exit_code == 1
    assert [str(problem) for problem in report.findings] == [
        'data/desk.toml: 2 adjudications by dan, whom roles.adjudicators does not name: "q1" with '
        "apple for one. Add the author there, or take back what was adjudicated."
    ]
    assert any("protect nothing" in notice for notice in report.notices)
    (root / "data/desk.toml").unlink()
    assert check(Workspace.at(root), "tiny").exit_code == 0


def test_an_adjudication_that_was_taken_back_is_none(indexed):
    root = indexed()
    (root / "data/desk.toml").write_text(f"format = 1\n{PROXY}{ROLES}")
    adjudicated(root, "dan", "d1")
    adjudicated(root, "dan", "d2", kind="withdraw", grade=None, replaces="d1")
    report = check(Workspace.at(root), "tiny")
    assert (report.exit_code, report.notices) == (0, ())


def test_a_check_refuses_settings_that_are_refused(indexed):
    root = indexed()
    (root / "data/desk.toml").write_text("format = 1\nrole = 1\n")
    report = check(Workspace.at(root), "tiny")
    assert report.exit_code == 2
    assert str(report.errors[0]) == 'data/desk.toml: unknown key "role". Did you mean roles?'


def test_the_doctor_looks_at_the_sign_in(runbooks, desk):
    path = runbooks / "data/desk.toml"
    path.write_text('format = 1\n[roles]\nreviewers = ["ana"]\n', encoding="utf-8")
    told = desk(runbooks, "doctor").out
    assert "nobody signs in; 1 may grade, all may adjudicate" in told
    assert "protect nothing without a sign-in" in told
    path.write_text("format = 2\n", encoding="utf-8")
    answer = desk(runbooks, "doctor")
    assert answer.code == 1 and "data/desk.toml: format is " in answer.out
