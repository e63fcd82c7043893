"""Labels of chunks that have left the corpus, and what a retirement takes out."""

import pytest

from app.core.grades import PairLabel
from tests.test_labels import (
    TEXTS,
    UNJUDGED,
    corpus_of,
    grade,
    key,
    labels,
    refusals,
    retire,
    said,
    text_hash,
)

LEFT = corpus_of({"a": "text a", "c": "text c"})
RETIRED = PairLabel("retired", 0, 0, 0)
UNABLE = {"reason": "broken text"}


def gone(count, name="b"):
    return (
        f"Labeled pairs whose chunk has left the corpus: {count}, doc {name} for one. "
        "Relevant ones stay misses until they are retired."
    )


def passed_over(name, line=1):
    return (
        f"ann.jsonl:{line}: the retirement of doc {name} is passed over, for that chunk is still "
        "in the corpus. To retire its text, name its text_hash."
    )


# --- departed chunks --------------------------------------------------------


@pytest.mark.parametrize("retired", [retire("b"), retire("b", "text b"), retire("x", "text b")])
def test_a_departed_chunk_stays_a_miss_until_it_is_retired(retired):
    judged = [said("a", 1), said("b", 2)]
    found = labels(*judged, corpus=LEFT)
    assert found.relevant("q1") == (key("a"), key("b"))
    assert found.pairs["q1", key("b")] == PairLabel("judged", 2, 2, 2, departed=True)
    assert found.notices == (gone(1),)
    found = labels(*judged, corpus=LEFT, retired=[retired])
    assert found.relevant("q1") == (key("a"),) and found.notices == ()


@pytest.mark.parametrize(
    "other", [retire("a"), retire("b", "text a"), retire("b", question="q2"), retire("b", "other")]
)
def test_a_retirement_of_something_else_leaves_the_miss(other):
    found = labels(said("b", 2), said("c", 1), corpus=LEFT, retired=[other])
    assert found.relevant("q1") == (key("c"), key("b")) and found.notices == (gone(1),)


def test_a_departed_chunk_nobody_graded_leaves_nothing_behind():
    found = labels(said("a", 1), said("b", "later"), corpus=LEFT)
    assert ("q1", key("b")) not in found.pairs and found.notices == ()


def test_twins_that_departed_are_one_miss():
    judged = [said("twin", 2, "bob", text="text b"), said("b", 2), said("c", 0)]
    found = labels(*judged, corpus=LEFT)
    assert found.relevant("q1") == (key("b"),) and found.notices == (gone(1),)
    assert ("q1", key("twin")) not in found.pairs
    also = labels(*judged, said("b", 2, question="q2"), corpus=LEFT)
    assert also.relevant("q2") == (key("b"),) and also.notices == (gone(2),)


def test_judgments_of_a_departed_text_are_taken_together_whatever_its_keys():
    def missing(*judged):
        found = labels(*judged, said("c", 0), corpus=LEFT)
        return {pair[1].chunk: label for pair, label in found.pairs.items() if label.departed}

    twin = said("twin", 0, "bob", text="text b")
    assert missing(said("b", 2), twin) == {"b": PairLabel("disputed", None, 0, 2, departed=True)}
    stale = said("a1", 0, "bob", text="text b", question_hash="as it was")
    assert missing(said("b", 2), stale) == {"a1": PairLabel("judged", 2, 2, 2, departed=True)}
    assert missing(stale) == {"a1": PairLabel("stale", None, 0, 2, departed=True)}


def test_two_texts_that_departed_under_one_id_do_not_depend_on_who_judged_first():
    before, after = said("b", 2, text="text b"), said("b", 0, text="text b, new", number=2)
    found = labels(before, after, said("c", 0), corpus=LEFT)
    other = labels(after, before, said("c", 0), corpus=LEFT)
    assert found.pairs == other.pairs and found.revision == other.revision


def test_one_retirement_of_a_text_takes_out_the_labels_of_all_its_keys():
    judged = [said("b", 2), said("twin", 1, "bob", text="text b"), said("c", 1)]
    found = labels(*judged, corpus=LEFT, retired=[retire("b", "text b")])
    assert found.relevant("q1") == (key("c"),) and found.notices == ()


def test_a_collection_whose_only_label_departed_and_was_retired_can_be_read():
    for retired in (retire("b"), retire("b", "text b"), retire("x", "text b")):
        assert labels(said("b", 2), corpus=LEFT, retired=[retired]).pairs == {}


def test_a_line_by_hand_about_a_departed_chunk_may_be_retired_by_its_id():
    hand = said("b", 2, text=None)
    assert labels(hand, said("c", 1), corpus=LEFT, retired=[retire("b")]).notices == ()
    (told,) = refusals(hand, said("c", 1), corpus=LEFT)
    assert told.startswith("ann.jsonl:1: the chunk doc b is unknown. ")


# --- chunks that are there --------------------------------------------------


def test_a_retired_text_is_neither_relevant_nor_open():
    found = labels(said("b", 2), retired=[retire("b", "text b"), retire("c", "text c")])
    assert found.pairs == {("q1", key("b")): RETIRED} and found.notices == ()
    assert found.relevant("q1") == () and found.kinds["q1"] == "undecided"
    assert found.label("q1", key("c"), text_hash("text c")) == UNJUDGED


@pytest.mark.parametrize("name", ["a", "a2", "no-longer-there"])
def test_a_retired_text_is_retired_wherever_it_stands(name):
    judged = [said("a", 2), said("a2", 0, question="q2"), said("c", 1)]
    found = labels(*judged, retired=[retire(name, "text a")])
    assert found.pairs["q1", key("a")] == found.pairs["q1", key("a2")] == RETIRED
    assert grade(found, "a", "q2") == ("judged", 0) and found.relevant("q1") == (key("c"),)


def test_a_retired_text_that_moved_is_retired_at_its_new_key():
    moved = corpus_of({"new": "text b", "c": "text c"})
    found = labels(said("b", 2), corpus=moved, retired=[retire("b", "text b")])
    assert found.pairs == {("q1", key("new")): RETIRED}


@pytest.mark.parametrize("text", ["", None])
def test_a_text_may_be_retired_whoever_judged_it_and_how(text):
    judged = [
        said("b", 2, text=text),
        said("b", 0, "bob"),
        said("b", "cannot-judge", "cyd", **UNABLE),
    ]
    assert labels(*judged, retired=[retire("b", "text b")]).pairs == {("q1", key("b")): RETIRED}


def test_a_new_text_under_the_id_of_a_retired_one_counts():
    given_again = corpus_of({**TEXTS, "b": "another text"})
    judged = [said("b", 2), said("b", 1, "bob", text="another text")]
    found = labels(*judged, corpus=given_again, retired=[retire("b", "text b")])
    assert found.pairs == {("q1", key("b")): PairLabel("judged", 1, 1, 1)}
    assert found.notices == ()


def test_a_retired_text_does_not_make_the_next_text_of_its_id_stale():
    given_again = corpus_of({**TEXTS, "b": "another text"})
    judged = [said("b", 2), said("c", 1)]
    found = labels(*judged, corpus=given_again, retired=[retire("b", "text b")])
    assert set(found.pairs) == {("q1", key("c"))}
    retired = {"corpus": given_again, "complete": given_again, "retired": [retire("b", "text b")]}
    assert grade(labels(*judged, **retired), "b", text="another text") == ("implicit", 0)


def test_a_retirement_of_an_id_that_is_there_and_judged_is_passed_over_and_told():
    found = labels(said("b", 2), retired=[retire("zz"), retire("b")])
    assert found.pairs == {("q1", key("b")): PairLabel("judged", 2, 2, 2)}
    assert found.notices == (passed_over("b", line=2),)


def test_an_id_that_was_retired_and_given_again_counts():
    given_again = corpus_of({**TEXTS, "b": "another text"})
    judged = said("b", 1, text="another text")
    found = labels(judged, corpus=given_again, retired=[retire("b")])
    assert found.relevant("q1") == (key("b"),) and found.notices == (passed_over("b"),)


@pytest.mark.parametrize("retired", [retire("b"), retire("b", "text b")])
def test_what_nobody_can_judge_may_be_retired(retired):
    unable = said("b", "cannot-judge", **UNABLE)
    found = labels(unable, said("c", 0), retired=[retired])
    assert found.pairs["q1", key("b")] == RETIRED and found.notices == ()


def test_where_somebody_can_judge_a_retirement_of_the_id_is_passed_over():
    judged = [said("b", "cannot-judge", **UNABLE), said("b", 2, "bob")]
    found = labels(*judged, retired=[retire("b")])
    assert grade(found, "b") == ("judged", 2) and found.notices == (passed_over("b"),)


@pytest.mark.parametrize("retired", [retire("b"), retire("b", "text b"), retire("x", "text b")])
@pytest.mark.parametrize("text", ["", None], ids=["page", "by hand"])
def test_an_ineligible_chunk_may_be_retired(retired, text):
    corpus = corpus_of(ineligible=["b"])
    assert labels(said("b", 1, text=text), corpus=corpus, retired=[retired]).pairs == {}


@pytest.mark.parametrize("text", ["", None], ids=["page", "by hand"])
def test_a_label_of_an_ineligible_chunk_may_be_withdrawn(text):
    corpus = corpus_of(ineligible=["b"])
    assert labels(said("b", 1), said("b", "withdraw", text=text), corpus=corpus).pairs == {}
    other = retire("b", "text a")
    (told,) = refusals(said("b", 1), corpus=corpus, retired=[other])
    assert told.startswith("ann.jsonl:1: the chunk doc b is labeled but not eligible. ")


def test_a_retired_pair_is_no_implicit_0_and_covers_nothing():
    found = labels(said("b", 2), retired=[retire("b", "text b")], complete=corpus_of())
    assert found.covered == frozenset() and grade(found, "b") == ("retired", 0)
