"""What becomes of labels with evidence when texts change or are cut anew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.corpus import Corpus
from app.core.errors import ForeignLabels
from app.core.grades import PairLabel
from app.core.judgments import Judgment
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from tests.test_labels import QUESTIONS, ask, event, labels, retire

OLD = "Kept for 5 days. It is deleted by a job."
NEW = "Kept for 5 days. It is deleted by hand."
QUOTE = "Kept for 5 days."
JUDGED = ("judged", 2)


def key(name, version="v1", document="doc"):
    return ChunkKey(document, version, name)


def corpus_of(texts, ineligible=()):
    """Chunks by name, or by a whole key."""
    keys = {name if isinstance(name, ChunkKey) else key(name): text for name, text in texts.items()}
    return Corpus(
        {
            one: Chunk(one, text, text_hash(text), eligible=one.chunk not in ineligible)
            for one, text in keys.items()
        },
        documents=1,
    )


def said(name, grade, text=OLD, quotes=(QUOTE,), author="ann", number=0, **more):
    """A grade of a chunk with quotes as evidence."""
    kind = {"kind": "grade", "grade": grade} if isinstance(grade, int) else {"kind": grade}
    pins = {"question_hash": ask("q1").hash, "text_hash": text_hash(text)}
    evidence = [{"quote": quote} for quote in quotes]
    number = number or f"-{author}-{name}-{grade}-{text[:20]}-{len(quotes)}"
    return event(
        Judgment, "q1", name, author, number, **{**kind, **pins, "evidence": evidence, **more}
    )


def told(found, name):
    label = found.pairs.get(("q1", name if isinstance(name, ChunkKey) else key(name)))
    return None if label is None else (label.state, label.grade)


# --- The text around the evidence changed ----------------------------------


def test_intact_evidence_keeps_a_label_alive():
    found = labels(said("a", 2), corpus=corpus_of({"a": NEW, "b": "Other."}))
    assert found.pairs == {("q1", key("a")): PairLabel("judged", 2, 2, 2)}
    assert found.kinds["q1"] == "answerable"
    assert found.notices == (
        "Labels that count although their text changed, for their evidence stands in it unchanged: "
        "1, doc a for one.",
    )


@pytest.mark.parametrize(
    ("one", "now"),
    [
        (said("a", 2, quotes=()), NEW),
        (said("a", 2, quotes=(QUOTE, "It is deleted by a job.")), NEW),
        (said("a", 2, text="Kept for 5.", quotes=("Kept for 5.",)), "Kept for 5.5 days."),
        (said("a", 0), NEW),
        (said("a", 2, question_hash="as it was"), NEW),
        (said("a", "cannot-judge", reason="broken text"), NEW),
    ],
    ids=["no quote", "a quote is gone", "another number", "grade 0", "question", "cannot judge"],
)
def test_what_keeps_no_label_alive(one, now):
    found = labels(one, corpus=corpus_of({"a": now}))
    assert told(found, "a") == ("stale", None) and found.notices == ()


def test_white_space_and_spelling_of_characters_do_not_matter():
    one = said("a", 2, text="Caf\u00e9 is  open.", quotes=("Caf\u00e9 is  open.",))
    assert told(labels(one, corpus=corpus_of({"a": "Cafe\u0301\nis open. Now."})), "a") == JUDGED


def test_twins_of_the_new_text_share_the_grade():
    found = labels(said("a", 2), corpus=corpus_of({"a": NEW, "twin": NEW}))
    assert told(found, "a") == told(found, "twin") == JUDGED


def test_adjudications_are_kept_alive_too():
    judged = [said("a", 0, quotes=(), author="bob"), said("a", 2, adjudication=True)]
    assert told(labels(*judged, corpus=corpus_of({"a": NEW})), "a") == JUDGED


@pytest.mark.parametrize("order", [1, -1])
def test_what_its_author_said_of_the_new_text_wins(order):
    judged = [said("a", 2), said("a", 1, text=NEW, quotes=())]
    assert told(labels(*judged[::order], corpus=corpus_of({"a": NEW})), "a") == ("judged", 1)
    other = [said("a", 2), said("a", 1, text=NEW, quotes=(), author="bob")]
    assert told(labels(*other[::order], corpus=corpus_of({"a": NEW})), "a") == ("unsettled", 1)


@pytest.mark.parametrize("how", [{"text": NEW}, {"text_hash": None}], ids=["page", "by hand"])
def test_a_withdrawal_of_the_new_text_takes_back_a_label_that_was_kept_alive(how):
    found = labels(
        said("a", 2), said("a", "withdraw", quotes=(), **how), corpus=corpus_of({"a": NEW})
    )
    assert found.pairs == {}


def test_only_the_last_word_on_a_chunk_is_kept_alive():
    later = said("a", 0, text="Kept for 5 days. But not here.", quotes=())
    now = corpus_of({"a": NEW})
    assert told(labels(said("a", 2), later, corpus=now), "a") == ("stale", None)
    assert told(labels(later, said("a", 2), corpus=now), "a") == JUDGED
    gone = said("a", "withdraw", text="Kept for 5 days. But not here.", quotes=())
    assert told(labels(said("a", 2), gone, corpus=now), "a") == ("stale", None)


def test_a_retired_text_is_not_kept_alive():
    now = corpus_of({"a": NEW})
    assert labels(said("a", 2), corpus=now, retired=[retire("a", OLD)]).pairs == {}
    found = labels(said("a", 2), corpus=now, retired=[retire("a", NEW)])
    assert told(found, "a") == ("retired", 0)


def test_a_label_that_moved_with_its_text_also_counts_where_its_evidence_stayed():
    found = labels(said("a", 2), corpus=corpus_of({"a": NEW, "b": OLD}))
    assert told(found, "a") == told(found, "b") == JUDGED


def test_completeness_and_conflicts_go_on():
    now = corpus_of({"a": NEW, "b": "Other."})
    found = labels(said("a", 2), corpus=now, complete=now)
    assert found.label("q1", key("b"), text_hash("Other.")) == PairLabel("implicit", 0, 0, 0)
    asked = {**QUESTIONS, "q1": ask(unsupported_as_of=now.revision)}
    (conflict,) = labels(said("a", 2), corpus=now, questions=asked).conflicts
    assert "is marked unsupported, but doc a has grade 2" in str(conflict)


# --- Cut anew ---------------------------------------------------------------


def test_a_label_is_carried_to_the_chunks_that_hold_all_its_quotes():
    now = corpus_of({
        key("1", "v2"): "Before. Kept for 5 days.", key("2", "v2"): "Kept for 5 days. After.",
        key("3", "v2"): "Else.", key("4", "v2", "other"): OLD + " In another document.",
    })  # fmt: skip
    found = labels(said("a", 2), corpus=now)
    carried = PairLabel("judged", 2, 2, 2, carried=True)
    assert found.pairs == {("q1", key(name, "v2")): carried for name in "12"}
    assert found.notices == (
        "Labels carried over from chunks that have left the corpus to chunks that hold their "
        "evidence: 2, doc 1 for one.",
    )


def test_without_one_chunk_for_all_its_quotes_a_label_stays_a_miss():
    both = said("a", 2, quotes=(QUOTE, "It is deleted by a job."))
    now = corpus_of({"1": "Kept for 5 days.", "2": "It is deleted by a job.", "b": "Judged."})
    found = labels(both, said("b", 1, text="Judged.", quotes=()), corpus=now)
    assert told(found, "1") is told(found, "2") is None
    assert found.pairs["q1", key("a")] == PairLabel("judged", 2, 2, 2, departed=True)


def test_a_corpus_cut_anew_is_not_foreign_while_evidence_stands_in_it():
    now = corpus_of({"1": QUOTE})
    assert told(labels(said("a", 2), corpus=now), "1") == JUDGED
    with pytest.raises(ForeignLabels):
        labels(said("a", 2, quotes=()), corpus=now)


def test_a_label_is_carried_out_of_a_chunk_whose_text_became_another():
    found = labels(said("a", 2), corpus=corpus_of({"a": "A new paragraph.", "b": NEW}))
    assert told(found, "b") == JUDGED and told(found, "a") == ("stale", None)
    assert found.pairs["q1", key("b")].carried and not found.pairs["q1", key("a")].carried


def test_only_eligible_chunks_take_a_label_over():
    now = corpus_of({"1": NEW, "2": "Else.", "b": "Judged."}, ineligible=["1"])
    found = labels(said("a", 2), said("b", 1, text="Judged.", quotes=()), corpus=now)
    assert told(found, "1") is None and found.pairs["q1", key("a")].departed


def test_what_its_author_said_of_the_chunk_wins_over_what_was_carried_there():
    now = corpus_of({"1": NEW})
    judged = [said("a", 2), said("1", 1, text=NEW, quotes=())]
    for order in (judged, judged[::-1]):
        assert labels(*order, corpus=now).pairs == {("q1", key("1")): PairLabel("judged", 1, 1, 1)}
    taken_back = said("1", "withdraw", text=NEW, quotes=())
    assert labels(said("a", 2), taken_back, corpus=now).pairs == {}


def test_of_one_authors_labels_that_meet_in_a_chunk_the_highest_counts():
    judged = [said("a", 2), said("b", 1, text="Part. It helps.", quotes=("It helps.",))]
    now = corpus_of({"1": f"{QUOTE} It helps."})
    for order in (judged, judged[::-1]):
        assert told(labels(*order, corpus=now), "1") == JUDGED
    others = [judged[0], said("b", 1, text="Part. It helps.", quotes=("It helps.",), author="bob")]
    assert told(labels(*others, corpus=now), "1") == ("unsettled", 1)


def test_a_departed_label_that_was_retired_is_not_carried():
    now = corpus_of({"1": NEW})
    for retired in (retire("a", OLD), retire("a")):
        assert labels(said("a", 2), corpus=now, retired=[retired]).pairs == {}


def test_a_carried_label_makes_no_other_revision():
    now = corpus_of({"1": NEW})
    carried = labels(said("a", 2), corpus=now)
    direct = labels(said("1", 2, text=NEW), corpus=now)
    assert carried.pairs != direct.pairs and carried.revision == direct.revision


# --- Laws -------------------------------------------------------------------

SENTENCES = st.lists(
    st.sampled_from(["It is so.", "Nothing here.", "The end?", "No. 5 is it.", "這樣。", "- item"]),
    max_size=4,
)
GRADES = st.lists(
    st.tuples(st.sampled_from(["ann", "bob", "eve"]), st.sampled_from([1, 2]), st.booleans()),
    min_size=1,
    max_size=4,
)
GAPS = st.sampled_from([" ", "\n", "\n\n", "  \n"])


@given(SENTENCES, SENTENCES, SENTENCES, GAPS, GRADES, st.booleans())
def test_an_edit_that_leaves_the_quotes_untouched_leaves_the_grade(
    before, between, after, gap, grades, cut_anew
):
    quotes = ("Kept for 5 days.", "A job deletes it.")
    old = " ".join(["Old.", quotes[0], "Middle.", quotes[1], "Old end."])
    new = gap.join([*before, quotes[0], *between, quotes[1], *after])
    judged = [
        said("a", grade, text=old, quotes=quotes, author=author, number=f"n{n}", adjudication=last)
        for n, (author, grade, last) in enumerate(grades)
    ]
    was = labels(*judged, corpus=corpus_of({"a": old})).pairs["q1", key("a")]
    name = "cut anew" if cut_anew else "a"
    now = labels(*judged, corpus=corpus_of({name: new})).pairs
    label = now.pop(("q1", key(name)))
    assert (label.state, label.grade, label.low, label.high) == (
        was.state, was.grade, was.low, was.high,
    )  # fmt: skip
    assert now == {}


@given(st.lists(SENTENCES, min_size=1, max_size=4), st.data())
def test_a_label_is_carried_to_every_chunk_with_its_quote_and_to_no_other(parts, data):
    places = data.draw(st.sets(st.integers(0, len(parts) - 1)))
    texts = {
        f"n{n}": " ".join([*part, *([QUOTE] if n in places else []), f"Ends {n}."])
        for n, part in enumerate(parts)
    }
    judged = [said("a", 2), said("b", 1, text="Stays.", quotes=())]
    found = labels(*judged, corpus=corpus_of({**texts, "b": "Stays."}))
    carried = {k.chunk for (_, k), label in found.pairs.items() if label.carried}
    assert carried == {f"n{n}" for n in places}
    assert any(label.departed for label in found.pairs.values()) == (not places)
