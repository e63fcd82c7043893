"""Who is listed with a decision: everybody whose judgment was in the dispute."""

import pytest

from app.core.text import text_hash
from app.flows import adjudicating, retiring
from app.flows.adjudicating import disputes
from app.flows.decisions import decisions
from tests.conftest import TEXTS
from tests.reviewing import filled, read, said, write

NOW = "An apple tree needs pruning in winter. Not in summer."
QUOTE = [{"quote": "pruning in winter"}]


@pytest.fixture
def moved(tiny, edit):
    """Bob graded apple before its text changed, and his quote still stands; Ann after."""
    root = filled(tiny, said("bob", "apple", 2, evidence=QUOTE))
    edit(root / "data/tiny/corpus.jsonl", TEXTS["apple"], NOW)
    write(root, said("ann", "apple", 0, text_hash=text_hash(NOW)))
    return root


def listed(root):
    return [sorted((j.author, j.value) for j in one.judgments) for one in decisions(read(root))]


BOTH = [("ann", 0), ("bob", 2)]


@pytest.mark.parametrize("how", ["decide", "retire"])
def test_a_judgment_that_counted_by_its_quotes_is_listed_with_the_decision(moved, how):
    (dispute,) = disputes(read(moved))
    assert sorted((j.author, j.value) for j in dispute.judgments) == BOTH
    if how == "decide":
        adjudicating.decide(read(moved), "cem", dispute, 1, "Half.")
    else:
        retiring.retire(read(moved), "cem", dispute, "Broken.")
    assert listed(moved) == [BOTH]


def test_it_stays_listed_when_the_question_changes_afterwards(moved, edit):
    adjudicating.decide(read(moved), "cem", disputes(read(moved))[0], 1, "Half.")
    edit(moved / "labels/tiny/questions.jsonl", "When is", "Why is")
    (decision,) = decisions(read(moved))
    assert decision.stale and listed(moved) == [BOTH]


def test_a_judgment_given_for_another_wording_was_not_in_the_dispute(moved):
    write(moved, said("dan", "apple", 2, evidence=QUOTE, question_hash="as it was"))
    (dispute,) = disputes(read(moved))
    assert len(dispute.judgments) == 2
    adjudicating.decide(read(moved), "cem", dispute, 1, "Half.")
    assert listed(moved) == [BOTH]


def test_what_somebody_says_of_the_new_text_stands_for_what_its_quotes_said(moved):
    adjudicating.decide(read(moved), "cem", disputes(read(moved))[0], 1, "Half.")
    write(moved, said("bob", "apple", 1, text_hash=text_hash(NOW)))
    assert listed(moved) == [[("ann", 0), ("bob", 1)]]


def test_a_judgment_carried_from_a_chunk_that_left_is_listed(tiny):
    def at(name, event):
        return {**event, "chunk": ["doc", "as-is-v1", name]}

    texts = [{"id": "new", "doc": "doc", "text": NOW}, {"id": "e", "doc": "doc", "text": "Else."}]
    root = filled(
        tiny,
        at("old", said("bob", "apple", 2, evidence=QUOTE)),
        at("new", said("ann", "apple", 0, text_hash=text_hash(NOW))),
        texts=texts,
        fields=', document = "doc"',
    )
    (dispute,) = disputes(read(root))
    adjudicating.decide(read(root), "cem", dispute, 1, "Half.")
    assert dispute.key.chunk == "new" and listed(root) == [BOTH]
