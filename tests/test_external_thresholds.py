"""A threshold on an order that is not that of the scores, and what else such an order needs."""

import pytest

from app.flows.evaluating import evaluate
from app.flows.loading import load
from tests.inspected import inspect_question
from tests.retrievers import Endpoint, external, hits

SAID = (("pear", 0.1), ("apple", 0.9), ("quince", 0.2), ("plum", 0.8))


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits(*SAID))
    yield made
    made.stop()


@pytest.fixture
def root(indexed, endpoint):
    labels = [("q1", "apple", 2), ("q1", "plum", 1), ("q1", "pear", 0), ("q1", "quince", 0)]
    return indexed(
        labels=labels, configurations=external(endpoint=endpoint.url, threshold=0.5)
    )  # fmt: skip


def test_what_is_left_moves_up_wherever_it_is_scored_or_shown(root, desk, collection_of):
    answer = desk(root, "evaluate", "tiny", "--k", "1,2,3", "--json")
    found = {q["k"]: q for q in answer.json["executions"][0]["questions"] if q["question"] == "q1"}
    assert [found[k]["precision"] for k in (1, 2, 3)] == [1, 1, pytest.approx(2 / 3)]
    assert [found[k]["recall"] for k in (1, 2, 3)] == [0.5, 1, 1]
    assert [found[k]["rr"] for k in (1, 2, 3)] == [1, 1, 1] and found[3]["ndcg"] == 1
    assert [(h["rank"], h["chunk"][0]) for h in found[2]["ranking"]] == [(1, "apple"), (2, "plum")]
    shown = inspect_question(load(collection_of(root)), "pipeline", "q1", 1)
    assert [one.graded.hit.rank for one in shown.evidence if not one.cut] == [1, 2]
    assert (shown.score.values["rr"], shown.cut) == (1, 2)
    assert [(one.key.chunk, one.cause, one.rank) for one in shown.lost] == [
        ("plum", "ranked deeper", 2)
    ]
    stored = {
        q.k: q for q in evaluate(collection_of(root))[0].scored.questions if q.question == "q1"
    }
    assert stored[1].values == shown.score.values


def test_exported_with_the_ranks_it_was_scored_by(root, desk):
    desk(root, "evaluate", "tiny")
    desk(root, "export", "tiny", "run", root / "out.run", "--execution", "pipeline")
    rows = [line.split() for line in (root / "out.run").read_text().splitlines()]
    assert [(row[0], row[2].split("|")[0], row[3]) for row in rows] == [
        ("q1", "apple", "1"), ("q1", "plum", "2"), ("q2", "apple", "1"), ("q2", "plum", "2"),
    ]  # fmt: skip


def test_the_top_score_is_the_highest_one(tiny, endpoint, desk, collection_of, edit):
    root = tiny(labels=(), configurations=external(endpoint=endpoint.url, threshold=0.5))
    revision = collection_of(root).corpus().revision
    edit(root / "labels/tiny/questions.jsonl", '"id": "q2",',
         f'"id": "q2", "unsupported_as_of": "{revision}",')  # fmt: skip
    desk(root, "index", "tiny")
    (execution,) = desk(root, "evaluate", "tiny", "--json").json["executions"]
    apart = execution["unsupported"][0]
    assert (apart["question"], apart["top_score"], apart["accepted"]) == ("q2", 0.9, True)
    shown = inspect_question(load(collection_of(root)), "pipeline", "q2", 1)
    assert shown.acceptance.top_score == 0.9


def test_another_hit_of_the_same_score_is_another_answer(indexed, endpoint, desk):
    root = indexed(configurations=external(endpoint=endpoint.url, prefix_check=True))
    endpoint.say = lambda question, k: hits(("plum", 0)) if k == 1 else hits(("pear", 0))
    (execution,) = desk(root, "evaluate", "tiny", "--json").json["executions"]
    assert [one["k"] for one in execution["checks"]["prefix"]["differing"]] == [1, 1]


def test_another_program_behind_one_address_is_told(indexed, endpoint, desk):
    root = indexed(configurations=external(endpoint=endpoint.url))
    ids = []
    for version in ("shop 1", "shop 2"):
        endpoint.say = lambda question, k, name=version: hits("apple", pipeline=name)
        (execution,) = desk(root, "evaluate", "tiny", "--json").json["executions"]
        ids.append(execution["execution"])
    assert "Set differently:\n  pipeline: shop 1 -> shop 2\n" in desk(root, "compare", *ids).out
