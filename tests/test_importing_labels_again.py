"""Labels of reviewers who have judged already: the same, another grade, a file taken in twice."""

from functools import partial

import pytest

from app.core.model import ChunkKey
from app.flows.loading import load
from tests.conftest import judgment
from tests.exchanging import errors, import_file, json_lines, ledger, tree


@pytest.fixture
def root(tiny):
    """A workspace without a label."""
    return tiny(labels=[])


@pytest.fixture
def bring(root, desk):
    """Imports labels from a file of that name and content."""
    return partial(import_file, desk, root, "labels")


def csv_of(*rows, header="question,chunk,grade"):
    return "".join(",".join(map(str, row)) + "\n" for row in ((header,), *rows))


def effective(root, collection_of):
    pairs = load(collection_of(root)).labels.pairs
    return {(question, key.chunk): label.grade for (question, key), label in pairs.items()}


TABLE = [["question", "chunk", "grade"], ["q1", "apple", 2], ["q1", "pear", 0], ["q2", "plum", 1]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("l.csv", csv_of(*TABLE[1:])),
        ("l.xlsx", TABLE),
        ("l.jsonl", json_lines(dict(zip(TABLE[0], row, strict=True)) for row in TABLE[1:])),
        ("qrels.txt", "q1 0 apple 2\nq1 0 gone 1\nq2 0 d|v|c 0\n"),
    ],
)
def test_a_file_taken_in_twice_is_taken_in_once(root, bring, name, content):
    assert "3 new, 0 there already" in bring(name, content).out
    before = tree(root)
    again = bring(name, content)
    assert again.code == 0 and "0 new, 3 there already, 0 refused" in again.out
    assert tree(root) == before


def test_another_grade_of_the_same_reviewer_replaces_the_earlier(root, bring, collection_of):
    bring("l.csv", csv_of(("q1", "apple", 2), ("q1", "pear", 0)))
    first = ledger(root, "imported")
    answer = bring("l.csv", csv_of(("q1", "apple", 1), ("q1", "pear", 0)))
    assert "1 new, 1 there already" in answer.out
    *before, last = ledger(root, "imported")
    assert before == first and last["replaces"] == first[0]["event"] and last["grade"] == 1
    assert effective(root, collection_of) == {("q1", "apple"): 1, ("q1", "pear"): 0}
    again = bring("l.csv", csv_of(("q1", "apple", 1)))
    assert "0 new, 1 there already" in again.out


def by_ann(root, *events):
    path = root / "labels/tiny/judgments/ann.jsonl"
    path.write_text(json_lines(judgment("q1", "apple", *one[:1], number, **one[1])
                               for number, one in enumerate(events)))  # fmt: skip


CANNOT = {"kind": "cannot-judge", "reason": "broken text"}


@pytest.mark.parametrize(
    ("events", "replaced"),
    [
        ([(2, {})], None),
        ([(1, {}), (2, {"replaces": "e0"})], None),
        ([(1, {})], "e0"),
        ([(0, {}), (1, {"replaces": "e0"})], "e1"),
        ([(2, {"question_hash": "0" * 64})], "e0"),
        ([(None, CANNOT)], "e0"),
        ([(None, {"kind": "later"})], "e0"),
        ([(2, {}), (1, {"adjudication": True})], None),
        ([(2, {"blind": False})], None),
    ],
)
def test_what_is_in_force_already_is_left_or_replaced(root, bring, events, replaced):
    by_ann(root, *events)
    before = ledger(root)
    answer = bring("l.csv", csv_of(("q1", "apple", 2)), "--reviewer", "Ann")
    assert answer.code == 0
    added = ledger(root)[len(before) :]
    assert ledger(root)[: len(before)] == before
    assert [(one["grade"], one["replaces"]) for one in added] == ([(2, replaced)] * bool(replaced))


def test_what_was_given_under_other_guidelines_is_given_anew(root, bring, edit, collection_of):
    before = "[configurations.sparse]"
    words = f"[labels]\nguidelines_matter = true\n{before}"
    edit(root / "data/tiny/collection.toml", before, words)
    (root / "labels/tiny/guidelines.md").write_text("Grade strictly.")
    by_ann(root, (2, {"guidelines": "0" * 64}))
    assert effective(root, collection_of) == {("q1", "apple"): None}
    bring("l.csv", csv_of(("q1", "apple", 2)), "--reviewer", "ann")
    assert effective(root, collection_of) == {("q1", "apple"): 2}


def test_what_was_taken_back_is_given_anew(root, bring):
    by_ann(root, (2, {}), (None, {"kind": "withdraw", "replaces": "e0"}))
    bring("l.csv", csv_of(("q1", "apple", 2)), "--reviewer", "ann")
    last = ledger(root)[2]
    assert last["grade"] == 2 and "replaces" not in last


def test_the_label_of_another_reviewer_is_not_replaced(root, bring, collection_of):
    by_ann(root, (2, {}))
    bring("l.csv", csv_of(("q1", "apple", 0)))
    (line,) = ledger(root, "imported")
    assert "replaces" not in line and len(ledger(root)) == 1
    assert effective(root, collection_of) == {("q1", "apple"): None}


def test_two_reviewers_in_one_sheet(root, bring, collection_of):
    rows = [
        ("q1", "apple", 2, "Ann"), ("q1", "apple", 1, "Bob  Roe"), ("q1", "pear", 0, "ANN"),
        ("q2", "plum", 2, ""),
    ]  # fmt: skip
    words = ("--reviewer", "Cid")
    answer = bring("l.csv", csv_of(*rows, header="question,chunk,grade,rater"), *words)
    assert answer.code == 0 and "4 new" in answer.out
    found = {
        name: [one["grade"] for one in ledger(root, name)] for name in ("ann", "bob_roe", "cid")
    }
    assert found == {"ann": [2, 0], "bob_roe": [1], "cid": [2]}
    assert ledger(root, "bob_roe")[0]["author"] == "bob roe"
    assert effective(root, collection_of)["q1", "apple"] == 1


def test_a_name_that_can_be_none_is_refused(root, bring):
    before = tree(root)
    rows = csv_of(("q1", "apple", 2, "x" * 61), header="question,chunk,grade,reviewer")
    answer = bring("l.csv", rows)
    assert answer.code == 2 and errors(answer)[0].startswith("l.csv:2: the name ")
    answer = bring("l.csv", csv_of(("q1", "apple", 2)), "--reviewer", "  ")
    assert answer.code == 2 and errors(answer)[0].startswith('the name "  " is blank')
    assert tree(root) == before


def test_labels_given_in_sight_of_a_ranking_yield_to_blind_ones(root, bring, collection_of):
    bring("l.csv", csv_of(("q1", "apple", 0)), "--not-blind", "--reviewer", "ann")
    assert ledger(root)[0]["blind"] is False
    assert effective(root, collection_of)["q1", "apple"] == 0
    bring("l.csv", csv_of(("q1", "apple", 2)), "--reviewer", "bob")
    assert effective(root, collection_of)["q1", "apple"] == 2


def test_a_row_that_stands_twice_is_taken_once(root, bring):
    rows = csv_of(("q1", "apple", 2), ("q1", "pear", 0), ("q1", "apple|as-is-v1|apple", 2))
    answer = bring("l.csv", rows)
    assert answer.code == 0 and "2 new, 0 there already, 1 left out (repeated)" in answer.out


def test_a_row_that_contradicts_another_is_refused(root, bring):
    before = tree(root)
    answer = bring("l.csv", csv_of(("q1", "apple", 2), ("q2", "plum", 1), ("q1", "apple", 1)))
    assert answer.code == 2 and tree(root) == before
    apple = ChunkKey("apple", "as-is-v1", "apple").short()
    assert errors(answer) == [
        f'l.csv:4: "q1" and {apple} have the grade 2 on line 2 and 1 here. Keep one of the two.'
    ]


@pytest.fixture
def twins(tiny, desk):
    """A workspace with two chunks of one text, and what imports labels into it."""
    root = tiny({"a": "One text.", "b": "One text.", "c": "Other."}, labels=[])

    def run(*rows):
        return import_file(desk, root, "labels", "l.csv", csv_of(*rows))

    return root, run


def test_twins_with_one_grade_are_taken_in_once(twins, collection_of):
    root, bring = twins
    rows = [("q1", "a", 2), ("q1", "b", 2), ("q1", "c", 0)]
    assert bring(*rows).code == 0
    before = tree(root)
    assert "0 new" in bring(*rows).out and tree(root) == before
    assert effective(root, collection_of) == {("q1", "a"): 2, ("q1", "b"): 2, ("q1", "c"): 0}


def test_twins_with_two_grades_contradict_each_other(twins):
    root, bring = twins
    before = tree(root)
    answer = bring(("q1", "a", 2), ("q1", "b", 0))
    assert answer.code == 2 and errors(answer)[0].startswith("l.csv:3: ") and tree(root) == before


def test_a_twin_that_is_judged_already_is_known(twins):
    root, bring = twins
    bring(("q1", "a", 2))
    before = tree(root)
    assert "0 new, 1 there already" in bring(("q1", "b", 2)).out and tree(root) == before
