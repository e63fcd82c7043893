"""Fact recall, and the evidence it is made of."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.facts import FactRecall, evidence_in, fact_recall
from app.core.grades import pair_label
from app.core.judgments import Judgment
from app.core.model import ChunkKey
from app.core.questions import question_hash
from app.core.text import text_hash
from app.flows.evidence_marks import EvidenceOf, evidence_of
from tests.conftest import QUESTIONS, TEXTS, judgment, lines_of
from tests.reviewing import filled, read, said, write


def key(name):
    return ChunkKey(name, "as-is-v1", name)


def judged(grade):
    return pair_label("judged", grade, grade, grade)


UNJUDGED = pair_label("unjudged", None, 0, 2)
SUPPORTS = {key("a"): frozenset({"f1"}), key("b"): frozenset({"f1", "f2"})}


def recall(*labels, facts=("f1", "f2", "f3"), supports=SUPPORTS, k=3, threshold=1):
    hits = [(key(name), label) for name, label in zip("abcd", labels, strict=False)]
    return fact_recall(facts, hits, supports, k, threshold)


# --- Fact recall -----------------------------------------------------------


def test_facts_of_relevant_hits_count_once():
    found = recall(judged(2), judged(1), judged(0))
    assert found == FactRecall(3, 2 / 3, 2 / 3, 2 / 3, ("f1", "f2"), ("f3",))
    assert recall(judged(2), judged(2), k=1).supported == ("f1",)


def test_what_is_not_relevant_supports_nothing():
    assert recall(judged(2), judged(1), threshold=2).supported == ("f1",)
    assert recall(judged(0), judged(0)).value == 0
    assert recall().value == 0


@pytest.mark.parametrize(
    "label", [UNJUDGED, pair_label("stale", None, 0, 2), pair_label("disputed", None, 0, 2)]
)
def test_an_open_hit_may_support_every_fact(label):
    found = recall(judged(2), label)
    assert (found.value, found.lower, found.upper) == (None, 1 / 3, 1)
    assert recall(judged(2), judged(0), judged(0), label).value == 1 / 3


def test_certain_relevance_is_enough_and_none_is_open():
    assert recall(judged(0), pair_label("unsettled", 1, 1, 2)).value == 2 / 3
    assert recall(judged(2), pair_label("disputed", None, 0, 1), threshold=2).value == 1 / 3


def test_nothing_is_said_without_facts_or_recorded_evidence():
    assert recall(judged(2), facts=()) is None
    assert recall(judged(2), supports={}) is None
    assert recall(judged(2), supports={key("a"): frozenset()}) is None
    assert recall(judged(2), supports={key("a"): frozenset({"gone"})}) is None
    assert recall(judged(2), supports={key("z"): frozenset({"f1"})}).value == 0


def test_all_facts_supported_is_settled_whatever_is_open():
    assert recall(judged(2), judged(2), UNJUDGED, facts=("f1", "f2")).value == 1


def test_k_below_one_is_refused():
    with pytest.raises(ValueError, match="K must be"):
        recall(judged(2), k=0)


@given(st.lists(st.sampled_from([judged(0), judged(1), judged(2), UNJUDGED]), max_size=4))
def test_bounds_hold_every_completion_by_recorded_facts(labels):
    found = recall(*labels, k=4)
    for grade in (0, 2):
        done = recall(*[judged(grade) if one is UNJUDGED else one for one in labels], k=4)
        assert found.lower <= done.value <= found.upper


# --- What judgments of one pair support ------------------------------------


def quoting(author, grade, quote, *facts, **more):
    line = judgment("q1", "apple", grade, f"{author}{grade}{quote}", author=author, **more)
    return Judgment(**line, evidence=[{"quote": quote, "facts": list(facts)}])


def test_quotes_come_once_and_facts_of_all():
    found = evidence_in(
        [quoting("ann", 2, "x", "f1"), quoting("bob", 1, "x", "f2"), quoting("cy", 2, "y")]
    )
    assert found == EvidenceOf(("x", "y"), frozenset({"f1", "f2"}))


def test_a_0_and_what_was_not_blind_beside_a_blind_grade_support_nothing():
    zero, seen = quoting("ann", 0, "x", "f1"), quoting("bob", 2, "y", "f2", blind=False)
    assert evidence_in([zero]) == EvidenceOf()
    assert evidence_in([seen]).facts == {"f2"}
    assert evidence_in([zero, seen]) == EvidenceOf()
    assert evidence_in([zero, quoting("cy", 2, "z", "f3", blind=False, adjudication=True)]).facts


# --- The evidence of one question ------------------------------------------

FACTS = [{"id": "f1", "text": "In winter."}, {"id": "f2", "text": "It needs pruning."}]
ASKED = [
    {"format": 1, "id": "q1", "category": "general", "text": QUESTIONS["q1"], "facts": FACTS},
    {"format": 1, "id": "q2", "category": "general", "text": QUESTIONS["q2"]},
]
HASH = question_hash(QUESTIONS["q1"], None, [(one["id"], one["text"]) for one in FACTS])


def quoted(author, name, grade, *facts, quote="tree", **more):
    evidence = [{"quote": quote, "facts": list(facts)}]
    return said(author, name, grade, evidence=evidence, **{"question_hash": HASH, **more})


def test_evidence_in_force_of_one_question_only(tiny):
    first = quoted("ann", "apple", 2, "f1")
    root = filled(
        tiny,
        first,
        quoted("bob", "apple", 2, "f2", quote="pruning"),
        quoted("ann", "pear", 1, "f1"),
        quoted("ann", "pear", "withdraw"),
        said("ann", "plum", 2, "q2", evidence=[{"quote": "prunes"}]),
        questions=ASKED,
    )
    loaded = read(root)
    both = EvidenceOf(("tree", "pruning"), frozenset({"f1", "f2"}))
    assert evidence_of(loaded, "q1") == {key("apple"): both}
    assert evidence_of(loaded, "q2") == {key("plum"): EvidenceOf(("prunes",))}
    assert evidence_of(loaded, "none") == {}
    write(root, quoted("ann", "apple", 2, "f2", replaces=first["event"]))
    assert evidence_of(loaded, "q1")[key("apple")].facts == {"f2"}


def test_stale_evidence_does_not_count(tiny):
    old = question_hash("Another question?", None, [])
    root = filled(tiny, quoted("ann", "apple", 2, "f1", question_hash=old), questions=ASKED)
    assert evidence_of(read(root), "q1") == {}


def test_a_twin_shares_it_and_a_changed_text_that_holds_the_quote_keeps_it(tiny):
    texts = {**TEXTS, "twin": TEXTS["apple"], "pear": "A pear ripens off the tree, in June."}
    root = filled(
        tiny, quoted("ann", "apple", 2, "f1"), quoted("ann", "pear", 1, "f2"),
        texts=texts, questions=ASKED,
    )  # fmt: skip
    found = evidence_of(read(root), "q1")
    assert {one.chunk: evidence.facts for one, evidence in found.items()} == {
        "apple": {"f1"}, "twin": {"f1"}, "pear": {"f2"},
    }  # fmt: skip


def test_a_retired_text_has_no_evidence(tiny):
    root = filled(tiny, quoted("ann", "apple", 2, "f1"), questions=ASKED)
    folder = root / "labels/tiny/events"
    folder.mkdir()
    (folder / "ann.jsonl").write_text(
        '{"format":1,"event":"r1","time":"2026-01-02T00:00:00.000Z","author":"ann","kind":'
        '"retire-label","question":"q1","chunk":["apple","as-is-v1","apple"],"note":"wrong",'
        f'"text_hash":"{text_hash(TEXTS["apple"])}"}}\n',
        encoding="utf-8",
    )
    assert evidence_of(read(root), "q1") == {}


def test_it_is_fast_when_asked_again(tiny):
    lines = [quoted(f"r{n % 5}", "apple", 2, "f1") for n in range(20)]
    lines += [said(f"r{n % 5}", f"c{n}", n % 3, "q2") for n in range(10_000)]
    texts = {**TEXTS, **{f"c{n}": f"Text {n}." for n in range(10_000)}}
    root = tiny(labels=(), texts=texts, questions=ASKED)
    folder = root / "labels/tiny/judgments"
    for author in range(5):
        mine = [one for one in lines if one["author"] == f"r{author}"]
        (folder / f"r{author}.jsonl").write_text(lines_of(mine), encoding="utf-8")
    loaded = read(root)
    assert evidence_of(loaded, "q1")[key("apple")].facts == {"f1"}
    times = []
    for _ in range(5):
        start = time.perf_counter()
        evidence_of(loaded, "q1")
        times.append(time.perf_counter() - start)
    assert min(times) < 0.02
