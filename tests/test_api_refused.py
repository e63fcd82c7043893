"""What the Python API and `desk score` refuse, and in which words; and what `desk score` prints."""

import math

import pandas as pd
import pytest

from app import api
from app.api import DeskError

QRELS = {"q": {"a": 2, "b": 0}}
RUN = {"q": ["a", "b"]}


def frame(**columns):
    return pd.DataFrame(columns)


def refused(job, *words, **more):
    with pytest.raises(DeskError) as caught:
        job(*words, **more)
    text = str(caught.value)
    assert text.endswith((".", "?", "!")) and "Traceback" not in text
    return text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({}, "one of qrels and collection is needed"),
        ({"qrels": QRELS, "collection": "tiny"}, "one of qrels and collection is needed"),
        ({"qrels": QRELS, "k": [0]}, "k needs whole numbers from 1"),
        ({"qrels": QRELS, "k": []}, "k needs whole numbers from 1"),
        ({"qrels": QRELS, "k": [1.5]}, "k needs whole numbers from 1"),
        ({"qrels": QRELS, "k": 3}, ""),
        ({"qrels": {"q": {"a": 3}}}, "the grade 3 of"),
        ({"qrels": {"q": {"a": -1}}}, "the grade -1 of"),
        ({"qrels": {"q": {"a": 1.5}}}, "the grade 1.5 is no whole number"),
        ({"qrels": {"q": {"a": math.nan}}}, "grade nan"),
        ({"qrels": {"q": {"a": None}}}, "grade None"),
        ({"qrels": {"q": {"a": "two"}}}, "grade 'two'"),
        ({"qrels": {"q": ["a"]}}, ""),
        ({"qrels": 42}, ""),
        ({"qrels": frame(question=["q"], chunk=["a"])}, "the DataFrame has no column grade"),
        ({"qrels": "nowhere.qrels"}, "nowhere.qrels: the file cannot be read"),
        ({"qrels": {"other": {"a": 1}}}, 'not one question of the run is known, "q" for one'),
        ({"qrels": QRELS, "grades": "0:0"}, "is not a mapping of one grade to another"),
        ({"qrels": QRELS, "grades": "0=0,1=1,2=3"}, "which is outside 0..2"),
        ({"qrels": QRELS, "grades": "0=0"}, "the grade 2 of"),
        ({"qrels": QRELS, "order": "up"}, ""),
        ({"qrels": QRELS, "threshold": 0}, ""),
        ({"qrels": QRELS, "threshold": 3}, ""),
        ({"qrels": QRELS, "highest": 0}, ""),
    ],
    ids=str,
)
def test_words_that_fit_nothing_are_refused(words, said):
    assert said in refused(api.score_run, RUN, **words)


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (42, "a run is a file, a DataFrame or a mapping, not int"),
        ([("q", "a")], "a run is a file, a DataFrame or a mapping, not list"),
        (frame(question=["q"]), "the DataFrame has no column chunk"),
        (frame(question=["q"], chunk=["a"], rank=[math.nan]), "rank"),
        (frame(question=["q"], chunk=["a"], rank=["first"]), "rank"),
        (frame(question=["q"], chunk=["a"], rank=[1.5]), "rank"),
        (frame(question=["q"], chunk=["a"], score=[math.nan]), "score"),
        (frame(question=["q"], chunk=["a"], score=["high"]), "score"),
        ({"q": {"a": math.nan}}, "score"),
        ({"q": {"a": math.inf}}, "score"),
        ({"q": {"a": "high"}}, "score"),
        ({"q": {"a": None}}, "score"),
        ({"q": 3}, ""),
        ({"q": "ab"}, ""),
        ({"q": [""]}, 'the id "" is blank'),
        ("nowhere.run", "nowhere.run: the file cannot be read"),
    ],
    ids=str,
)
def test_runs_that_are_none_are_refused(run, said):
    assert said in refused(api.score_run, run, qrels=QRELS)


@pytest.mark.parametrize("k", [[0], [], [1.5], 3, "1,3"])
def test_cut_offs_that_are_none_are_refused_before_a_search(runbooks, k):
    assert refused(api.evaluate, "runbooks", workspace=runbooks, k=k).startswith("k ")
    assert not (runbooks / "data/desk.duckdb").exists()


def test_a_run_under_labels_must_share_their_ids(tiny):
    words = {"collection": "tiny", "workspace": tiny()}
    assert "not one question of the run is known" in refused(api.score_run, RUN, **words)
    assert "not one" in refused(api.score_run, {"q1": ["doc-1", "doc-2"]}, **words)


def test_a_chunk_that_the_filter_keeps_out_is_a_violation_here_too(tiny):
    texts = [{"id": n, "text": n, "open": n != "b"} for n in "ab"]
    root = tiny(texts, labels=[("q1", "a", 2)], settings="[eligible]\nopen = true\n")
    words = {"collection": "tiny", "workspace": root}
    assert "eligibility violation" in refused(api.score_run, {"q1": ["b", "a"]}, **words)


def test_what_the_commands_refuse_is_refused_in_the_same_words(runbooks, tiny, tmp_path, desk):
    for words, job in (
        (("evaluate", "nothing"), lambda: api.evaluate("nothing", workspace=runbooks)),
        (("compare", "a", "b"), lambda: api.compare("a", "b", workspace=runbooks)),
        (
            ("evaluate", "runbooks", "-c", "no"),
            lambda: api.evaluate("runbooks", workspace=runbooks, configurations=["no"]),
        ),
        (
            ("evaluate", "runbooks", "--split", "held-out"),
            lambda: api.evaluate("runbooks", workspace=runbooks, split="held-out"),
        ),
    ):
        assert desk(runbooks, *words).errors == [f"error: {refused(job)}"]
    root = tiny(labels=[("q9", "apple", 2)])
    said = refused(api.labels, "tiny", workspace=root)
    assert 'labels/tiny/judgments/ann.jsonl:1: the question "q9" is unknown' in said
    assert "there is no workspace here" in refused(api.labels, "x", workspace=tmp_path / "none")


@pytest.fixture
def score(desk, tmp_path):
    """`desk score` of a run under qrels, both given as text."""

    def run(run, qrels, *words):
        (tmp_path / "my.run").write_text(run)
        (tmp_path / "my.qrels").write_text(qrels)
        return desk(None, "score", tmp_path / "my.run", tmp_path / "my.qrels", *words)

    return run


FILES = "q Q0 b 1 9 x\nq Q0 a 2 8 x\n", "q 0 a 2\nq 0 b 0\n"


def test_desk_score_needs_no_workspace_and_keeps_nothing(score, tmp_path, monkeypatch):
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    found = score(*FILES, "--k", "1,2", "--json").json
    assert [(mean["k"], mean["mrr"], mean["category"]) for mean in found["means"]] == [
        (1, 0, None), (2, 0.5, None)
    ]  # fmt: skip
    assert found["format"] == 1 and len(found["questions"]) == 2
    assert [hit["grade"] for hit in found["questions"][1]["ranking"]] == [0, 2]
    table = score(*FILES).out
    assert "my" in table and "How to read it" in table and "0.500" in table
    assert not [path for path in folder.rglob("*") if path.name != "desk.log"]


def test_desk_score_by_score(score):
    by_score = ("--order", "score", "--k", "1", "--json")
    run = "q Q0 b 1 8 x\nq Q0 a 2 9 x\n"
    assert score(run, FILES[1], *by_score).json["means"][0]["mrr"] == 1
    assert score(run, FILES[1], *by_score[2:]).json["means"][0]["mrr"] == 0
    assert score(run.replace(" 1 8", " - 8"), FILES[1], *by_score).json["means"][0]["mrr"] == 1


def test_desk_score_maps_another_scale(score):
    qrels = FILES[1].replace(" 2", " 3") + "q 0 c -1\n"
    answer = score(FILES[0], qrels)
    assert answer.code == 2 and "outside the scale 0=0,1=1,2=2" in answer.errors[0]
    found = score(FILES[0], qrels, "--grades", "0=0,3=2,-1=skip", "--k", "2", "--json").json
    assert found["means"][0]["mrr"] == 0.5 and found["questions"][0]["relevant"] == 1


@pytest.mark.parametrize(
    ("run", "qrels", "said"),
    [
        ("q Q0 a 1 nan x\n", FILES[1], "my.run:1: "),
        ("q Q0 a 1 inf x\n", FILES[1], "my.run:1: "),
        ("q Q0 a one 1 x\n", FILES[1], "my.run:1: "),
        ("q Q0 a 1 1\n", FILES[1], "my.run:1: "),
        (FILES[0], "q 0 a\n", "my.qrels:1: "),
        (FILES[0], "q 0 a two\n", "my.qrels:1: "),
        (FILES[0], "q 0 a 2\nq 0 a 0\n", "my.qrels:2: "),
        ("", FILES[1], ""),
        (FILES[0], "", ""),
        ("r Q0 a 1 1 x\n", FILES[1], 'not one question of the run is known, "r" for one'),
    ],
)
def test_desk_score_refuses_by_file_and_line(score, run, qrels, said):
    answer = score(run, qrels)
    assert answer.code == 2 and len(answer.errors) == 1, answer
    assert answer.errors[0].startswith(f"error: {said}")


def test_more_columns_are_counted_here_too(score):
    answer = score(FILES[0].replace(" x\n", " x more\n"), FILES[1])
    assert answer.code == 0 and [note for note in answer.notes if "more columns than 6" in note]


def test_a_file_that_is_not_there(desk, tmp_path):
    answer = desk(None, "score", tmp_path / "a.run", tmp_path / "a.qrels")
    assert answer.code == 2 and len(answer.errors) == 1
    assert "the file cannot be read" in answer.errors[0]
