"""Whole runs over another program: kept in its order, scored as it is, gone on with."""

import json
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.listing import list_executions
from app.workspace import Workspace
from tests.retrievers import (
    BEGIN,
    HANG,
    Endpoint,
    Reply,
    asleep,
    external,
    gone,
    hits,
    pids,
    python,
)

DENSE = '[configurations.dense]\nembedder = "bundled"\n'
KEY = "sk-very-secret-123"
MANY = {f"q{n:02}": f"Question {n}?" for n in range(1, 31)}
ALL = [(q, c, 2 if c == "apple" else 0) for q in MANY for c in ("apple", "pear", "plum", "quince")]


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits("apple", "pear"))
    yield made
    made.stop()


@pytest.fixture
def asking(indexed, endpoint):
    """An indexed tiny workspace whose configuration `pipeline` asks the endpoint."""

    def build(*words, keys=None, more="", **rest):
        asks = external(endpoint=endpoint.url, **(keys or {}))
        return indexed(*words, configurations=asks + more, **rest)

    return build


def stored(root):
    """Chunks and failure of every question of the newest execution."""
    newest = list_executions(Workspace.at(root))[0].execution
    rankings, _ = executions.rankings(Store.at(Workspace.at(root).store_path), newest)
    return {one.question: ([h.key.chunk for h in one.hits], one.failure) for one in rankings}


def outcomes(answer, k=3):
    (execution,) = answer.json["executions"]
    return execution, {one["question"]: one for one in execution["questions"] if one["k"] == k}


def test_its_order_stands_stored_scored_and_exported(asking, endpoint, desk):
    labels = [("q1", "apple", 2), ("q1", "pear", 0), ("q1", "plum", 0), ("q1", "quince", 0)]
    root = asking(labels=labels)
    endpoint.say = lambda question, k: hits(("pear", 0.2), ("plum", 0.2), ("apple", 0.9))
    answer = desk(root, "evaluate", "tiny", "--json")
    execution, found = outcomes(answer)
    assert (answer.code, execution["status"], execution["notices"]) == (0, "complete", [])
    assert stored(root)["q1"] == (["pear", "plum", "apple"], None)
    assert [hit["chunk"][0] for hit in found["q1"]["ranking"]] == ["pear", "plum", "apple"]
    # pear and plum tie across K = 1: their order is the program's, and no other is thought of.
    _, first = outcomes(answer, 1)
    assert (found["q1"]["rr"], found["q1"]["tied"], first["q1"]["tied"]) == (1 / 3, False, False)
    assert first["q1"]["bounds"]["precision"] == [0, 0]
    run = root / "out.run"
    told = desk(root, "export", "tiny", "run", run, "--execution", "pipeline")
    rows = [line.split() for line in run.read_text().splitlines() if line.startswith("q1 ")]
    assert [(row[2].split("|")[0], row[3]) for row in rows] == [
        ("pear", "1"), ("plum", "2"), ("apple", "3"),
    ]  # fmt: skip
    assert "Questions whose scores tie or rise along the ranks: 2." in told.err
    desk(root, "import", "tiny", "run", run, "--name", "again")
    compared = desk(root, "compare", "pipeline", "again", "--json").json
    assert all(one["delta"] == 0 for one in compared["means"] if one["n"])


def test_nothing_found_is_a_miss_and_a_bad_answer_fails_its_question_alone(asking, endpoint, desk):
    def say(question, k):
        return hits() if "apple" in question else b"<html>"

    root = asking()
    endpoint.say = say
    answer = desk(root, "evaluate", "tiny", "--json")
    execution, found = outcomes(answer)
    assert (answer.code, execution["status"]) == (2, "incomplete")
    assert (found["q1"]["outcome"], found["q1"]["recall"], found["q1"]["rr"]) == ("scored", 0, 0)
    assert (found["q2"]["outcome"], found["q2"]["ranking"]) == ("failed", [])
    assert found["q2"]["reason"].startswith(f'{endpoint.name} sent "<html>", which is no JSON. It ')
    endpoint.say = lambda question, k: hits("plum")
    again = desk(root, "evaluate", "tiny", "--resume", "--json")
    assert (again.code, stored(root)) == (0, {"q1": ([], None), "q2": (["plum"], None)})
    assert endpoint.asked[-1]["question"] == "What becomes of dried plums?"
    assert len(endpoint.asked) == 3


FILTER = '[eligible]\nstatus = "good"\n'


def test_a_hit_that_may_not_be_found_and_one_found_twice(asking, endpoint, desk):
    texts = [{"id": "apple", "text": "An apple.", "status": "good"},
             {"id": "pear", "text": "A pear.", "status": "draft"}]  # fmt: skip
    root = asking(texts, labels=[("q1", "apple", 2)], settings=FILTER)
    twice = hits("apple", "apple")
    endpoint.say = lambda question, k: twice if "plum" in question else hits("apple", "pear")
    _, found = outcomes(desk(root, "evaluate", "tiny", "--json"))
    assert found["q1"]["reason"] == (
        "eligibility violation: pear was returned at rank 2 but does not pass the filter"
    )
    assert found["q2"]["reason"] == "duplicate keys: apple was returned twice"


def test_as_many_at_a_time_as_the_settings_say(asking, endpoint, collection_of):
    def say(question, k):
        time.sleep(0.02)
        return hits("apple")

    root = asking(questions=MANY, labels=ALL, keys={"concurrency": 3})
    endpoint.say = say
    found = evaluate(collection_of(root))[0]
    assert (found.execution.status, endpoint.peak) == ("complete", 3)
    assert len(endpoint.asked) == 30 and list(stored(root)) == list(MANY)
    endpoint.peak = 0
    path = root / "data/tiny/collection.toml"
    path.write_text(path.read_text().replace("concurrency = 3", "concurrency = 1"))
    evaluate(collection_of(root))
    assert endpoint.peak == 1


def test_an_endpoint_that_dies_midway_is_left_alone_and_resumed(asking, endpoint, desk, until):
    root = asking(questions=MANY, labels=ALL, keys={"concurrency": 2})
    stopped = threading.Event()

    def dying(question, k):
        number = int(question.split()[1][:-1])
        if number == 11:
            # Two are asked at a time: while this one waits, the 12th shows that ten have answers.
            until(lambda: len(endpoint.asked) == 12, "the question after")
            endpoint.stop()
            stopped.set()
        elif number > 11:
            # Nothing that is asked after it finds the endpoint on its way down.
            stopped.wait(30)
        return hits("apple", "pear") if number < 11 else None

    endpoint.say = dying
    answer = desk(root, "evaluate", "tiny")
    assert answer.code == 2
    assert "20 questions failed, so there are no means:" in answer.out
    # Both that were under way may hear the same.
    told = rf"  q1[12]( and 1 more)?: {re.escape(endpoint.name)} does not answer: "
    assert re.search(told, answer.out), answer.out
    answered = [q for q, (_, failure) in stored(root).items() if failure is None]
    assert answered == list(MANY)[:10]
    found = stored(root)
    assert len(endpoint.asked) <= 10 + 5 + 3
    assert found["q30"][1].startswith(f"not searched: {endpoint.name} does not answer: ")
    endpoint.start()
    endpoint.say = lambda question, k: hits("pear", "apple")
    asked = len(endpoint.asked)
    again = desk(root, "evaluate", "tiny", "--resume")
    assert again.code == 0 and len(endpoint.asked) == asked + 20
    found = stored(root)
    assert {q for q, (keys, _) in found.items() if keys == ["apple", "pear"]} == set(answered)
    assert all(found[q] == (["pear", "apple"], None) for q in MANY if q not in answered)


def test_the_key_is_in_no_output_no_log_and_no_store(asking, endpoint, desk, monkeypatch):
    monkeypatch.setenv("PIPELINE_KEY", KEY)
    root = asking(keys={"authorization_env": "PIPELINE_KEY"})
    said = [desk(root, "evaluate", "tiny", "--json")]
    assert all(one["Authorization"] == f"Bearer {KEY}" for one in endpoint.heads)
    endpoint.say = lambda question, k: Reply({"sent": endpoint.heads[-1]}, 401)
    said += [desk(root, "evaluate", "tiny")]
    endpoint.say = lambda question, k: None
    said += [desk(root, "evaluate", "tiny"), desk(root, "compare", "pipeline", "pipeline")]
    said += [desk(root, "executions", "--json"), desk(root, "doctor")]
    assert [one.code for one in said[:3]] == [0, 2, 2]
    monkeypatch.delenv("PIPELINE_KEY")
    missing = desk(root, "evaluate", "tiny")
    wanted = f"error: {endpoint.name} wants a key, and PIPELINE_KEY is not set. Set PIPELINE_KEY."
    assert (missing.code, missing.errors) == (2, [wanted])
    desk(root, "export", "tiny", "execution", root / "out.parquet", "--execution", "pipeline")
    assert not any(KEY in one.out + one.err for one in (*said, missing))
    for path in root.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


STOPPED = "not searched: the execution was stopped"


@pytest.mark.parametrize("kind", ["endpoint", "command"])
def test_ctrl_c_ends_the_run_at_once_and_keeps_what_was_found(
    indexed, endpoint, desk_process, until, kind
):
    """A run with a time-out of a minute, stopped while questions are under way."""
    command = [sys.executable, "-S", "-E", "retriever.py"]
    keys = {"endpoint": endpoint.url} if kind == "endpoint" else {"command": command}
    root = indexed(questions=MANY, labels=ALL, configurations=external(concurrency=3, **keys))
    folder = root / "data/tiny"
    answer = "if int(asked['question'].split()[1][:-1]) <= 4:\n    print(%r)\n    sys.exit()\n"
    python(folder, BEGIN + answer % json.dumps(hits("apple")) + HANG)
    hang = asleep(endpoint)
    endpoint.say = lambda q, k: hits("apple") if int(q.split()[1][:-1]) <= 4 else hang(q, k)
    process = desk_process(root, "evaluate", "tiny")
    until(lambda: len(endpoint.asked) == 7 or len(pids(folder)) == 6, "the questions that hang")
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - began < 20
    assert process.returncode == 2 and "Traceback" not in out + err
    assert gone(pids(folder))
    found = stored(root)
    assert [q for q, (_, failure) in found.items() if failure is None] == list(MANY)[:4]
    assert {failure for _, failure in list(found.values())[4:]} == {STOPPED}
    assert list_executions(Workspace.at(root))[0].execution.status == "incomplete"


def test_no_process_is_left_after_a_run(indexed, collection_of):
    """One starts a child that outlives it, one hangs, one fails."""
    program = BEGIN + (
        "n = int(asked['question'].split()[1][:-1])\n"
        "if n == 3:\n    sys.exit('no index')\n"
        f"if n < 3:\n    print({json.dumps(hits('apple'))!r}, flush=True)\n"
    )
    hang = HANG.replace("time.sleep(60)", "time.sleep(60 if n == 4 else 0)").replace(
        '["sleep", "60"]', '["sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL'
    )
    questions = {name: text for name, text in MANY.items() if name <= "q04"}
    command = [sys.executable, "-S", "-E", "retriever.py"]
    root = indexed(
        questions=questions, labels=[one for one in ALL if one[0] in questions],
        configurations=external(command=command, timeout=6.0),
    )  # fmt: skip
    python(root / "data/tiny", program + hang)
    evaluate(collection_of(root))
    found = stored(root)
    assert [hits for hits, _ in found.values()] == [["apple"], ["apple"], [], []]
    assert 'ended with exit code 1: "no index"' in found["q03"][1]
    assert "did not answer within 6 s" in found["q04"][1]
    assert len(pids(root / "data/tiny")) == 6 and gone(pids(root / "data/tiny"))
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False)
    assert str(root) not in listed.stdout
