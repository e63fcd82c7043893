"""Many questions at once: tried first, near-duplicates told, written only as the user says."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InvalidInput, LabelConflict
from app.flows import asking, near
from app.flows.asking_many import add_planned, plan_file, plan_pasted, plan_words
from app.flows.drafts import Draft
from app.flows.loading import load
from app.flows.near import OVERLAP, near_names, near_questions, words_of
from tests.exchanging import written


@pytest.fixture
def now(tiny, collection_of):
    """Loads a workspace with two questions of the category general as it is now."""
    root = tiny(labels=[])
    return lambda: load(collection_of(root))


def refusals(plan):
    return [str(one) for one in plan.outcome.refused.problems]


PASTED = "text\tcategory\tneed\nIs a quince raw?\tgeneral\tWhether.\nAre pears ripe?\tgeneral\t\n"


def test_pasted_cells_are_tried_then_added(now):
    plan = plan_pasted(now(), PASTED)
    assert plan_words(plan) == (
        "2 rows read: 2 new, 0 there already, 0 refused, 0 almost like another one. Nothing is "
        "written yet."
    )
    assert list(now().questions) == ["q1", "q2"]
    add_planned(now(), "ann", plan)
    assert list(now().questions) == ["q1", "q2", "is-a-quince-raw", "are-pears-ripe"]
    assert now().questions["is-a-quince-raw"].need == "Whether."
    again = plan_pasted(now(), PASTED)
    assert (again.outcome.known, again.new) == (2, ())
    with pytest.raises(InvalidInput, match="no row is new"):
        add_planned(now(), "ann", again)


def test_a_column_without_a_name_is_taken_for_the_texts(now):
    plan = plan_pasted(now(), "Is it raw?\n\nIs it ripe?\nIs it raw?\n", category="general")
    assert [line for line, _ in plan.new] == [1, 3]
    assert refusals(plan) == [
        "pasted.tsv:4: the text stands on line 1 already. Remove one of the two."
    ]
    with pytest.raises(InvalidInput, match="no column is named text or question"):
        plan_pasted(now(), "Is it raw?\tgeneral\n")
    with pytest.raises(InvalidInput, match="nothing is pasted"):
        plan_pasted(now(), " \n")


def test_quote_marks_that_no_spreadsheet_made_are_text(now):
    plan = plan_pasted(now(), 'text\n"Raw" means what?\n', category="general")
    assert [one.text for _, one in plan.new] == ['"Raw" means what?']
    plan = plan_pasted(now(), 'text\n"Two ""lines""\nof one cell?"\n', category="general")
    assert [one.text for _, one in plan.new] == ['Two "lines"\nof one cell?']


ROWS = "id,text,category,split,unsupported_as_of\n"


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("q1,Another?,general,,", 'the question "q1" is there already and says something else. '
         "Edit it there, or give the row another id."),
        ("x,A?,generall,,", 'there is no category "generall" yet. Did you mean general?'),
        ("x,A?,fruit,,", 'there is no category "fruit" yet. Choose one, or allow new categories.'),
        ("x,,general,,", "the question is blank. Write it, or clear the row."),
        ("x,A?,general,test,", "split is \"test\", not 'development' or 'held-out'. Correct the "
         "line."),
        ("x,A?,general,,r", "unsupported_as_of cannot come with a new question. Clear the cell, "
         "search the corpus, then mark it."),
        ("y,A?,general,,", 'the question id "y" stands twice. Give one of the two another id.'),
    ],
)  # fmt: skip
def test_refused_rows_are_told_by_line_and_hold_up_the_others(now, row, sentence):
    plan = plan_file(now(), "q.csv", f"{ROWS}y,Fine?,general,,\n{row}\n".encode())
    assert refusals(plan) == [f"q.csv:3: {sentence}"]
    with pytest.raises(InvalidInput, match="1 row refused, so nothing was written"):
        add_planned(now(), "ann", plan)
    assert list(now().questions) == ["q1", "q2"]
    add_planned(now(), "ann", plan, skip_refused=True)
    assert list(now().questions) == ["q1", "q2", "y"]


def test_a_retired_question_does_not_come_back_by_a_row(now):
    asking.retire(now(), "ann", now().questions["q2"], "asked twice")
    plan = plan_pasted(now(), "question\nWhat becomes of dried plums?\n", category="general")
    assert refusals(plan) == [
        'pasted.tsv:2: the question "q2" was retired. Bring it back there, or remove the row.'
    ]


def test_new_categories_where_they_are_meant(now):
    plan = plan_file(now(), "q.csv", b"text,category\nA?,fruit\n", new_categories=True)
    assert plan.categories == ("fruit",) and not refusals(plan)
    add_planned(now(), "ann", plan)
    assert now().questions["a"].category == "fruit"


def test_workbooks_are_read_and_other_files_are_not(now, tmp_path):
    path = written(tmp_path / "q.xlsx", [["question", "category"], ["A?", "general"]])
    assert len(plan_file(now(), r"C:\q.xlsx", path.read_bytes()).new) == 1
    with pytest.raises(InvalidInput, match="does not look like a sheet"):
        plan_file(now(), "q.docx", b"")
    with pytest.raises(InvalidInput, match="not a readable spreadsheet"):
        plan_file(now(), "q.xlsx", b"text\n")
    with pytest.raises(InvalidInput, match="there is no column text"):
        plan_file(now(), "q.csv", b"words,more\na,b\n")


def test_a_file_may_be_called_anything_and_messages_call_it_so(now):
    """A name may have more letters than a disk takes, or lead elsewhere."""
    told = f"{'n' * 60}…{'n' * 15}.csv"
    plan = plan_file(now(), f"{'n' * 260}.csv", b"text\n \nA quince?\n", category="general")
    assert [one.text for _, one in plan.new] == ["A quince?"]
    assert refusals(plan) == [f"{told}:2: text is blank. Correct the line."]
    assert plan.outcome.source == told
    for name, shown in (("../../n\x00.CSV", "n?.CSV"), ("n" * 260 + ".csv", told)):
        with pytest.raises(InvalidInput) as caught:
            plan_file(now(), name, b"words,more\na,b\n")
        assert str(caught.value).startswith(f"{shown}: there is no column text.")
    with pytest.raises(InvalidInput, match=r"n…n{15}\.doc. does not look like a sheet"):
        plan_file(now(), "n" * 260 + ".doc", b"")


def test_an_id_that_was_taken_since_the_rows_were_tried(now):
    plan = plan_pasted(now(), PASTED)
    asking.add(now(), "bob", [Draft("A?", "general", id="are-pears-ripe")])
    with pytest.raises(LabelConflict, match="somebody has added the question"):
        add_planned(now(), "ann", plan)


def test_near_duplicates_are_told_and_may_be_left_out(now):
    pasted = (
        "text\nWhen are the apple tree PRUNED\nWhere do figs grow best?\n"
        "where - do Figs grow best\nIs jam sweet?\n"
    )
    plan = plan_pasted(now(), pasted, category="general")
    assert [(one.line, one.other, one.overlap) for one in plan.near] == [
        (2, "q1", 1.0), (4, "line 3", 1.0),
    ]  # fmt: skip
    assert plan.near[0].other_text == "When is an apple tree pruned?"
    assert len(add_planned(now(), "ann", plan, skip_near=True).events) == 2


def test_words_without_case_punctuation_and_stop_words():
    assert words_of("How do I Refund a SHIPMENT?!") == {"refund", "shipment"}
    assert words_of("What is it?") == {"what", "is", "it"} and words_of(" ?! ") == {"?!"}


@pytest.mark.parametrize(
    ("name", "others"),
    [("Pay-ments", ["payments"]), ("payment", ["payments"]), ("payments", []), ("refunds", [])],
)
def test_names_of_categories_that_are_near(name, others):
    assert near_names(name, ["payments", "security"]) == others


texts = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=7).map(
    lambda letters: " ".join(f"{letter}{letter}" for letter in letters)
)


@given(known=st.lists(texts, max_size=6), new=st.lists(texts, max_size=6))
def test_no_near_duplicate_is_missed_and_none_is_made_up(known, new):
    before = {f"k{n}": text for n, text in enumerate(known)}
    fresh = {f"n{n}": text for n, text in enumerate(new)}
    sets = {name: words_of(text) for name, text in {**before, **fresh}.items()}
    best = {}
    for one, other in combinations(sets, 2):
        overlap = len(sets[one] & sets[other]) / len(sets[one] | sets[other])
        if other in fresh and overlap >= OVERLAP:
            best[other] = max(overlap, best.get(other, 0))
    found = near_questions(fresh, before)
    assert {one.new: one.overlap for one in found} == pytest.approx(best)
    for one in found:
        shared = sets[one.new] & sets[one.other]
        assert one.overlap == len(shared) / len(sets[one.new] | sets[one.other])


def test_a_thousand_against_five_thousand_compares_few_pairs(monkeypatch):
    made = random.Random(1)
    vocabulary = [f"word{n}" for n in range(3000)]

    def text():
        return " ".join(made.choices(vocabulary, k=9))

    compared = []
    whole = near._overlap
    monkeypatch.setattr(near, "_overlap", lambda *sets: compared.append(1) or whole(*sets))
    known, new = ({f"{side}{n}": text() for n in range(many)} for side, many in
                  (("k", 5000), ("n", 1000)))  # fmt: skip
    new["twice"] = known["k7"]
    assert [(one.new, one.other) for one in near.near_questions(new, known)] == [("twice", "k7")]
    assert len(compared) < 100_000  # of 5.5 million pairs
