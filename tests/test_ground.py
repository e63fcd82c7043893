"""What the team need not judge: retired pairs, and pairs that are settled by completeness."""

from functools import partial

import pytest

from app.core.coverage import Coverage
from app.core.events import parse_event
from app.core.following import Added
from app.core.text import text_hash
from app.flows import adjudicating, retiring
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.labeling import Said
from app.flows.pooling import pool_of
from tests.conftest import lines_of
from tests.reviewing import filled, read, said, write
from tests.test_coverage import covered
from tests.test_coverage import said as event
from tests.test_labels import QUESTIONS, TEXTS, corpus_of

NO_LOT = "[queue]\noverlap = 0.0\naudit = 0.0\n"


@pytest.fixture
def root_of(tiny):
    return partial(filled, tiny, settings=NO_LOT)


def bench_at(root):
    loaded = read(root)
    return Bench(loaded, pool_of(loaded), Claims())


def work(bench, reviewer, times=99, **wish):
    """Grade item after item; returns the pairs."""
    seen = []
    while len(seen) < times and (item := bench.turn(reviewer, Wish(**wish)).item):
        seen.append(item.pair)
        bench.say(reviewer, item, Said("grade", 0))
    return seen


def retired(name, number=1, by_text=True, anew=False):
    """An event that retires a text of q1, as a follower brings it."""
    line = {
        "format": 1, "event": f"r{number}", "time": "t", "author": "zoe", "kind": "retire-label",
        "question": "q1", "chunk": ["doc", "v1", name], "note": "SECRET",
        "text_hash": text_hash(TEXTS[name]) if by_text else None,
    }  # fmt: skip
    return Added([(("zoe.jsonl", number), parse_event(line, "", []))], anew, 0, ())


# --- Retired ----------------------------------------------------------------


def test_a_running_bench_sees_a_retirement_and_offers_the_pair_to_nobody(root_of):
    root = root_of(said("ann", "apple", "cannot-judge"))
    bench = bench_at(root)
    loaded = read(root)
    (dispute,) = adjudicating.disputes(loaded)
    pair = (dispute.question, dispute.chunk.text_hash)
    before = bench.turn("bob", Wish("q1")).progress
    assert pair in {("q1", text) for text in bench._ground.plot("q1").needs}
    retiring.retire(loaded, "zoe", dispute, "broken")
    after = bench.turn("bob", Wish("q1")).progress
    assert (after.settled, after.total, after.left) == (0, before.total - 1, before.left - 1)
    assert (after.question_settled, after.question_total) == (0, before.question_total - 1)
    assert pair not in work(bench, "bob") and bench.turn("bob", Wish()).progress.left == 0
    assert pair not in work(bench, "cid", question="q1", pinned=True)
    assert pair not in work(bench_at(root), "dan", scope="all")


def test_a_retirement_is_not_read_again_at_each_turn(root_of, monkeypatch):
    root = root_of(said("ann", "apple", "cannot-judge"))
    retiring.retire(read(root), "zoe", adjudicating.disputes(read(root))[0], "broken")
    bench = bench_at(root)
    brought = []
    take = Coverage.retire
    monkeypatch.setattr(Coverage, "retire", lambda self, added: (
        brought.extend(added.events), take(self, added))[1])  # fmt: skip
    work(bench, "bob", 3)
    assert brought == []


def test_a_retirement_that_is_taken_out_of_the_file_opens_the_pair_again(root_of):
    root = root_of(said("ann", "apple", "cannot-judge"))
    bench = bench_at(root)
    left = bench.turn("bob", Wish()).progress.left
    retiring.retire(read(root), "zoe", adjudicating.disputes(read(root))[0], "broken")
    assert bench.turn("bob", Wish()).progress.left == left - 1
    (root / "labels/tiny/events/zoe.jsonl").write_text("")
    assert bench.turn("bob", Wish()).progress.left == left


def test_a_running_bench_sees_that_a_pair_is_brought_back(root_of):
    root = root_of(said("ann", "apple", "cannot-judge"))
    bench = bench_at(root)
    left = bench.turn("bob", Wish()).progress.left
    event = retiring.retire(read(root), "zoe", adjudicating.disputes(read(root))[0], "broken").event
    assert bench.turn("bob", Wish()).progress.left == left - 1
    retiring.bring_back(read(root), "zoe", event.event)
    assert bench.turn("bob", Wish()).progress.left == left
    assert bench_at(root).turn("bob", Wish()).progress.left == left


def test_it_outlives_a_ledger_that_is_read_anew(root_of):
    root = root_of(said("ann", "apple", "cannot-judge"), said("bob", "pear", 1))
    retiring.retire(read(root), "zoe", adjudicating.disputes(read(root))[0], "broken")
    bench = bench_at(root)
    left = bench.turn("cid", Wish()).progress.left
    (root / "labels/tiny/judgments/bob.jsonl").unlink()
    assert bench.turn("cid", Wish()).progress.left == left + 1


def test_who_retired_a_pair_and_why_is_not_kept():
    made = covered(event(1, "ann", "b", "cannot-judge"))
    assert made.retire(retired("b")) == {"q1"}
    assert made.is_retired(("q1", text_hash(TEXTS["b"])))
    assert not made.is_retired(("q2", text_hash(TEXTS["b"])))
    assert "zoe" not in repr(vars(made)) and "SECRET" not in repr(vars(made))


def test_retired_by_id_holds_only_where_nobody_could_judge_it():
    pair = ("q1", text_hash(TEXTS["b"]))
    for what, holds in (("cannot-judge", True), (1, False)):
        made = covered(event(1, "ann", "b", what))
        made.retire(retired("b", by_text=False))
        assert made.is_retired(pair) is holds
    unsaid = Coverage(QUESTIONS, corpus_of(), None)
    unsaid.retire(retired("b", by_text=False))
    assert not unsaid.is_retired(pair)
    # Its twin stays: of two chunks with one text only one was retired.
    made = covered(event(1, "ann", "a", "cannot-judge"))
    made.retire(retired("a", by_text=False))
    assert not made.is_retired(("q1", text_hash(TEXTS["a"])))
    made.retire(retired("a2", 2, by_text=False))
    assert made.is_retired(("q1", text_hash(TEXTS["a"])))


# --- Complete ---------------------------------------------------------------


def complete(root):
    """Labels that are complete for the corpus as it is."""
    path = root / "data/tiny/collection.toml"
    revision = read(root).corpus.revision
    labels = f'[labels]\ncompleteness = "complete"\ncomplete_as_of = "{revision}"\n[configurations'
    path.write_text(path.read_text().replace("[configurations", labels, 1))
    return root


def test_the_first_grade_of_a_question_does_not_end_its_work(root_of):
    bench = bench_at(complete(root_of()))
    assert len(work(bench, "ann")) == 8
    count = bench.turn("ann", Wish()).progress
    assert (count.left, count.settled, count.total) == (0, 8, 8)


def test_what_was_graded_before_is_settled_by_completeness(root_of):
    bench = bench_at(complete(root_of(said("bob", "apple", 2))))
    assert {question for question, _ in work(bench, "ann")} == {"q2"}


def test_a_grade_changed_or_given_again_does_not_open_what_was_settled(root_of):
    root = complete(root_of(said("bob", "apple", 2, event="b1")))
    bench = bench_at(root)
    left = bench.turn("ann", Wish()).progress.left
    write(root, said("bob", "apple", 1, replaces="b1"), said("cid", "pear", 0))
    assert bench.turn("ann", Wish()).progress.left == left


def test_begun_questions_stay_open_where_the_ledger_is_read_anew(root_of):
    root = complete(root_of(said("bob", "plum", 0, question="q2")))
    bench = bench_at(root)
    assert len(work(bench, "ann", 1)) == 1
    (root / "labels/tiny/judgments/bob.jsonl").write_text(lines_of([]))
    bench.refresh()
    assert {question for question, _ in work(bench, "ann")} == {"q1", "q2"}


def test_a_question_is_begun_anew_once_its_grades_were_taken_back(root_of):
    bench = bench_at(complete(root_of(said("ann", "apple", 2))))
    assert bench.turn("ann", Wish()).progress.left == 4
    bench.undo("ann")
    assert bench.turn("ann", Wish()).progress.left == 8
    work(bench, "ann", 1, question="q1")
    assert bench.turn("ann", Wish()).progress.left == 7
