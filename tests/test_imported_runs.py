"""Imported runs beside other executions: names, ids, dry runs, scores, comparisons, pages."""

from functools import partial

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import judgment, lines_of
from tests.exchanging import tree
from tests.runs import GOOD, import_run, newest, order, outcome, rankings, scored

BETTER = GOOD.replace("pear 1", "pear 2").replace("apple 2", "apple 1").replace("bm25", "other")


@pytest.fixture
def take(desk):
    return partial(import_run, desk)


def grade(root, *pairs):
    path = root / "labels/tiny/judgments/ann.jsonl"
    more = [judgment(*pair, 500 + n) for n, pair in enumerate(pairs)]
    path.write_text(path.read_text() + lines_of(more))


def test_the_status_is_imported_and_the_scores_are_kept(tiny, take, desk):
    root = tiny()
    answer = take(root, GOOD)
    assert "bm25: execution " in answer.out and ", imported" in answer.out
    (one,) = desk(root, "executions", "--json").json["executions"]
    assert (one["configuration"], one["status"], one["collection"]) == ("bm25", "imported", "tiny")
    assert [(row["k"], row["scored"], row["mrr"]) for row in one["means"]] == [
        (1, 2, 0.5), (3, 2, 0.75), (5, 2, 0.75)
    ]  # fmt: skip


def test_with_json_the_scores_are_kept_as_well(tiny, take, desk):
    root = tiny()
    (one,) = take(root, GOOD, "--json").json["imports"]
    assert (one["read"], one["new"], one["refused"], one["written"]) == (3, 3, 0, True)
    (one,) = desk(root, "executions", "--json").json["executions"]
    assert [(row["k"], row["mrr"]) for row in one["means"]] == [(1, 0.5), (3, 0.75), (5, 0.75)]


def test_ties_widen_bounds_by_score_only(tiny, take):
    root = tiny(labels=[("q1", "apple", 2), ("q1", "pear", 0), ("q2", "plum", 2)])
    run = "q1 Q0 apple 1 1 x\nq1 Q0 pear 2 1 x\nq2 Q0 plum 1 1 x\n"
    take(root, run)
    one = outcome(root, "q1", 1)
    assert not one.tied and one.known_bounds["precision"] == (1, 1)
    take(root, run, "--order", "score")
    one = outcome(root, "q1", 1)
    assert one.tied and one.known_bounds["precision"] == (0, 1) and one.values["precision"] == 1
    assert not one.provisional


def test_hits_without_a_text_are_the_same_evidence_whatever_k_is_asked(tiny, take):
    root = tiny()
    names = ["apple", "pear", "plum", "quince", "what"]
    take(root, "".join(f"q1 Q0 {n} {r} 1 x\n" for r, n in enumerate(names, start=1)))
    alone, together = outcome(root, "q1", 1), scored(root, 1, 5).scored.questions[0]
    assert (alone.k, together.k) == (1, 1)
    assert alone.bounds == together.bounds and alone.values == together.values


def test_it_compares_like_any_other_execution(indexed, take, desk):
    root = indexed()
    take(root, GOOD), take(root, BETTER)
    found = desk(root, "compare", "bm25", "other", "--json").json
    (mrr,) = [
        row for row in found["means"]
        if (row["metric"], row["k"], row["category"]) == ("mrr", 5, None)
    ]  # fmt: skip
    assert (mrr["n"], mrr["baseline"], mrr["candidate"], mrr["delta"]) == (2, 0.75, 1.0, 0.25)
    assert (mrr["wins"], mrr["losses"], mrr["ties"], mrr["undecided"]) == (1, 0, 1, 0)
    assert desk(root, "evaluate", "tiny").code == 0
    answer = desk(root, "compare", "bm25", "sparse")
    assert answer.code == 0 and "baseline" in answer.out


def test_a_failed_question_is_averaged_away_in_no_comparison(tiny, take, desk):
    root = tiny()
    take(root, GOOD)
    take(root, BETTER.replace("0.7", "nan"), "--skip-refused")
    answer = desk(root, "compare", "bm25", "other", "--json")
    if answer.code == 0:
        overall = [row for row in answer.json["means"] if row["category"] is None]
        assert {row["candidate"] for row in overall} == {row["delta"] for row in overall} == {None}
    else:
        assert "failed" in answer.errors[0]


def test_labels_that_change_change_its_scores(tiny, take, desk):
    root = tiny()
    take(root, GOOD)
    assert scored(root, 1).means[0].values["precision"] == 0.5
    grade(root, ("q1", "pear", 2), ("q1", "quince", 2))
    one = outcome(root, "q1", 1)
    assert (one.values["precision"], one.values["recall"]) == (1, pytest.approx(1 / 3))
    assert scored(root, 1).means[0].values["precision"] == 1


def test_a_dry_run_tells_all_and_writes_nothing(tiny, take):
    root = tiny()
    before = tree(root)
    answer = take(root, GOOD, "--dry-run")
    assert answer.code == 0 and answer.out.rstrip().endswith(
        "3 new, 0 there already, 0 refused. A dry run: nothing was written."
    )
    assert tree(root) == before
    take(root, GOOD)
    before = tree(root)
    assert take(root, BETTER, "--dry-run").code == 0 and tree(root) == before


@pytest.mark.parametrize(
    ("run", "words", "name"),
    [
        (GOOD, (), "bm25"),
        (GOOD.replace("bm25", "My_Run/2"), (), "my_run-2"),
        (GOOD.replace("bm25", "###"), (), "run"),
        (GOOD.replace("0.7 bm25", "0.7 other"), (), "first-try"),
        (GOOD, ("--name", "solr.9-a_b"), "solr.9-a_b"),
    ],
    ids=lambda value: str(value)[-20:],
)
def test_the_name_is_given_or_the_tag_or_the_file(tiny, take, run, words, name):
    root = tiny()
    assert take(root, run, *words, file="First try.txt").code == 0
    assert newest(root).configuration == name


@pytest.mark.parametrize("name", ["Solr", "a b", "-", "é", "a/../b"])
def test_a_name_no_configuration_may_have_is_refused(tiny, take, name):
    root = tiny()
    answer = take(root, GOOD, "--name", name)
    assert answer.code == 2 and "may have a-z, 0-9, '.', '_' and '-' only" in answer.errors[0]
    assert not (root / "data/desk.duckdb").exists()


def test_a_run_of_another_corpus_is_refused(tiny, take):
    root = tiny()
    answer = take(root, "q1 Q0 doc-1 1 1 x\nq2 Q0 doc-2 1 1 x\n")
    assert answer.code == 2 and len(answer.errors) == 1
    assert "not one of the 2 ids of the run is a chunk of tiny, doc-1" in answer.errors[0]
    assert not (root / "data/desk.duckdb").exists()


def test_ids_may_be_keys_in_any_spelling(tiny, take):
    texts = {"a pear": "x", "50%": "y", "a|b": "z", "é": "w"}
    root = tiny(texts, questions={"q 1": "?", "q%2": "?"}, labels=[])
    spellings = ["a%20pear", "50%25", "a%7Cb|as-is-v1|a%7Cb", "%C3%A9"]
    rows = [f"q%201 Q0 {word} {n} 1 x\n" for n, word in enumerate(spellings, start=1)]
    assert take(root, "".join([*rows, "q%252 Q0 é 1 1 x\n"])).code == 0
    assert order(root, "q 1") == ["a pear", "50%", "a|b", "é"]
    assert order(root, "q%2") == ["é"]


@pytest.mark.parametrize("beside", [True, False])
def test_a_map_file_says_what_the_ids_mean(tiny, take, beside):
    root = tiny()
    lines = [{"format": 1, "id": "1", "question": "q1"}]
    pairs = (("d1", "pear"), ("d2", "apple"), ("d3", "unheard"))
    lines += [{"format": 1, "id": w, "chunk": [n, "as-is-v1", n]} for w, n in pairs]
    path = root.parent / ("my.run.map.jsonl" if beside else "elsewhere.jsonl")
    path.write_text(lines_of(lines))
    words = () if beside else ("--map", path)
    run = "1 Q0 d1 1 1 x\n1 Q0 d2 2 1 x\n1 Q0 d3 3 1 x\nq2 Q0 plum 1 1 x\n"
    answer = take(root, run, *words)
    assert answer.code == 0 and order(root) == ["pear", "apple", "unheard"]
    assert order(root, "q2") == ["plum"]


@pytest.mark.parametrize("line", ['{"id":"1"}', "nonsense", '{"id":"d1","chunk":["a","b"]}'])
def test_a_map_file_that_says_nothing_is_refused(tiny, take, line):
    root = tiny()
    (root.parent / "bad.jsonl").write_text(f"{line}\n")
    answer = take(root, GOOD, "--map", root.parent / "bad.jsonl")
    assert answer.code == 2 and "bad.jsonl:1: the line" in answer.errors[0]


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n# comments\n", "\ufeff"], ids=repr)
def test_an_empty_run_is_refused(tiny, take, text):
    root = tiny()
    answer = take(root, text)
    assert answer.code == 2 and answer.errors == [
        "error: my.run: the run is empty. Name another file."
    ]
    assert not (root / "data/desk.duckdb").exists()


def test_a_run_that_is_no_file_is_refused(tiny, desk):
    root = tiny()
    for path, words in ((root / "nowhere", "no such file"), (root, "run needs a file")):
        answer = desk(root, "import", "tiny", "run", path)
        assert answer.code == 2 and words in answer.errors[0]


def test_bytes_that_are_no_text_are_ids_of_their_own(tiny, take):
    root = tiny()
    answer = take(root, b"q1 Q0 \xff 1 1 x\nq1 Q0 \xfe 2 1 x\nq1 Q0 apple 3 1 x\n")
    assert answer.code == 2 or len(rankings(root)["q1"]) == 3


def test_every_hit_of_the_store_has_a_chunk_and_a_question(tiny, take):
    root = tiny()
    take(root, GOOD + "q2 Q0 what 2 0.5 bm25\n")
    with duckdb.connect(str(root / "data/desk.duckdb")) as connection:
        found = connection.execute(
            "select count(*), count(question), count(document) from hits "
            "left join questions using (question_ref) left join chunks using (chunk_ref)"
        ).fetchone()
    assert found == (4, 4, 4)


@pytest.fixture
def review(indexed, take, repository, monkeypatch):
    """Opens Review on two runs, of which the second returned chunks without a text."""
    root = indexed()
    take(root, GOOD)
    take(root, BETTER.replace("pear 2", "what 2"))
    monkeypatch.chdir(root)

    def run(**query):
        at = AppTest.from_file(str(repository / "app/main.py"), default_timeout=60)
        at.run()
        at.switch_page("pages/review.py")
        for name, value in query.items():
            at.query_params[name] = value
        at.run()
        assert not at.exception
        return "\n".join([e.proto.body for e in at.get("html")] + [t.value for t in at.text])

    return run


@pytest.mark.parametrize("case", ["q1", "q2"])
def test_review_opens_a_case_with_hits_that_have_no_text(review, case):
    text = review(case=case, k="5", metric="mrr")
    assert "unexpected" not in text and "Mean MRR@5, n 2" in text
    assert ("what" in text) == (case == "q1")
