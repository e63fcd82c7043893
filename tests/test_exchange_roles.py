"""Who may import what from the page: decisions, and labels under other people's names."""

import pytest

from app.core.errors import InvalidInput
from app.flows.exchange.importing import Options
from app.flows.exchange.permitted import Limits, limits_of
from app.flows.exchange.uploading import Upload, taken
from app.workspace import Workspace
from tests.conftest import lines_of
from tests.exchanging import tree
from tests.reviewing import filled, opened, read, said, shown
from tests.test_pages_exchange import button, give

ROLES = '[roles]\nreviewers = ["ann", "bob"]\nadjudicators = ["zoe"]\n'
SIGN_IN = '[sign_in]\nkind = "proxy"\nheader = "X-User"\n'


@pytest.fixture
def root(tiny):
    """Bob's judgment of the apple."""
    return filled(tiny, said("bob", "apple", 2))


def roles(root, text):
    (root / "data/desk.toml").write_text(f"format = 1\n{text}")


def bring(root, by, *events, name="x.jsonl", **options):
    data = events[0].encode() if isinstance(events[0], str) else lines_of(events).encode()
    return taken(read(root), by, "labels", Upload(name, data), Options(**options))


def decision(**more):
    return said("ann", "apple", 0, adjudication=True, blind=False, note="so", **more)


RETIRED = {
    "format": 1, "event": "r1", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
    "kind": "retire-label", "question": "q1", "chunk": ["apple", "as-is-v1", "apple"],
    "note": "gone",
}  # fmt: skip


BACK = {
    "format": 1, "event": "r2", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
    "kind": "restore-label", "question": "q1", "chunk": ["apple", "as-is-v1", "apple"],
    "restores": ["r1"],
}  # fmt: skip


@pytest.mark.parametrize("sign_in", ["", SIGN_IN])
@pytest.mark.parametrize(
    "event", [decision(), RETIRED, BACK], ids=["adjudication", "retirement", "restoration"]
)
def test_who_may_not_adjudicate_brings_no_decision_under_any_name(root, event, sign_in):
    roles(root, sign_in + ROLES)
    before = tree(root)
    for author in ("ann", "zoe"):
        with pytest.raises(InvalidInput) as caught:
            bring(root, "ann", said("ann", "pear", 1), {**event, "author": author})
        assert str(caught.value) == (
            "x.jsonl:2: the line is an adjudication, or retires a pair or brings one back, and "
            "roles.adjudicators in data/desk.toml does not have you. Let somebody who is named "
            "there import the file, or leave such lines out."
        )
    assert tree(root) == before
    roles(root, sign_in + ROLES.replace('"ann", "bob"', '"ann", "zoe"'))
    assert bring(root, "zoe", {**event, "author": "zoe"}).written
    # What is there already is nothing new to decide.
    assert bring(root, "ann", {**event, "author": "zoe"}).known == 1


def test_a_decision_in_a_sheet_or_left_out_row_is_found_too(root):
    roles(root, ROLES)
    rows = (
        "event,kind,reviewer,time,question,document,version,chunk,grade,adjudication,format\n"
        "e1,grade,ann,2026-01-01T00:00:00.000Z,q1,apple,as-is-v1,apple,1,TRUE,1\n"
        "e2,grade,ann,2026-01-01T00:00:00.000Z,q1,pear,as-is-v1,pear,1,1,1\n"
    )
    with pytest.raises(
        InvalidInput, match="x.csv:2: the line is .* one back, as 1 other in it, and roles"
    ):
        bring(root, "ann", rows, name="x.csv", skip_refused=True)


def test_signed_in_one_brings_what_oneself_said_only(root):
    roles(root, SIGN_IN + ROLES)
    assert bring(root, "ann", said("ann", "pear", 1)).written
    before = tree(root)
    with pytest.raises(InvalidInput) as caught:
        bring(root, "ann", said("bob", "pear", 1), said("ann", "plum", 1))
    assert str(caught.value) == (
        "x.jsonl: it brings what others said (bob), and roles.adjudicators in data/desk.toml does "
        "not have you. Let somebody who is named there import the file; where it names nobody and "
        "the labels are yours, say that ann judged."
    )
    rows = "question,chunk,grade\nq2,plum,1\n"
    for name, text in (("rows.csv", rows), ("rows.qrels", "q2 0 plum 1\n")):
        with pytest.raises(InvalidInput, match=r"what others said \(imported\)"):
            bring(root, "ann", text, name=name)
    question = {"kind": "question", "question": "q9", "base": None, "replaces": None,
                "value": {"format": 1, "id": "q9", "category": "c", "text": "A?"}}  # fmt: skip
    head = {name: RETIRED[name] for name in ("format", "event", "time")}
    with pytest.raises(InvalidInput, match=r"what others said \(bob\)"):
        bring(root, "ann", {**head, "author": "bob", **question})
    assert tree(root) == before
    assert bring(root, "ann", rows, name="rows.csv", reviewer="ann").written


@pytest.mark.parametrize(
    ("text", "reviewer", "limits"),
    [
        ("", "ann", Limits()),
        (SIGN_IN, "ann", Limits()),
        (ROLES, "zoe", Limits()),
        (SIGN_IN + ROLES, "zoe", Limits()),
        (ROLES, "ann", Limits(decisions=True)),
        (SIGN_IN + ROLES, "ann", Limits(decisions=True, only="ann")),
    ],
)
def test_the_limits_are_those_of_the_roles(root, text, reviewer, limits):
    roles(root, text)
    assert limits_of(Workspace.at(root), reviewer) == limits


def test_the_page_says_it_at_the_trial_and_the_button_cannot_be_pressed(root, monkeypatch):
    roles(root, ROLES)
    at = give(opened(root, monkeypatch, "exchange", "ann"), "x.jsonl", lines_of([decision()]))
    told = [e.proto.body for e in at.get("html") if 'role="alert"' in e.proto.body]
    assert len(told) == 1 and "x.jsonl:1: the line is an adjudication" in told[0]
    assert "1 row read" in shown(at) and button(at).disabled
    roles(root, ROLES.replace('["zoe"]', '["zoe", "ann"]'))
    at.run()
    assert "is an adjudication" not in shown(at) and not button(at).disabled
