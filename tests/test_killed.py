"""kill -9 at bad moments, and two processes at once: what was acknowledged is there afterwards."""

import json
import re
import signal
import sqlite3
import threading
from contextlib import closing

import pytest

from app.core.errors import EngineError, NotReady
from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.listing import list_executions
from app.flows.progress import marked
from app.workspace import Workspace

DENSE = '[configurations.dense]\nembedder = "bundled"\n'
AGAIN = """
import sys
from pathlib import Path
from app.flows.evaluating import evaluate
from app.workspace import Workspace
collection = Workspace.at(Path(sys.argv[1])).collection("runbooks")
while True:
    print(evaluate(collection, ["sparse"])[0].execution.id, flush=True)
"""


def kill(process):
    process.send_signal(signal.SIGKILL)
    assert process.wait(10) == -signal.SIGKILL


def unfinished(what, process, kept):
    return re.compile(
        rf"note: {what}, started \S+Z by process {process.pid}, did not finish\. {kept}\.\n"
    )


def test_killed_while_evaluating(runbooks, collection_of, desk_process, desk_run, until):
    kept = evaluate(collection_of(runbooks), ["sparse"])[0].execution
    process = desk_process(runbooks, "evaluate", "runbooks")
    until(lambda: list(runbooks.glob("data/.running/*.json")), "the evaluation")
    kill(process)
    listed = list_executions(Workspace.at(runbooks))
    assert [one.execution.id for one in listed] == [kept.id]
    answer = desk_run(runbooks, "evaluate", "runbooks", "-c", "sparse")
    wanted = unfinished("Evaluating runbooks", process, "Nothing of it is stored")
    assert answer.code == 0 and wanted.match(answer.err)
    assert list(runbooks.glob("data/.running/*")) == []
    assert desk_run(runbooks, "evaluate", "runbooks", "-c", "sparse").notes == []


def vectors_in(root):
    try:
        (path,) = root.glob("data/tiny/vectors/*.sqlite")
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return connection.execute("select count(*) from vectors").fetchone()[0]
    except (ValueError, sqlite3.Error):
        return 0


def test_killed_while_indexing(tiny, desk_process, desk_run, until):
    texts = {f"c{n}": f"the runbook number {n} tells of worker {n * 7}" for n in range(300)}
    root = tiny(texts, labels=(), configurations=DENSE)
    process = desk_process(root, "index", "tiny")
    until(lambda: vectors_in(root) >= 16, "embedding")
    kill(process)
    done = vectors_in(root)
    assert 16 <= done < 300
    answer = desk_run(root, "index", "tiny")
    assert unfinished("Indexing tiny", process, "Vectors made are kept").match(answer.err)
    assert answer.out == (
        f"tiny: indexed 300 chunks, 300 eligible, for dense (bundled); {300 - done} embedded, "
        f"{done} as they were\n"
    )


def test_every_execution_that_was_acknowledged_survives(runbooks, start):
    process = start(["-c", AGAIN, str(runbooks)])
    told = [process.stdout.readline().strip() for _ in range(3)]
    kill(process)
    told += process.stdout.read().split()
    store = Store.at(Workspace.at(runbooks).store_path)
    kept = {one.id: one for one in executions.listed(store)}
    assert set(told) <= kept.keys() and len(kept) <= len(told) + 1
    for one in kept.values():
        rankings, texts = executions.rankings(store, one)
        assert one.status == "complete" and len(rankings) == len(texts) == 9
        assert all(ranking.hits for ranking in rankings)


def test_the_dashboard_reads_while_the_command_evaluates(runbooks, collection_of, desk_run):
    evaluate(collection_of(runbooks), ["sparse"])
    store = Store.at(Workspace.at(runbooks).store_path)
    reads, errors, ended = [], [], threading.Event()

    def read():
        try:
            while not ended.is_set():
                reads.append(len(executions.listed(store)))
        except Exception as error:  # noqa: BLE001 - told below
            errors.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    answer = desk_run(runbooks, "evaluate", "runbooks", "-c", "sparse")
    ended.set()
    for thread in threads:
        thread.join(30)
    assert (answer.code, errors) == (0, [])
    assert len(executions.listed(store)) == 2 and len(reads) > 10 and reads[0] == 1


def test_two_commands_evaluate_at_once(runbooks, desk_process):
    both = [desk_process(runbooks, "evaluate", "runbooks", "-c", "sparse") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0 and "did not finish" not in err, err
    listed = list_executions(Workspace.at(runbooks))
    assert len(listed) == 2 and len({one.execution.id for one in listed}) == 2


def test_work_that_ends_is_never_taken_for_work_that_was_cut_short(tmp_path):
    notices = []

    def work():
        for _ in range(100):
            with marked(tmp_path, "Working") as found:
                notices.extend(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert notices == [] and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "{}"])
def test_a_mark_that_cannot_be_read(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with marked(tmp_path, "Working") as found:
        assert found == ["Work that an earlier process began did not finish."]


def test_an_error_is_no_crash(tiny, collection_of, desk):
    root = tiny()
    assert desk(root, "evaluate", "tiny").code == 2  # not indexed yet
    assert index(collection_of(root))[0].notices == ()
    assert evaluate(collection_of(root))[0].notices == ()


@pytest.mark.parametrize("error", [EngineError("no room for it"), NotReady("no vectors")])
def test_an_engine_that_cannot_be_filled_ends_the_run(runbooks, collection_of, error):
    """Before the first search: one fill, not one a question, and no execution of nothing."""
    fills, searched = [], []

    def engine_for(identity, make):
        fills.append(identity)
        raise error

    with pytest.raises(type(error)) as caught:
        evaluate(
            collection_of(runbooks), ["sparse"], engine_for=engine_for,
            progress=lambda *words: searched.append(words),
        )  # fmt: skip
    assert caught.value is error and len(fills) == 1 and searched == []
    assert list_executions(Workspace.at(runbooks)) == []
    assert evaluate(collection_of(runbooks), ["sparse"])[0].notices == ()  # told, so no crash


def test_a_command_that_is_refused_does_not_swallow_the_news(tiny, desk):
    root = tiny()
    (root / "data/.running").mkdir()
    mark = {
        "what": "Indexing tiny", "pid": 7, "started": "2026-01-01T00:00:00.000Z",
        "kept": "Vectors made are kept",
    }  # fmt: skip
    (root / "data/.running/x.json").write_text(json.dumps(mark))
    refused = desk(root, "evaluate", "tiny")
    assert refused.code == 2 and "is not indexed" in refused.err
    assert "did not finish" not in refused.err
    assert desk(root, "index", "tiny").notes == [
        "note: Indexing tiny, started 2026-01-01T00:00:00.000Z by process 7, did not finish. "
        "Vectors made are kept."
    ]
    assert desk(root, "index", "tiny").notes == []
