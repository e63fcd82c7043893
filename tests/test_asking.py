"""Questions managed by people: every change is an event, checked against what was on screen."""

import json
import threading
from dataclasses import replace

import pytest

from app.core.errors import InvalidInput, LabelConflict
from app.flows import asking, drafts
from app.flows.drafts import Draft, draft_of, effects, near_categories, record_of, slug
from app.flows.loading import load
from app.flows.question_list import (
    Wanted,
    counts_words,
    history,
    listed,
    narrowed,
)
from tests.conftest import judgment

NEW = Draft(text="Is a quince eaten raw?", category="general")


@pytest.fixture
def root(tiny):
    """A workspace with two questions of the category general; q1 has grade 2, q2 grade 0."""
    return tiny(labels=[judgment("q1", "apple", 2, 1), judgment("q2", "pear", 0, 2)])


@pytest.fixture
def now(root, collection_of):
    """Loads the workspace as it is now."""
    return lambda: load(collection_of(root))


def events(root, author="ann"):
    path = root / f"labels/tiny/events/{author}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def words(error):
    return str(error.value)


def test_a_question_is_added_with_an_id_of_its_first_words(root, now):
    saved = asking.add(now(), "ann", [NEW, Draft(" Is a quince eaten raw? ", "general")])
    first, second = [event.question for event in saved.events]
    assert (first, second) == ("is-a-quince-eaten-raw", "is-a-quince-eaten-raw-2")
    (one, _) = events(root)
    assert (one["kind"], one["author"], one["base"], one["replaces"]) == (
        "question", "ann", None, None,
    )  # fmt: skip
    assert one["value"] == {
        "format": 1, "id": first, "text": "Is a quince eaten raw?", "category": "general",
    }  # fmt: skip
    assert list(now().questions) == ["q1", "q2", first, second]


def test_what_is_typed_becomes_the_record():
    facts = (("", " Hard. "), ("f1", "Raw."), ("", ""), ("x", "Sour."))
    typed = Draft(" A? ", "c", " The need. ", facts, ("t",), "log", "held-out")
    record = record_of(typed, "a")
    assert (record.text, record.need, record.source, record.split) == (
        "A?", "The need.", "log", "held-out",
    )  # fmt: skip
    assert [(fact.id, fact.text) for fact in record.facts] == [
        ("f2", "Hard."), ("f1", "Raw."), ("x", "Sour."),
    ]  # fmt: skip
    assert record_of(draft_of(record), "a", record) == record


@pytest.mark.parametrize(
    ("text", "taken", "name"),
    [
        ("How is a shipment, delayed by customs, refunded?", (), "how-is-a-shipment-delayed-by"),
        ("Ünïcode größe?", (), "ünïcode-größe"),
        ("???", (), "question"),
        ("A b", ("a-b", "a-b-2"), "a-b-3"),
        ("x" * 99, (), "x" * 48),
    ],
)
def test_an_id_is_made_of_the_first_words(text, taken, name):
    assert slug(text, taken) == name


def test_all_reasons_are_told_and_nothing_is_written(root, now):
    wrong = [NEW, Draft(" ", "general"), Draft("A?", "general", id="q1"), Draft("B?", " ")]
    with pytest.raises(InvalidInput) as caught:
        asking.add(now(), "ann", wrong, new_categories=True)
    assert [str(one) for one in caught.value.problems] == [
        "text is blank. Correct it.",
        'the id "q1" belongs to a question already. Choose another id.',
        "no category is chosen. Choose a category.",
    ]
    assert events(root) == []


def test_a_new_category_must_be_meant_and_near_names_are_pointed_out(root, now):
    for name, hint in (("General", "Did you mean general?"), ("fruit", "Say that it is a new one")):
        with pytest.raises(InvalidInput, match="there is no category") as caught:
            asking.add(now(), "ann", [Draft("A?", name)])
        assert hint in words(caught)
    asking.add(now(), "ann", [Draft("A?", "fruit")], new_categories=True)
    assert drafts.categories(now()) == ["fruit", "general"]
    assert near_categories(now(), "fruits") == ["fruit"] and near_categories(now(), "wood") == []


def test_an_edit_is_an_event_over_the_file_and_over_the_edit_before(root, now):
    loaded = now()
    first = asking.edit(loaded, "ann", loaded.questions["q1"], Draft("When?", "general")).events[0]
    loaded = now()
    assert loaded.questions["q1"].text == "When?"
    asking.edit(loaded, "bob", loaded.questions["q1"], Draft("Which?", "general"), note="clearer")
    (second,) = events(root, "bob")
    assert (second["replaces"], second["note"]) == (first.event, "clearer")
    assert second["base"] == first.base is not None
    assert now().questions["q1"].text == "Which?"


def test_what_changed_since_it_was_shown_is_not_written_over(root, now):
    loaded = now()
    shown, edited = loaded.questions["q1"], Draft("When?", "general")
    asking.edit(loaded, "bob", shown, edited)
    for act in (
        lambda: asking.edit(loaded, "ann", shown, Draft("Mine?", "general")),
        lambda: asking.retire(loaded, "ann", shown, "twice"),
        lambda: asking.mark_unsupported(load(loaded.collection), "ann", loaded.questions["q2"]
                                        .model_copy(update={"text": "Old?"}), ["plums"]),
    ):  # fmt: skip
        with pytest.raises(LabelConflict, match="since it was shown"):
            act()
    assert events(root) == []
    asking.retire(now(), "bob", now().questions["q1"], "twice")
    with pytest.raises(LabelConflict, match="was retired by bob since it was shown") as caught:
        asking.edit(loaded, "ann", shown, Draft("Mine?", "general"))
    assert "Nothing was saved: read it again" in words(caught)


def test_nothing_changed_and_no_reason_are_told(now):
    question = now().questions["q1"]
    with pytest.raises(InvalidInput, match="nothing is changed"):
        asking.edit(now(), "ann", question, draft_of(question))
    with pytest.raises(InvalidInput, match="a note is missing"):
        asking.retire(now(), "ann", question, " ")
    with pytest.raises(LabelConflict, match="no longer what was shown as retired"):
        asking.bring_back(now(), "ann", question)
    with pytest.raises(InvalidInput, match="is not marked unsupported"):
        asking.mark_supported(now(), "ann", question)


def test_a_retired_question_comes_back_with_its_labels(now):
    question = now().questions["q1"]
    asking.retire(now(), "ann", question, "asked twice")
    loaded = now()
    assert list(loaded.questions) == ["q2"] and loaded.labels.judgments == 1
    with pytest.raises(InvalidInput, match='the id "q1" was retired'):
        asking.add(loaded, "ann", [Draft("A?", "general", id="q1")])
    asking.bring_back(loaded, "bob", loaded.collection.asked().retired["q1"], "needed")
    assert now().questions["q1"] == question and now().labels.kinds["q1"] == "answerable"


def test_unsupported_needs_a_search_and_no_relevant_label(root, now):
    loaded = now()
    with pytest.raises(InvalidInput, match=r"has relevant evidence: apple has grade 2"):
        asking.mark_unsupported(loaded, "ann", loaded.questions["q1"], ["pruning"])
    with pytest.raises(InvalidInput, match="what the corpus was searched for is missing"):
        asking.mark_unsupported(loaded, "ann", loaded.questions["q2"], [" "])
    asking.mark_unsupported(loaded, "ann", loaded.questions["q2"], [" dried plums ", "", "prunes"])
    (said,) = events(root)
    assert said["searched"] == ["dried plums", "prunes"]
    loaded = now()
    marked = loaded.questions["q2"]
    assert marked.unsupported_as_of == loaded.corpus.revision
    assert loaded.labels.kinds["q2"] == "unsupported" and loaded.labels.conflicts == ()
    with pytest.raises(InvalidInput, match="is marked unsupported for this corpus revision"):
        asking.mark_unsupported(loaded, "ann", marked, ["plums"])
    # An edit keeps the mark; taking it back leaves the question as it was.
    asking.edit(loaded, "ann", marked, Draft(marked.text, "general", tags=("t",)))
    asking.mark_supported(now(), "ann", now().questions["q2"])
    assert now().questions["q2"].unsupported_as_of is None
    assert now().questions["q2"].tags == ["t"] and now().labels.kinds["q2"] == "no evidence yet"


@pytest.mark.parametrize("change", [{"text": "Else?"}, {"need": "All."}, {"facts": (("", "A."),)}])
def test_a_question_that_asks_something_else_is_no_longer_marked_unsupported(now, change):
    loaded = now()
    asking.mark_unsupported(loaded, "ann", loaded.questions["q2"], ["prunes"])
    loaded = now()
    marked = loaded.questions["q2"]
    other = replace(draft_of(marked), **change)
    told = "It is then no longer marked unsupported: the corpus was searched for what it asked"
    assert f"{told} before." in effects(loaded, marked, record_of(other, "q2", marked))
    asking.edit(loaded, "ann", marked, other)
    assert now().questions["q2"].unsupported_as_of is None
    assert now().labels.kinds["q2"] == "no evidence yet"
    assert "took back that it is unsupported" in history(now().collection, "q2")[0].words


def test_who_may_not_grade_may_not_change_questions(root, now):
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nreviewers = ["ann"]\n')
    with pytest.raises(InvalidInput, match="you may read but not grade"):
        asking.add(now(), "bob", [NEW])
    assert not (root / "labels/tiny/events").exists()
    asking.add(now(), "ann", [NEW])


def test_an_edit_says_what_it_does(now):
    question = now().questions["q1"]
    other = question.model_copy(update={"category": "fruit", "split": "held-out"})
    assert effects(now(), question, other) == (
        "Changing the category and split moves it in the means; its labels stay.",
    )
    other = record_of(Draft("When?", "general"), "q1", question)
    assert effects(now(), question, other) == (
        "Changing text, need or facts makes its 1 label stale: out of the scores until they are "
        "confirmed.",
    )
    assert effects(now(), question, question) == ()


def test_the_history_tells_who_did_what(now):
    def act(flow, author, *words, **more):
        loaded = now()
        asked = loaded.collection.asked()
        question = {**asked.questions, **asked.retired}["q2"]
        flow(loaded, author, question, *words, **more)

    plums = "What becomes of plums?"
    act(asking.edit, "ann", Draft(plums, "general", need="All."), note="shorter")
    act(asking.mark_unsupported, "bob", ["plums"])
    act(asking.retire, "ann", "asked twice")
    act(asking.bring_back, "bob")
    act(asking.mark_supported, "bob")
    asking.add(now(), "bob", [Draft("A?", "general", id="q3")])
    told = history(now().collection, "q2")
    assert [(one.author, one.words, one.note) for one in reversed(told)] == [
        ("ann", 'changed the text from "What becomes of dried plums?" to "What becomes of plums?"; '
         'changed the need from none to "All."', "shorter"),
        ("bob", 'marked it unsupported (searched for "plums")', ""),
        ("ann", "retired it", "asked twice"),
        ("bob", "brought it back", ""),
        ("bob", "took back that it is unsupported", ""),
    ]  # fmt: skip
    assert all(one.counts for one in told)
    assert [one.words for one in history(now().collection, "q3")] == ["added it"]
    assert history(now().collection, "q1") == ()


def test_changes_the_file_overrode_stay_in_the_history_as_such(root, now, edit):
    asking.edit(now(), "ann", now().questions["q1"], Draft("When?", "general"))
    edit(root / "labels/tiny/questions.jsonl", "When is", "When exactly is")
    (one,) = history(now().collection, "q1")
    assert (one.words, one.counts) == ('saved it as "When?"', False)


def test_of_many_who_change_one_question_at_once_one_is_saved(root, now):
    shown, refused = now().questions["q1"], []

    def change(n):
        try:
            asking.edit(now(), f"r{n}", shown, Draft(f"{n}?", "general"))
        except LabelConflict:
            refused.append(n)

    threads = [threading.Thread(target=change, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 5 and now().collection.asked().notices == ()


def test_the_list_is_narrowed_and_counted(now):
    asking.add(now(), "ann", [Draft("Ripe?", "fruit", "Of PEARS.", split="held-out", source="log")],
               new_categories=True)  # fmt: skip
    asking.retire(now(), "ann", now().questions["q2"], "asked twice")
    rows = listed(now())
    assert counts_words(rows) == "2 questions: 1 answerable, 1 undecided, 1 retired"

    def names(**wanted):
        return [row.question.id for row in narrowed(rows, Wanted(**wanted))]

    assert names() == ["q1", "ripe"] and names(kind="retired") == ["q2"]
    assert names(words="ripe pears") == names(category="fruit") == names(split="held-out")
    assert names(source="log") == names(kind="undecided") == ["ripe"]
    assert names(words="q1 nothing") == []
