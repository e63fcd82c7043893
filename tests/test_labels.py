"""The ledger's judgments resolved against questions and corpus."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.corpus import Corpus
from app.core.errors import InvalidInput
from app.core.grades import PairLabel
from app.core.judgments import Judgment, Retirement
from app.core.labels import resolve
from app.core.ledger import Placed
from app.core.model import Chunk, ChunkKey, ScoringSettings
from app.core.questions import Question
from app.core.text import text_hash

TEXTS = {"a": "text a", "b": "text b", "c": "text c", "a2": "text a"}  # a2 is a twin of a
UNJUDGED = PairLabel("unjudged", None, 0, 2)
STALE = PairLabel("stale", None, 0, 2)
IMPLICIT = PairLabel("implicit", 0, 0, 0)


def key(name):
    return ChunkKey("doc", "v1", name)


def corpus_of(texts=TEXTS, ineligible=()):
    chunks = {
        key(name): Chunk(key(name), text, text_hash(text), eligible=name not in ineligible)
        for name, text in texts.items()
    }
    return Corpus(chunks, documents=1)


def ask(id="q1", **more):
    return Question(**{"id": id, "text": f"What of {id}?", "category": "x", **more})


QUESTIONS = {"q1": ask("q1"), "q2": ask("q2")}


def event(model, question, name, author, number, **more):
    base = {"format": 1, "event": f"{model.__name__}{number}", "time": "t", "author": author}
    return model(**base, question=question, chunk=["doc", "v1", name], **more)


def said(name, grade, author="ann", question="q1", text="", number=0, **more):
    """A judgment pinned to the chunk's first text, as the pages write it; `text=None`: by hand."""
    what = {"kind": "grade", "grade": grade} if isinstance(grade, int) else {"kind": grade}
    pins = {"question_hash": ask(question).hash, "text_hash": text_hash(TEXTS.get(name, name))}
    if text is None:
        pins = {}
    elif text:
        pins["text_hash"] = text_hash(text)
    number = number or f"-{author}-{question}-{name}-{grade}"
    return event(Judgment, question, name, author, number, **{**what, **pins, **more})


def retire(name, text=None, question="q1"):
    """A retirement of a text, or of a chunk's id where no text is named."""
    pins = {"text_hash": text_hash(text)} if text else {}
    number = f"-{question}-{name}-{text}"
    more = {"kind": "retire-label", "note": "gone for good"}
    return event(Retirement, question, name, "ann", number, **more, **pins)


def placed(events):
    return [Placed(one, f"ann.jsonl:{n}") for n, one in enumerate(events, start=1)]


def labels(*judgments, questions=QUESTIONS, corpus=None, retired=(), complete=None, **more):
    """Resolved labels; `complete` is the corpus they are complete for."""
    guidelines = more.pop("guidelines", None)
    if complete is not None:
        more |= {"completeness": "complete", "complete_as_of": complete.revision}
    return resolve(
        placed(judgments),
        placed(retired),
        questions,
        corpus or corpus_of(),
        ScoringSettings(**more),
        frozenset(complete.by_hash) if complete else frozenset(),
        guidelines,
    )


def refusals(*judgments, **more):
    with pytest.raises(InvalidInput) as caught:
        labels(*judgments, **more)
    return [str(problem) for problem in caught.value.problems]


def grade(found, name, question="q1", text=None):
    label = found.label(question, key(name), text_hash(text or TEXTS[name]))
    return label.state, label.grade


def test_twins_share_one_grade():
    found = labels(said("a", 2), said("b", 0))
    assert grade(found, "a") == grade(found, "a2") == ("judged", 2)
    assert found.relevant("q1") == (key("a"), key("a2"))
    assert found.judgments == 2
    both = labels(said("a", 2), said("a2", 1, "bob"))
    assert grade(both, "a") == grade(both, "a2") == ("unsettled", 1)


def test_a_text_that_moved_to_another_key_takes_its_label_along():
    found = labels(said("a", 2), said("b", 0), corpus=corpus_of({"new": "text a", "b": "text b"}))
    assert found.by_question["q1"] == {
        key("new"): PairLabel("judged", 2, 2, 2),
        key("b"): PairLabel("judged", 0, 0, 0),
    }
    assert found.notices == ()


@pytest.mark.parametrize("name", ["a", "a2"])
def test_a_line_by_hand_and_a_grade_of_the_page_are_one_judgment(name):
    page, hand = said("a", 2), said(name, 0, text=None)
    assert labels(page, hand).pairs["q1", key("a")] == PairLabel("judged", 0, 0, 0)
    assert labels(hand, page).pairs["q1", key("a2")] == PairLabel("judged", 2, 2, 2)
    assert labels(page, hand).judgments == 1


def test_a_line_by_hand_without_a_text_hash_takes_back_a_label_of_the_page():
    found = labels(said("b", 2), said("c", 1), said("b", "withdraw", text=None))
    assert found.pairs == {("q1", key("c")): PairLabel("judged", 1, 1, 1)}


def test_a_changed_text_makes_its_label_stale_until_confirmed():
    changed = corpus_of({**TEXTS, "b": "text b, new"})
    found = labels(said("b", 2), corpus=changed)
    assert found.pairs == {("q1", key("b")): STALE}
    confirmed = said("b", 2, text="text b, new", number=2, replaces="Judgment1")
    found = labels(said("b", 2, number=1), confirmed, corpus=changed)
    assert found.pairs == {("q1", key("b")): PairLabel("judged", 2, 2, 2)}


@pytest.mark.parametrize("change", [{"text": "Other?"}, {"need": "More."}], ids=str)
def test_a_changed_question_makes_its_labels_stale(change):
    asked = {**QUESTIONS, "q1": ask("q1", **change)}
    decided = said("c", 2, adjudication=True)
    found = labels(said("b", 2), decided, said("b", 1, question="q2"), questions=asked)
    assert grade(found, "b") == grade(found, "c") == ("stale", None)
    assert grade(found, "b", "q2") == ("judged", 1)
    assert found.kinds == {"q1": "undecided", "q2": "answerable"}


def test_guidelines_matter_where_the_settings_say_so():
    old, new = said("b", 2, guidelines="g1"), said("c", 2, guidelines="g2")
    assert grade(labels(old, new), "b") == ("judged", 2)
    found = labels(old, new, guidelines="g2")
    assert [grade(found, name) for name in "bc"] == [("stale", None), ("judged", 2)]


@pytest.mark.parametrize("question_hash", [ask().hash, None])
def test_a_line_that_names_no_guidelines_is_taken_to_fit_them(question_hash):
    hand = said("b", 2, question_hash=question_hash)
    assert grade(labels(hand, guidelines="g2"), "b") == ("judged", 2)


def test_a_fresh_label_beside_a_stale_one_counts():
    changed = corpus_of({"b": "new"})
    found = labels(said("b", 0), said("b", 2, "bob", text="new"), corpus=changed)
    assert found.pairs["q1", key("b")] == PairLabel("judged", 2, 2, 2)
    later = labels(said("b", 0), said("b", "later", "bob", text="new"), corpus=changed)
    assert later.pairs["q1", key("b")] == STALE
    assert grade(labels(said("b", 2, text=None), corpus=changed), "b") == ("judged", 2)


def test_labels_that_cannot_be_placed_are_refused_with_their_places():
    judged = [said("zz", 1, text=None), said("a", 1), said("b", 1), said("c", 1, question="q9")]
    assert refusals(*judged, corpus=corpus_of(ineligible=["b"])) == [
        "ann.jsonl:1: the chunk doc zz is unknown. "
        "Correct the document, version and chunk ids, or remove the line.",
        "ann.jsonl:3: the chunk doc b is labeled but not eligible. "
        "Correct the filter in collection.toml, or withdraw or retire the label.",
        'ann.jsonl:4: the question "q9" is unknown. '
        "Add it to questions.jsonl, or withdraw the label.",
    ]


def test_two_id_spaces_that_never_meet_stop_the_run():
    other = corpus_of({"x": "another text"})
    assert refusals(said("b", 2), said("c", 0), corpus=other) == [
        "ann.jsonl:1: not one of the 2 labels names a chunk of this corpus, doc b for one. "
        "Check the chunking rule and the ids: labels and corpus must share them."
    ]
    assert labels(corpus=other).pairs == {}


def test_in_a_pooled_collection_what_is_not_listed_is_unjudged():
    found = labels(said("a", 2))
    assert found.label("q1", key("b"), text_hash("text b")) == UNJUDGED


def test_in_a_complete_one_it_is_0_for_questions_somebody_judged():
    found = labels(said("a", 2), said("b", "later", question="q2"), complete=corpus_of())
    assert found.label("q1", key("b"), text_hash("text b")) == IMPLICIT
    assert grade(found, "c", "q2") == ("unjudged", None)
    assert found.covered == {"q1"}


def test_later_alone_lists_nothing_so_that_an_implicit_0_stays():
    judged = [said("a", 2), said("b", "later"), said("c", "later", "bob")]
    found = labels(*judged, complete=corpus_of())
    assert set(found.pairs) == {("q1", key("a")), ("q1", key("a2"))}
    assert grade(found, "b") == grade(found, "c") == ("implicit", 0)
    assert labels(*judged).label("q1", key("b"), text_hash("text b")) == UNJUDGED
    assert labels(*judged).revision == labels(judged[0]).revision


def test_chunks_that_are_new_or_changed_since_are_unjudged():
    now = corpus_of({**TEXTS, "b": "new b", "d": "text d", "moved": "text c"})
    found = labels(said("a", 2), corpus=now, complete=corpus_of())
    assert grade(found, "b", text="new b") == grade(found, "d", text="text d")
    assert grade(found, "d", text="text d") == ("unjudged", None)
    assert grade(found, "moved", text="text c") == grade(found, "c") == ("implicit", 0)


def test_a_listed_pair_without_a_grade_is_never_an_implicit_0():
    asked = said("c", 1, question_hash="as it was")
    unable = said("a", "cannot-judge", reason="broken text")
    found = labels(said("b", 0), said("b", 2, "bob"), asked, unable, complete=corpus_of())
    assert [grade(found, one)[0] for one in "abc"] == ["cannot-judge", "disputed", "stale"]


def test_complete_for_a_revision_that_is_not_known_here():
    scoring = ScoringSettings(completeness="complete", complete_as_of="lost")
    found = resolve(placed([said("a", 2)]), [], QUESTIONS, corpus_of(), scoring, None)
    assert grade(found, "b") == ("unjudged", None)
    assert found.notices[0].startswith("The labels are complete for another corpus revision")


def test_question_kinds():
    asked = {name: ask(name) for name in ("q1", "q2", "q3", "q4")}
    asked["q5"] = ask("q5", unsupported_as_of=corpus_of().revision)
    judged = [said("a", 1), said("a", 0, question="q2"), said("b", "later", question="q4")]
    found = labels(*judged, questions=asked)
    kinds = ["answerable", "no evidence yet", "undecided", "undecided", "unsupported"]
    assert list(found.kinds.values()) == kinds and found.conflicts == ()
    assert labels(*judged, questions=asked, threshold=2).kinds["q1"] == "no evidence yet"


def test_conflicts_of_unsupported_questions():
    asked = {"q1": ask(unsupported_as_of="old"), "q2": ask("q2", unsupported_as_of="old")}
    found = labels(said("b", 2), said("c", 0, question="q2"), questions=asked)
    again = (
        "was found unsupported in another corpus revision. Search the corpus again, then set "
        f'unsupported_as_of to "{corpus_of().revision}".'
    )
    assert found.kinds == {"q1": "unsupported", "q2": "unsupported"}
    assert [str(one) for one in found.conflicts] == [
        'the question "q1" is marked unsupported, but doc b has grade 2. '
        "Withdraw the label, or remove unsupported_as_of from the question.",
        f'the question "q1" {again}',
        f'the question "q2" {again}',
    ]


BASE = [said("a", 2), said("b", 0), said("c", 1, question="q2")]


@pytest.mark.parametrize(
    ("judgments", "more"),
    [
        ([*BASE, said("c", 0)], {}),
        ([said("a", 1), *BASE[1:]], {}),
        ([*BASE, said("b", 2, "bob")], {}),
        ([*BASE, said("a", 1, "bob")], {}),
        (BASE[:2], {}),
        (BASE, {"retired": [retire("b", "text b")]}),
        (BASE, {"questions": {**QUESTIONS, "q3": ask("q3")}}),
        (BASE, {"corpus": corpus_of({**TEXTS, "d": "text d"})}),
        (BASE, {"complete": corpus_of()}),
    ],
)
def test_revision_changes_with_what_scores_depend_on(judgments, more):
    assert labels(*judgments, **more).revision != labels(*BASE).revision


@pytest.mark.parametrize("change", ["split=held-out", "category=y", "text=?", "need=?", "id=q3"])
def test_revision_changes_with_questions(change):
    name, _, value = change.partition("=")
    asked = [QUESTIONS["q1"], ask("q2").model_copy(update={name: value})]
    found = labels(*BASE[:2], questions={one.id: one for one in asked})
    assert found.revision != labels(*BASE[:2]).revision


@given(st.permutations(BASE), st.lists(st.sampled_from(BASE)), st.permutations(list(QUESTIONS)))
def test_revision_does_not_depend_on_order_copies_and_names(judgments, copies, names):
    others = [one.model_copy(update={"author": "bob", "note": "x"}) for one in judgments]
    asked = {name: QUESTIONS[name] for name in names}
    expected = labels(*BASE).revision
    assert labels(*judgments, *copies, questions=asked).revision == expected
    assert labels(*others, said("c", "later"), said("c", "withdraw")).revision == expected
