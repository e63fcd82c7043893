"""TREC runs taken in as executions: which order, which hits, what is refused."""

from functools import partial

import pytest

from tests.conftest import TEXTS
from tests.runs import GOOD, import_run, newest, order, outcome, rankings, scored


@pytest.fixture
def take(desk):
    return partial(import_run, desk)


def test_the_rank_column_orders_a_run_whatever_its_scores_say(tiny, take):
    root = tiny()
    run = "q1 Q0 apple 3 9 x\nq1 Q0 plum 1 1 x\nq2 Q0 plum 1 5 x\nq1 Q0 pear 2 5 x\n"
    answer = take(root, run)
    assert answer.code == 0 and order(root) == ["plum", "pear", "apple"]
    assert "note: Questions whose scores and ranks disagree: 1. The rank column decides." in (
        answer.notes
    )
    counted = "hits of a run of tiny: 4 new, 0 there already, 0 refused. Imported."
    assert f"my.run: 4 rows read, {counted}" in answer.out


def test_by_score_means_descending_then_by_key(tiny, take):
    root = tiny()
    run = "q1 Q0 plum 1 5 x\nq1 Q0 apple 2 5 x\nq1 Q0 quince 3 9 x\nq1 Q0 pear 4 -1e3 x\n"
    answer = take(root, run, "--order", "score")
    assert order(root) == ["quince", "apple", "plum", "pear"]
    assert [note for note in answer.notes if "Questions with equal scores: 1." in note]
    assert not [note for note in answer.notes if "disagree" in note]


def test_by_score_the_rank_column_may_hold_anything(tiny, take):
    root = tiny()
    assert take(root, "q1 Q0 pear - 0.5 x\nq1 Q0 apple ? 0.75 x\n", "--order", "score").code == 0
    assert order(root) == ["apple", "pear"]


@pytest.mark.parametrize("by", ["rank", "score"])
def test_a_chunk_named_twice_keeps_its_first_place(tiny, take, by):
    root = tiny()
    run = "q1 Q0 pear 4 2 x\nq1 Q0 apple 2 8 x\nq1 Q0 pear 1 9 x\nq1 Q0 apple 3 1 x\n"
    answer = take(root, run, "--order", by)
    assert rankings(root)["q1"] == [(1, "pear"), (2, "apple")]
    assert "2 new, 0 there already, 2 left out (named before, first rank kept)" in answer.out
    assert newest(root).provenance["run"]["duplicates"] == 2


@pytest.mark.parametrize(
    ("ranks", "wanted"),
    [
        ((0, 1, 2), ["apple", "pear", "plum"]),
        ((10, 70, 3), ["plum", "apple", "pear"]),
        ((1, 1, 1), ["apple", "pear", "plum"]),
        ((2, 1, 1), ["pear", "plum", "apple"]),
        ((-1, 0, -5), ["plum", "apple", "pear"]),
    ],
    ids=str,
)
def test_ranks_become_whole_numbers_from_1_without_gaps(tiny, take, ranks, wanted):
    root = tiny()
    names = ("apple", "pear", "plum")
    rows = [f"q1 Q0 {name} {rank} 1 x\n" for name, rank in zip(names, ranks, strict=True)]
    answer = take(root, "".join(rows))
    assert rankings(root)["q1"] == list(enumerate(wanted, start=1))
    same = [note for note in answer.notes if "Questions with two hits at one rank: 1" in note]
    assert bool(same) == (len(set(ranks)) < 3)


def test_unknown_chunks_are_hits_nobody_judged(tiny, take):
    root = tiny()
    answer = take(root, "q1 Q0 what 1 9 x\nq1 Q0 apple 2 8 x\nq2 Q0 what 1 7 x\n")
    assert [note for note in answer.notes if "Chunks without a text here: 1." in note]
    assert order(root) == ["what", "apple"]
    one = outcome(root, "q1", 3)
    assert one.provisional and one.values["precision"] is None and one.judged == 0.5
    assert one.ranking[0].label.state == "unjudged"
    assert one.known_bounds["precision"] == pytest.approx((1 / 3, 2 / 3))
    assert one.as_zero["rr"] == 0.5


def test_labels_of_chunks_without_a_text_count(tiny, take, desk, tmp_path):
    root = tiny()
    (tmp_path / "my.qrels").write_text("q1 0 what 2\n")
    assert desk(root, "import", "tiny", "labels", tmp_path / "my.qrels").code == 0
    take(root, "q1 Q0 what 1 9 x\nq1 Q0 apple 2 8 x\nq2 Q0 plum 1 7 x\n")
    one = outcome(root, "q1", 3)
    assert not one.provisional and one.relevant == 2 and one.judged == 1
    assert one.values == pytest.approx(
        {"precision": 2 / 3, "recall": 1, "rr": 1, "ndcg": 1, "hit": 1}
    )


def test_a_chunk_that_the_filter_keeps_out_is_a_violation(tiny, take):
    texts = [{"id": n, "text": t, "open": n != "pear"} for n, t in TEXTS.items()]
    labels = [("q1", "apple", 2)]
    root = tiny(texts, labels=labels, settings="[eligible]\nopen = true\n")
    answer = take(root, GOOD)
    assert answer.code == 2 and len(answer.errors) == 1
    assert answer.errors[0].startswith("error: my.run:1: eligibility violation: pear ")
    assert "does not pass the filter. Correct the run, or [eligible]" in answer.errors[0]
    assert not (root / "data/desk.duckdb").exists()


def test_an_unknown_question_is_refused_or_left_out(tiny, take):
    root = tiny()
    answer = take(root, f"{GOOD}q9 Q0 plum 1 1 bm25\n")
    assert answer.code == 2 and len(answer.errors) == 1
    assert answer.errors[0].startswith('error: my.run:4: the question "q9" is unknown. Correct')
    assert not (root / "data/desk.duckdb").exists()
    answer = take(root, f"{GOOD}q9 Q0 plum 1 1 bm25\n", "--skip-refused")
    assert answer.code == 0 and "3 new, 0 there already, 1 refused. Imported." in answer.out
    assert rankings(root) == {"q1": [(1, "pear"), (2, "apple")], "q2": [(1, "plum")]}


FAULTS = {
    "q2 Q0 pear 2 nan bm25": 'the score "nan" is no number',
    "q2 Q0 pear 2 -inf bm25": 'the score "-inf" is no number',
    "q2 Q0 pear 2 much bm25": 'the score "much" is no number',
    "q2 Q0 pear 1.5 2 bm25": 'the rank "1.5" is no whole number',
    "q2 Q0 pear first 2 bm25": 'the rank "first" is no whole number',
    "q2 Q0 pear 99999999999999999999 2 bm25": 'the rank "99999999999999999999"',
    "q2 Q0 pear 2 0.5": "the line has 5 columns, not 6",
    "q2": "the line has 1 column, not 6",
}


@pytest.mark.parametrize("line", FAULTS, ids=str)
@pytest.mark.parametrize("place", ["first", "last", "only"])
def test_a_question_with_a_refused_row_has_failed(tiny, take, line, place):
    root = tiny()
    rest = GOOD.replace("q2 Q0 plum 1 0.7 bm25\n", "") if place == "only" else GOOD
    run = f"{line}\n{rest}" if place == "first" else f"{rest}{line}\n"
    answer = take(root, run)
    number = 1 if place == "first" else 3 if place == "only" else 4
    assert answer.code == 2 and len(answer.errors) == 1
    assert answer.errors[0].startswith(f"error: my.run:{number}: {FAULTS[line]}")
    assert not (root / "data/desk.duckdb").exists()
    assert take(root, run, "--skip-refused").code == 0
    found = rankings(root)
    assert found["q1"] == [(1, "pear"), (2, "apple")]
    assert isinstance(found["q2"], str) and f"my.run:{number}" in found["q2"]
    overall = scored(root).means[0]
    assert (overall.failed, overall.scored, overall.answerable) == (1, 1, 2)
    assert set(overall.values.values()) == set(overall.as_zero.values()) == {None}


def test_a_run_of_which_every_row_is_refused_is_told_so(tiny, take):
    root = tiny()
    for run in ("q9 Q0 apple 1 1 x\n", "q1 Q0 apple one 1 x\n", "q1 Q0 apple\n"):
        answer = take(root, run, "--skip-refused")
        assert answer.code == 2 and answer.errors
        assert not [line for line in answer.errors if "unexpected" in line]
        assert not (root / "data/desk.duckdb").exists()


def test_a_run_of_which_every_question_failed_has_no_score(tiny, take):
    root = tiny()
    run = "q1 Q0 apple 1 1 x\nq1 Q0 pear 2 nan x\nq2 Q0 plum 1 nan x\n"
    assert take(root, run, "--skip-refused").code == 0
    assert all(isinstance(one, str) for one in rankings(root).values())
    assert scored(root).means[0].failed == 2


@pytest.mark.parametrize("missing", ["empty", "failed"])
def test_a_question_without_a_row_got_nothing_back_or_has_failed(tiny, take, missing):
    root = tiny()
    answer = take(root, "q1 Q0 apple 1 1 x\n", "--missing", missing)
    found = "They got nothing back." if missing == "empty" else "They count as failed."
    assert [n for n in answer.notes if n.endswith(f"without a row: 1, q2 for one. {found}")]
    assert rankings(root)["q2"] == ([] if missing == "empty" else "not in the run")
    overall = scored(root).means[0]
    assert overall.values["mrr"] == (0.5 if missing == "empty" else None)
    assert overall.failed == (missing == "failed")


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace(" ", "\t").encode(),
        b"# a run\n\n" + GOOD.replace("q2", "\n  # q1 Q0 quince 1 1 bm25\nq2").encode(),
        GOOD.rstrip("\n").encode(),
        GOOD.replace(" Q0 ", " 0 ").encode(),
    ],
    ids=["BOM", "CRLF", "tabs", "comments", "no line end", "0 for Q0"],
)
def test_what_does_not_matter_in_a_file(tiny, take, text):
    root = tiny()
    assert take(root, text).code == 0
    assert rankings(root) == {"q1": [(1, "pear"), (2, "apple")], "q2": [(1, "plum")]}


def test_more_columns_are_counted_and_not_used(tiny, take):
    root = tiny()
    answer = take(root, GOOD.replace("bm25\n", "bm25 and more\n", 2))
    assert "note: 2 lines with more columns than 6, not used." in answer.notes
    assert newest(root).configuration == "bm25"
