"""Relevance Desk from Python: shapes, types, numbers, and errors that are sentences."""

import json
import math

import pandas as pd
import pytest

from app import api
from tests.conftest import judgment

METRICS = ("precision", "recall", "mrr", "ndcg", "hit")
QUESTION_METRICS = ("precision", "recall", "rr", "ndcg", "hit")
#: Rankings with the grades of their questions, K, the highest grade, and P, R, RR, nDCG.
NUMBERS = [
    ("abc", {"a": 0, "b": 2, "c": 1}, 3, 2, (0.6667, 1, 0.5, 0.6590018)),
    ("abc", {"a": 0, "b": 2, "c": 2}, 3, 2, (0.6667, 1, 0.5, 0.6934264)),
    ("a", {"a": 2, "b": 2}, 3, 2, (0.3333, 0.5, 1, 0.6131472)),
    ("a", {"a": 2}, 3, 2, (0.3333, 1, 1, 1)),
    ("", {"a": 2}, 3, 2, (0, 0, 0, 0)),
    ("73915", {"1": 0, "3": 3, "5": 2, "7": 0, "9": 1}, 3, 3, (0.6667, 0.6667, 0.5, 0.5234343)),
    ("73915", {"1": 0, "3": 3, "5": 2, "7": 0, "9": 1}, 5, 3, (0.6, 1, 0.5, 0.6469928)),
    ("12345", {"1": 1, "3": 1, "7": 1, "2": 0, "4": 0, "5": 0}, 5, 2, (0.4, 0.6667, 1, 0.7039)),
]


def assert_floats(frame, names):
    assert {name: str(frame[name].dtype) for name in names} == dict.fromkeys(names, "float64")


def overall(frame):
    return frame[frame["category"].isna()].set_index("k")


def kinds_of_run(ranking, folder):
    """One ranking in every shape `score_run` takes."""
    rows = [("q", chunk, rank, 1 / rank) for rank, chunk in enumerate(ranking, start=1)]
    frame = pd.DataFrame(rows, columns=["question", "chunk", "rank", "score"])
    path = folder / "my.run"
    path.write_text("".join(f"{q} Q0 {c} {r} {s} tag\n" for q, c, r, s in rows))
    return {
        "lists": {"q": list(ranking)},
        "scores": {"q": {chunk: score for _, chunk, _, score in rows}},
        "frame": frame.sample(frac=1, random_state=1),
        "ranks only": frame.drop(columns="score")[::-1],
        "scores only": frame.drop(columns="rank")[::-1],
        "path": path,
        "name of a path": str(path),
    }


KINDS = ("lists", "scores", "frame", "ranks only", "scores only", "path", "name of a path")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("ranking", "grades", "k", "highest", "wanted"), NUMBERS, ids=str)
def test_the_numbers_that_must_come_out(tmp_path, ranking, grades, k, highest, wanted, kind):
    run = kinds_of_run(ranking, tmp_path)[kind]
    found = api.score_run(run, qrels={"q": grades}, k=[k], highest=highest)
    (row,) = found.questions.to_dict("records")
    assert (row["k"], row["outcome"], row["provisional"]) == (k, "scored", False)
    values = [row[name] for name in ("precision", "recall", "rr", "ndcg")]
    assert values == pytest.approx(wanted, abs=6e-5)
    (mean,) = found.means.to_dict("records")
    assert [mean[n] for n in ("precision", "recall", "mrr", "ndcg")] == pytest.approx(values)
    assert mean["hit"] == float(bool(ranking)) and mean["scored"] == mean["answerable"] == 1


@pytest.mark.parametrize("kind", ["mapping", "frame", "path"])
def test_qrels_come_in_any_shape(tmp_path, kind):
    grades = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
    rows = [(q, c, g) for q, judged in grades.items() for c, g in judged.items()]
    (tmp_path / "my.qrels").write_text("".join(f"{q} 0 {c} {g}\n" for q, c, g in rows))
    qrels = {
        "mapping": grades,
        "frame": pd.DataFrame(rows, columns=["question", "chunk", "grade"]),
        "path": tmp_path / "my.qrels",
    }[kind]
    found = api.score_run({"q1": ["b", "a"], "q2": ["x", "c"]}, qrels=qrels, k=[2, 1])
    assert list(found.means["k"]) == [1, 2] and len(found.questions) == 4
    first, second = (row for _, row in overall(found.means).iterrows())
    assert first["mrr"] != first["mrr"] and first["mrr_as_0"] == 0
    assert first["provisional"] and (first["mrr_lower"], first["mrr_upper"]) == (0, 0.5)
    assert second["hit"] == 1 and math.isnan(second["precision"])


def test_shapes_and_types_of_an_evaluation(runbooks):
    found = api.evaluate("runbooks", workspace=runbooks, configurations=["sparse"], k=[1, 3])
    means, questions, hits = found.means, found.questions, found.hits
    assert_floats(means, [*METRICS, "judged", *(f"{m}_as_0" for m in METRICS)])
    assert_floats(means, [f"{m}_{end}" for m in METRICS for end in ("lower", "upper")])
    assert_floats(questions, [*QUESTION_METRICS, "judged", "relevant"])
    assert_floats(hits, ["grade", "score"])
    assert len(questions) == 18 and set(means["configuration"]) == {"sparse"}
    assert overall(means)["ndcg"].to_dict() == pytest.approx({1: 0.857, 3: 0.917}, abs=5e-4)
    unsupported = questions[questions["question"] == "ingress-timeout"]
    assert set(unsupported["outcome"]) == {"not applicable"}
    assert unsupported[list(QUESTION_METRICS)].isna().all(axis=None)
    assert set(unsupported["reason"]) == {"unsupported"}
    assert hits.groupby("question")["rank"].max().le(3).all() and hits["rank"].min() == 1
    graded = hits[~hits["question"].isin(["ingress-timeout", "retention-days"])]
    assert set(graded["state"]) == {"judged", "implicit"} and graded["grade"].notna().all()
    assert set(hits["execution"]) == {means["execution"].iloc[0]}
    assert json.loads(json.dumps(found.records, allow_nan=False))["format"] == 1
    again = api.evaluate("runbooks", workspace=runbooks, configurations=["sparse"], reuse=True)
    assert set(again.means["execution"]) == set(means["execution"])


def test_what_is_provisional_is_nan_and_never_0(indexed):
    found = api.evaluate("tiny", workspace=indexed(), k=[3])
    row = overall(found.means).loc[3]
    assert row["provisional"] and math.isnan(row["precision"]) and row["precision_as_0"] > 0
    assert row["precision_lower"] <= row["precision_as_0"] <= row["precision_upper"]
    assert found.hits["grade"].isna().any() and "unjudged" in set(found.hits["state"])


def test_one_split(indexed):
    questions = [
        {"format": 1, "id": q, "category": "c", "text": f"apple {q}", "split": split}
        for q, split in (("q1", "development"), ("q2", "held-out"))
    ]
    root = indexed(questions=questions)
    found = api.evaluate("tiny", workspace=root, split="held-out", k=[1])
    assert set(found.questions["question"]) == {"q2"}


def test_compare(runbooks):
    api.evaluate("runbooks", workspace=runbooks, configurations=["dense", "sparse"])
    found = api.compare("dense", "sparse", workspace=runbooks)
    assert_floats(found.means, ["baseline", "candidate", "delta"])
    assert_floats(found.questions, list(METRICS))
    rows = found.means[found.means["category"].isna()].set_index(["metric", "k"])
    assert rows.loc[("ndcg", 3), "delta"] == pytest.approx(0.112, abs=1e-3)
    assert len(found.questions) == 27
    unsupported = found.questions[found.questions["question"] == "retention-days"]
    assert unsupported[list(METRICS)].isna().all(axis=None)
    assert found.records["baseline"] != found.records["candidate"]


def test_labels(runbooks, tiny):
    frame = api.labels("runbooks", workspace=runbooks)
    assert_floats(frame, ["grade"])
    assert list(frame.columns) == ["question", "document", "version", "chunk", "state", "grade",
                                   "low", "high", "departed"]  # fmt: skip
    assert (frame["grade"] >= 1).sum() == 9 and not frame["departed"].any()
    disputed = [
        judgment("q1", "apple", g, n) | {"author": a}
        for n, (a, g) in enumerate(zip("ab", (0, 2), strict=True))
    ]
    (row,) = api.labels("tiny", workspace=tiny(labels=disputed)).to_dict("records")
    assert (row["state"], row["low"], row["high"]) == ("disputed", 0, 2) and math.isnan(
        row["grade"]
    )


def test_labels_of_a_collection_without_any(tiny):
    frame = api.labels("tiny", workspace=tiny(labels=[]))
    assert len(frame) == 0 and "grade" in frame


def test_a_run_scored_under_the_labels_of_a_collection(tiny):
    root = tiny()
    run = {"q1": ["pear", "apple"], "q2": ["nobody", "plum"]}
    found = api.score_run(run, collection="tiny", workspace=root, k=[2], name="mine")
    rows = found.questions.set_index("question")
    assert rows.loc["q1", "rr"] == 0.5 and rows.loc["q2", "provisional"]
    assert set(found.means["configuration"]) == {"mine"} and "execution" not in found.means
    assert [note for note in found.notices if "Chunks without a text here: 1" in note]
    assert not (root / "data/desk.duckdb").exists()
    frame = pd.DataFrame({"question": ["q1", "q1"], "chunk": ["pear", "apple"]})
    found = api.score_run(frame, collection="tiny", workspace=root, k=[2])
    assert found.questions.set_index("question")["outcome"].to_dict() == {
        "q1": "scored",
        "q2": "scored",
    }
    assert [note for note in found.notices if "got nothing back: 1" in note]


def test_a_run_and_its_import_have_the_same_scores(tiny, desk, tmp_path):
    root = tiny()
    path = tmp_path / "my.run"
    path.write_text("q1 Q0 pear 1 2 x\nq1 Q0 who 2 2 x\nq1 Q0 apple 3 2 x\nq2 Q0 plum 1 1 x\n")
    for order in ("rank", "score"):
        assert desk(root, "import", "tiny", "run", path, "--order", order).code == 0
        (one, *_) = desk(root, "executions", "--json").json["executions"]
        found = overall(
            api.score_run(path, collection="tiny", workspace=root, k=[1, 3, 5], order=order).means
        )
        for row in one["means"]:
            for name in METRICS:
                mine = found.loc[row["k"], name]
                assert (None if math.isnan(mine) else mine) == pytest.approx(row[name])


@pytest.mark.parametrize("threshold", [1, 2])
def test_relevant_is_what_the_threshold_says(threshold):
    found = api.score_run(
        {"q": ["a", "b"]}, qrels={"q": {"a": 1, "b": 2}}, k=[1], threshold=threshold
    )
    assert found.questions.loc[0, "precision"] == (1 if threshold == 1 else 0)
    assert found.questions.loc[0, "relevant"] == 3 - threshold
    assert found.questions.loc[0, "ndcg"] == pytest.approx(1 / 3)


def test_another_scale_is_mapped():
    qrels = {"q": {"a": 3, "b": -1, "c": 1}}
    words = {"k": [1], "grades": "0=0,1=0,2=1,3=2,-1=skip"}
    found = api.score_run({"q": ["a", "b", "c"]}, qrels=qrels, **words)
    assert found.questions.loc[0, "relevant"] == 1 and found.hits["state"].tolist() == ["judged"]


def test_without_a_question_there_is_no_mean():
    found = api.score_run({"q": ["a"]}, qrels={"q": {"a": 0}}, k=[1])
    assert found.questions.loc[0, "outcome"] == "not applicable"
    assert found.means[list(METRICS)].isna().all(axis=None)
    assert found.means.loc[0, "no_evidence_yet"] == 1
