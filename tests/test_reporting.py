"""What an evaluation tells: tables, the sentences beside them, and the list of executions."""

import shutil

from app.core.errors import EngineError
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.listing import Listed, list_executions
from app.flows.report import score_tables
from app.flows.wording import count, outcome_words, value_or_range, with_bounds
from app.workspace import Workspace

PRIMARY = "ndcg@3"
SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
DENSE = '[configurations.dense]\nembedder = "bundled"\n'
FRUIT = {"a": "apple and pear", "b": "apple", "c": "pear", "d": "plum"}
ASKED = {"q1": "apple", "q2": "pear", "q3": "plum"}


def of_bob(question, chunk, grade):
    return {
        "format": 1, "event": f"bob{question}{chunk}", "time": "t", "author": "bob",
        "kind": "grade", "question": question, "chunk": [chunk, "as-is-v1", chunk], "grade": grade,
    }  # fmt: skip


def stop_at(number):
    def progress(what, done, total):
        if what.startswith("Searching") and done == number:
            raise KeyboardInterrupt

    return progress


def test_means_by_category_and_many_unsupported_questions_in_sum(indexed, desk):
    known = {"q1": ("apple", "one"), "q2": ("pear", "two")}
    asked = [{"id": name, "text": text, "category": of} for name, (text, of) in known.items()]
    asked += [
        {"id": f"u{n}", "text": text, "category": "gone", "unsupported_as_of": "r"}
        for n, text in enumerate(["apple"] * 10 + ["nothing"])
    ]
    more = f"{SPARSE}threshold = 0.1\n{DENSE}"
    root = indexed(FRUIT, asked, [("q1", "b", 2), ("q2", "c", 2)], configurations=more)
    answer = desk(root, "evaluate", "tiny", "--k", "1,3")
    lines = [" ".join(line.split()) for line in answer.out.splitlines()]
    at = lines.index("nDCG@3 by category n sparse dense")
    assert [line[:9] for line in lines[at + 2 : at + 4]] == ["one 1 1.0", "two 1 1.0"]
    at = lines.index("unsupported questions with hits median top score highest accepted")
    assert lines[at + 2].startswith("sparse 11 10 ") and lines[at + 2].endswith(
        " u9 10 of 11, at threshold 0.1"
    )
    assert lines[at + 3].startswith("dense 11 11 ") and "no threshold is set" in lines[at + 3]


def test_ranges_and_what_they_are_with_open_pairs_as_grade_0(indexed, desk):
    root = indexed(FRUIT, ASKED, [("q1", "b", 2), ("q2", "c", 2)])
    answer = desk(root, "evaluate", "tiny", "--k", "1,3")
    head, _, tables = answer.out.partition("\n\n")
    assert head == (
        "tiny: 4 chunks in the index, 4 eligible; 3 questions: 2 answerable with 2 relevant pairs, "
        "1 undecided"
    )
    assert tables.startswith("""\
configuration  K  scored       Precision          Recall    MRR   nDCG    Hit  Judged
-------------  -  ------  --------------  --------------  -----  -----  -----  ------
sparse         1  2 of 2  1.000 of 1.000  1.000 of 1.000  1.000  1.000  1.000   1.000
sparse         3  2 of 2       0.33-0.67  1.000 of 1.000  1.000  1.000  1.000   0.500

Ranges are provisional: open chunks may still change these values. If your labels
already list everything relevant, say so: completeness in collection.toml.

unjudged as 0  K  Precision  Recall    MRR   nDCG    Hit
-------------  -  ---------  ------  -----  -----  -----
sparse         3      0.333   1.000  1.000  1.000  1.000

sparse: execution """)
    assert "by category" not in answer.out  # there is one only
    assert answer.out.count("How to read it") == 1


def test_no_range_no_second_table(runbooks, collection_of):
    text = score_tables(evaluate(collection_of(runbooks), ["dense"]), PRIMARY)
    assert "unjudged as 0" not in text and "provisional" not in text
    assert "dense          3  7 of 7  0.381 of 0.429  0.857 of 1.000  0.786  0.804" in text
    assert "unsupported      configuration  hits@5  top score  accepted" in text
    assert "restart-recovery: first came " in text


def test_low_cases_name_their_range(indexed, collection_of):
    root = indexed(FRUIT, ASKED, [("q1", "a", 1)])
    (found,) = evaluate(collection_of(root))
    text = score_tables([found], PRIMARY)
    low, high = found.scored.questions[1].known_bounds["ndcg"]
    assert low < high
    assert f"  lowest nDCG@3:\n    {low:.2f}-{high:.2f} provisional  q1: first came b" in text
    assert "(unjudged); 1 of 1 relevant found" in text


NOTHING = (
    "Nothing to score yet: no question has a relevant chunk with a settled grade. Grade chunks on "
    "the page Label, then: desk evaluate tiny"
)


def test_a_sentence_instead_of_empty_tables(indexed, collection_of):
    root = indexed(FRUIT, ASKED, [("q1", "d", 0)])
    assert score_tables(evaluate(collection_of(root)), PRIMARY) == (
        "tiny: 4 chunks in the index, 4 eligible; 3 questions: 0 answerable with 0 relevant "
        f"pairs, 1 no evidence yet, 2 undecided\n\n{NOTHING}"
    )


def test_failures_are_told_also_before_there_is_anything_to_score(indexed, collection_of):
    root = indexed(FRUIT, ASKED, ())
    (found,) = evaluate(collection_of(root), progress=stop_at(1))
    text = score_tables([found], PRIMARY)
    assert f"{NOTHING}\n\nsparse: execution {found.execution.id}, incomplete\n" in text
    assert (
        "  2 questions failed, so there are no means:\n    q2 and 1 more: not searched: the exec"
        in text
    )


def test_every_question_is_counted_also_where_its_search_failed(runbooks, collection_of):
    """The head speaks of all questions; one that failed is still unsupported."""
    (found,) = evaluate(collection_of(runbooks), ["sparse"], progress=stop_at(3))
    assert found.means[0].failed == 6 and found.means[0].counts["unsupported"] == 2
    assert "; 9 questions: 7 answerable, 2 unsupported" in score_tables([found], PRIMARY)


def test_failures_outside_of_a_split_are_not_told_as_none(indexed, collection_of):
    root = indexed(FRUIT, [
        {"format": 1, "id": "q1", "category": "x", "text": "apple", "split": "development"},
        {"format": 1, "id": "q2", "category": "x", "text": "pear", "split": "held-out"},
    ], [("q1", "b", 2)])  # fmt: skip
    found = evaluate(collection_of(root), split="development", progress=stop_at(1))
    assert found[0].means[0].values["ndcg"] is None
    assert "0 questions failed" not in score_tables(found, PRIMARY)


def test_only_disputed_or_stale_evidence_has_a_reason_and_is_counted(indexed, collection_of, edit):
    """Beside chunks judged 0, too: `no evidence yet` would be wrong."""
    asked = {**ASKED, "q4": "apple or pear"}
    labels = [
        ("q1", "b", 2), of_bob("q1", "b", 0), ("q1", "d", 0),  # disputed, beside a 0
        ("q2", "c", 2), of_bob("q2", "c", 2),
        {**of_bob("q3", "d", 1), "text_hash": "0" * 64}, ("q3", "a", 0),  # stale, beside a 0
        ("q4", "b", 0), of_bob("q4", "b", 0),  # judged, no evidence
    ]  # fmt: skip
    (found,) = evaluate(collection_of(indexed(FRUIT, asked, labels)))
    outcomes = {q.question: (q.outcome, q.reason) for q in found.scored.questions}
    only = "only disputed or stale evidence"
    assert outcomes == {
        "q1": ("not applicable", only),
        "q2": ("scored", None),
        "q3": ("not applicable", only),
        "q4": ("not applicable", "no evidence yet"),
    }
    assert found.means[0].counts == {
        "unsupported": 0,
        "no evidence yet": 1,
        "undecided": 0,
        only: 2,
    }
    assert score_tables([found], PRIMARY).startswith(
        "tiny: 4 chunks in the index, 4 eligible; 4 questions: 1 answerable with 1 relevant pair, "
        f"1 no evidence yet, 2 {only}\n"
    )
    assert outcome_words(found.scored.questions[0]) == (
        "Not applicable: all its evidence is disputed or stale. Reviewers must agree, or judge "
        "again, before it can be scored."
    )


def test_conflicts_are_told(runbooks, collection_of, desk, edit):
    path = runbooks / "labels/runbooks/questions.jsonl"
    revision = collection_of(runbooks).corpus().revision
    edit(path, 'need":"Whether and how', f'unsupported_as_of":"{revision}","need":"Whether and how')
    edit(path, f'"unsupported_as_of":"{revision}"}}', '"unsupported_as_of":"old"}')
    answer = desk(runbooks, "evaluate", "runbooks", "-c", "sparse")
    assert answer.code == 0 and answer.notes == [
        'note: the question "restart-recovery" is marked unsupported, but durable-work-queue '
        "recovery/p0 has grade 2. Withdraw the label, or remove unsupported_as_of from the "
        "question."
    ] + [
        f'note: the question "{name}" was found unsupported in another corpus revision. Search the '
        f'corpus again, then set unsupported_as_of to "{revision}".'
        for name in ("ingress-timeout", "retention-days")
    ]


def test_a_question_that_the_embedder_cut_is_told(indexed, collection_of):
    asked = {"short": "apple", "long": "word " * 255, "fits": "word " * 254}
    root = indexed(FRUIT, asked, [("short", "b", 2)], configurations=DENSE)
    sentence = (
        "Questions longer than the embedder reads, searched by their beginning: 1, long for one."
    )
    (found,) = evaluate(collection_of(root))
    assert found.notices == (sentence,) and found.execution.status == "complete"
    assert found.execution.provenance["checks"] == {"cut": ["long"]}
    assert evaluate(collection_of(root), reuse=True)[0].notices == (sentence,)


def failing(when):
    """An engine that is real, but fails in some searches."""

    def engine_for(identity, make):
        engine = make()
        search = engine.search_many

        def fail(one, asked):
            if when(one):
                return [EngineError("Qdrant did not answer")] * len(asked)
            return search(one, asked)

        engine.search_many = fail
        return engine

    return engine_for


def test_a_second_search_that_fails_keeps_the_execution_and_is_told(indexed, collection_of):
    root = indexed(FRUIT, ASKED, [("q1", "b", 2)], configurations=f"{SPARSE}prefix_check = true\n")
    (found,) = evaluate(collection_of(root), engine_for=failing(lambda one: one.depth == 3))
    assert found.execution.status == "complete" and found.means[0].values["ndcg"] == 1
    assert found.notices == (
        "q1 (and of 2 other questions): the second search to check its ranking failed: Qdrant did "
        "not answer.",
    )
    (kept,) = list_executions(Workspace.at(root))
    assert [one["question"] for one in kept.execution.provenance["checks"]["failed"]] == [*ASKED]


def test_a_share_that_nobody_could_measure_is_not_told(indexed, collection_of):
    root = indexed(FRUIT, ASKED, [("q1", "b", 2)], configurations=f"{SPARSE}exact_twin = true\n")
    (found,) = evaluate(collection_of(root), engine_for=failing(lambda one: one.exact))
    assert found.execution.status == "complete" and len(found.notices) == 1
    assert "second search" in found.notices[0]


def test_the_list_of_executions(runbooks, collection_of, desk):
    workspace = Workspace.at(runbooks)
    assert list_executions(workspace) == []
    sparse = evaluate(collection_of(runbooks), ["sparse"])[0]
    stopped = evaluate(collection_of(runbooks), ["dense"], progress=stop_at(2))[0]
    found = list_executions(workspace)
    assert [type(one) for one in found] == [Listed] * 2
    assert [one.execution for one in found] == [stopped.execution, sparse.execution]
    assert [one.headline for one in found] == ["-", "nDCG@3 0.917, n 7"]
    assert [row["k"] for row in found[1].means] == [1, 3, 5]
    evaluate(collection_of(runbooks), ["sparse"], cutoffs=[2])
    newest = list_executions(workspace, "runbooks")[0]
    assert (newest.headline, [row["k"] for row in newest.means]) == ("-", [2])
    table = desk(runbooks, "executions").out.splitlines()
    assert table[0].split()[-3:] == ["last", "scored", "who"] and len(table) == 5


def test_the_primary_metric_of_each_collection_is_listed(runbooks, tiny, collection_of, edit):
    evaluate(collection_of(runbooks), ["sparse"])
    root = tiny(FRUIT, ASKED, [("q1", "b", 2)], settings='[scoring]\nprimary = "precision@5"')
    for part in ("data", "labels"):
        shutil.move(root / part / "tiny", runbooks / part / "tiny")
    workspace = Workspace.at(runbooks)
    index(workspace.collection("tiny"))
    evaluate(workspace.collection("tiny"))

    def headlines():
        return [one.headline for one in list_executions(workspace)]

    assert headlines() == ["Precision@5 provisional, n 1", "nDCG@3 0.917, n 7"]
    edit(runbooks / "data/tiny/collection.toml", "format = 1", "format = 2")
    assert headlines() == ["-", "nDCG@3 0.917, n 7"]
    shutil.rmtree(runbooks / "data/tiny")
    assert headlines() == ["-", "nDCG@3 0.917, n 7"]


def test_numbers_in_words():
    assert [count(n, "pair") for n in (0, 1, 2, 1200)] == [
        "0 pairs", "1 pair", "2 pairs", "1,200 pairs",
    ]  # fmt: skip
    assert value_or_range(0.5, (0.1, 0.9)) == with_bounds(0.5, (0.1, 0.9)) == "0.500"
    assert value_or_range(None, (0.4375, 1.0)) == "0.44-1.00"
    assert with_bounds(None, (0.4375, 1.0)) == "0.44-1.00 provisional"
    assert value_or_range(None, None) == with_bounds(None, None) == "-"
