"""What was put off says nothing of a pair, before and after a change."""

import pytest

from app.core.errors import InvalidInput
from tests.test_carrying import NEW, corpus_of, said
from tests.test_labels import QUESTIONS, ask, labels


@pytest.mark.parametrize(
    ("texts", "questions"),
    [
        ({"a": "Kept for 5 days. It is deleted by a job."}, QUESTIONS),
        ({"a": NEW}, QUESTIONS),
        ({"a": "Kept for 5 days. It is deleted by a job."}, {"q1": ask("q1", text="Other?")}),
        ({"b": "Kept for 5 days. It is deleted by a job."}, {"q1": ask("q1", text="Other?")}),
        ({"b": "Something else."}, QUESTIONS),
    ],
    ids=["fresh", "text", "question", "moved and question", "departed"],
)
def test_later_is_no_label_whatever_changes(texts, questions):
    grade = said("z", 0, "Stays.")
    corpus = corpus_of({**texts, "z": "Stays."})
    alone = labels(grade, corpus=corpus, questions=questions)
    found = labels(grade, said("a", "later"), corpus=corpus, questions=questions)
    assert (found.pairs, found.kinds, found.covered) == (alone.pairs, alone.kinds, alone.covered)
    assert found.revision == alone.revision and found.notices == alone.notices


def test_a_ledger_of_nothing_but_later_is_read():
    found = labels(said("a", "later"), corpus=corpus_of({"a": NEW}))
    assert found.pairs == {} and found.kinds["q1"] == "undecided"


def test_later_of_an_unknown_chunk_is_still_reported():
    with pytest.raises(InvalidInput, match="the chunk doc nowhere is unknown"):
        labels(said("nowhere", "later", text_hash=None), corpus=corpus_of({"a": NEW}))


def test_later_beside_a_grade_leaves_the_grade():
    found = labels(said("a", "later", author="bob"), said("a", 2, quotes=()),
                   corpus=corpus_of({"a": "Kept for 5 days. It is deleted by a job."}))  # fmt: skip
    assert [(p.state, p.grade) for p in found.pairs.values()] == [("judged", 2)]
