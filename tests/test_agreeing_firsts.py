"""Which judgments count for agreement: none that was taken back, and none a second time."""

from functools import partial

import pytest

from app.core.text import text_hash
from app.flows.agreeing import first_judgments
from app.flows.agreeing_cases import cases, unjudged_by
from app.flows.bench import Bench
from app.flows.claims import Claims
from app.flows.pooling import pool_of
from tests.conftest import TEXTS, lines_of
from tests.renewing import Desk
from tests.reviewing import filled, read, said, write
from tests.test_agreeing import grades


@pytest.fixture
def judged(tiny):
    """Builds a tiny workspace from judgments; returns its folder."""
    return partial(filled, tiny)


def undo(of, back, *, told=True, **more):
    """An undo as it is written now, or as earlier versions wrote it."""
    own = {"event": f"{of['event']}-undo", "replaces": of["event"]}
    return {**back, **own, **({"undoes": of["event"]} if told else {}), **more}


@pytest.mark.parametrize("told", [True, False])
def test_once_a_change_is_undone_the_first_grade_counts_until_that_is_undone_too(judged, told):
    first = said("ann", "apple", 2)
    again = said("ann", "apple", 0, replaces=first["event"])
    back = undo(again, first, told=told)
    root = judged(first, again, back, said("bob", "apple", 1))
    assert grades(root) == [{"ann": 2, "bob": 1}]
    write(root, undo(back, first, told=told, kind="withdraw", grade=None))
    assert grades(root) == [] and first_judgments(read(root)).alone == ("bob",)


@pytest.mark.parametrize("told", [True, False])
def test_a_later_that_is_undone_takes_nothing_back(judged, told):
    first = said("ann", "apple", 2)
    later = said("ann", "apple", "later", replaces=first["event"])
    back = undo(later, first, told=told, time="2026-03-01T00:00:00.000Z")
    root = judged(first, said("bob", "apple", 1), later)
    assert grades(root) == []
    write(root, back)
    assert grades(root) == [{"ann": 2, "bob": 1}]
    assert first_judgments(read(root)).days == ("2026-01-01",)


def test_what_is_taken_back_does_not_count_wherever_its_line_stands(judged):
    first = said("ann", "apple", 2)
    gone = undo(first, first, kind="withdraw", grade=None)
    assert grades(judged(gone, first, said("bob", "apple", 1))) == []


def test_nobody_takes_back_what_another_said(judged):
    first = said("ann", "apple", 2)
    bob = said("bob", "apple", 0, replaces=first["event"])
    cem = said("cem", "apple", "withdraw", replaces=first["event"], undoes=first["event"])
    assert grades(judged(first, bob, cem)) == [{"ann": 2, "bob": 0}]


@pytest.mark.parametrize("changed", ["text_hash", "question_hash"])
def test_a_judgment_given_again_after_a_change_is_no_new_item(judged, changed):
    then = [said(name, "apple", n, **{changed: "f" * 64}) for name, n in (("ann", 2), ("bob", 1))]
    root = judged(*then)
    assert grades(root) == [{"ann": 2, "bob": 1}]
    write(root, *(said(e["author"], "apple", 0, replaces=e["event"]) for e in then))
    assert grades(root) == [{"ann": 2, "bob": 1}]
    assert first_judgments(read(root)).left_out == {"given again after a change": 2}
    # Who had not judged it before reads it for the first time.
    write(root, said("cem", "apple", 0), said("dan", "apple", 0))
    assert grades(root) == [{"cem": 0, "dan": 0}, {"ann": 2, "bob": 1}]


def test_a_change_of_what_was_not_blind_is_no_blind_judgment(judged):
    seen = said("ann", "apple", 2, blind=False)
    root = judged(seen, said("ann", "apple", 1, replaces=seen["event"]), said("bob", "apple", 1))
    assert grades(root) == []


def test_a_withdrawal_by_hand_takes_back_every_wording(judged):
    root = judged(
        said("ann", "apple", 2), said("bob", "apple", 1),
        *(said(name, "apple", 1, question_hash="f" * 64) for name in ("ann", "bob")),
    )  # fmt: skip
    assert len(grades(root)) == 2
    write(root, said("ann", "apple", "withdraw", question_hash=None))
    assert grades(root) == []


def test_confirmed_and_undone_on_the_page_two_items_stay_two(tiny, collection_of):
    desk = Desk.of(tiny, collection_of)
    for reviewer in ("ann", "bob"):
        for chunk in ("c1", "c2"):
            desk.grade(chunk, 1, reviewer)

    def bench():
        loaded = desk.load()
        return Bench(loaded, pool_of(loaded), Claims())

    first = [*first_judgments(desk.load()).items]
    desk.keep()
    desk.ask("q1", text="Another wording?")
    for reviewer in ("ann", "bob"):
        bench().confirm(reviewer, bench().stale(reviewer))
    assert [*first_judgments(desk.load()).items] == first
    here = bench()
    here.undo("ann")
    here.undo("ann")
    assert [*first_judgments(desk.load()).items] == first and len(first) == 2


QUOTE = [{"quote": "pruning in winter"}]
NEW = "An apple tree needs pruning in winter or spring."


@pytest.fixture
def apart(judged):
    """Ann, Bob and Cem graded the apple, each another way."""
    return judged(*(said(name, "apple", g) for name, g in (("ann", 1), ("bob", 2), ("cem", 0))))


def hidden_from(root, *viewers):
    """Which viewers do not see the one item to which Bob gave 2 and Cem 0."""
    loaded = read(root)
    found = cases(loaded, first_judgments(loaded), ("bob", "cem"), (2, 0))
    assert len(found) == 1
    return [name for name in viewers if unjudged_by(loaded, name, found)]


def reword(root):
    path = root / "labels/tiny/questions.jsonl"
    path.write_text(path.read_text().replace("When is an apple", "When exactly is an apple"))


def rewrite(root):
    texts = [{"id": n, "text": NEW if n == "apple" else text} for n, text in TEXTS.items()]
    (root / "data/tiny/corpus.jsonl").write_text(lines_of(texts), encoding="utf-8")


@pytest.mark.parametrize("change", [reword, rewrite])
def test_an_item_is_hidden_from_whose_own_judgment_of_it_is_stale(apart, change):
    assert hidden_from(apart, "ann", "bob", "dan") == ["dan"]
    change(apart)
    assert hidden_from(apart, "ann", "bob", "dan") == ["ann", "bob", "dan"]
    loaded = read(apart)
    now = {"text_hash": text_hash(NEW if change is rewrite else TEXTS["apple"])}
    write(apart, said("ann", "apple", 1, question_hash=loaded.questions["q1"].hash, **now))
    assert hidden_from(apart, "ann", "bob", "dan") == ["bob", "dan"]


def test_an_item_is_shown_to_whose_own_evidence_still_stands(judged):
    root = judged(
        *(said(n, "apple", g) for n, g in (("bob", 2), ("cem", 0))),
        said("ann", "apple", 1, evidence=QUOTE),
    )  # fmt: skip
    rewrite(root)
    assert hidden_from(root, "ann", "dan") == ["dan"]
