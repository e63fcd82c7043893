"""All that is done with a collection, done with a foreign one; nothing is ever written to it."""

import json
import shutil

import pytest

from app import api
from app.core.model import ChunkKey
from app.engines import executions
from app.engines.store import Store
from app.flows import labeling
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.evaluating import evaluate
from app.flows.loading import load
from app.flows.own import Own
from app.flows.pooling import pool_of
from app.workspace import Workspace
from tests.conftest import TEXTS
from tests.foreign import FIELDS, NAME, SPARSE, chunk, foreign, words
from tests.inspected import inspect_question

QUESTIONS = {"q1": "When is an apple tree pruned?", "q2": "What becomes of dried plums?"}
LABELS = (("q1", "apple", 2), ("q2", "plum", 2))


@pytest.fixture
def theirs(tmp_path):
    """Four fruit, lexically searched, synced and evaluated once."""
    with foreign(tmp_path / "workspace") as made:
        made.create(sparse=["words"])
        made.put(
            *[
                chunk(n, text, {"": [1, 0, 0, 0], "words": words(text)}, name=name)
                for n, (name, text) in enumerate(TEXTS.items())
            ]
        )
        made.settings({**FIELDS, "chunk": "name"}, 'sparse_vector = "words"', "", SPARSE)
        made.ask(QUESTIONS, LABELS)
        made.sync()
        yield made


def key(name):
    return ChunkKey(name, "as-is-v1", name)


def test_labels_by_foreign_keys_are_scored(theirs):
    (found,) = evaluate(theirs.collection)
    mean = next(one for one in found.means if one.category is None and one.k == 1)
    assert mean.values["hit"] == 1.0


def turn(loaded):
    bench = Bench(loaded, pool_of(loaded), Claims())
    return bench.turn("ben", Wish("q1"))


def test_page_label(theirs):
    loaded = load(theirs.collection)
    shown = turn(loaded).item
    assert shown.text in TEXTS.values()
    saved = labeling.grade(loaded, "ben", shown, 1)
    assert saved.event.key == shown.key
    theirs.put(chunk(9, "A fifth text.", {"words": words("fifth")}, name="fifth"))
    theirs.sync()
    again = load(theirs.collection)
    count = turn(again).progress
    assert (count.question_mine, count.question_total) == (1, 5)
    labeling.undo(again, Own(again, "ben"), saved.event.event)
    assert turn(load(theirs.collection)).progress.question_mine == 0


def test_a_text_that_changed_there_makes_its_label_stale(theirs, desk):
    event = labeling.grade(
        load(theirs.collection), "ben", labeling.item(load(theirs.collection), "q2", key("pear")), 0
    ).event
    assert event.grade == 0
    text = "A pear is a fruit."
    theirs.put(chunk(1, text, {"words": words(text)}, name="pear"))
    assert theirs.counts() == (0, 1, 0)
    assert "1 stale pair (the text or the question has changed)" in desk(
        theirs.root, "check", NAME
    ).out.replace("finding: ", "")


def test_page_retrieve_writes_nothing(theirs):
    seen = inspect_question(load(theirs.collection), "sparse", "q1", 3)
    assert seen.evidence[0].chunk.text == TEXTS["apple"]
    assert theirs.server.writes == []


def test_no_command_writes_to_it(theirs, desk):
    root = theirs.root
    for command in (
        ("sync", NAME), ("check", NAME), ("check", NAME, "--vectors"), ("evaluate", NAME),
        ("--no-serve",), ("doctor",), ("prune", NAME), ("executions",), ("index", NAME),
        ("backup", root / "backup.zip"), ("evaluate", NAME, "--resume"),
    ):  # fmt: skip
        done = desk(root, *command)
        assert done.code == (2 if command[0] == "index" else 0), (command, done.out, done.err)
    assert theirs.server.writes == []
    assert theirs.server.requests


def test_desk_alone_syncs_evaluates_and_reuses(theirs, desk):
    shutil.rmtree(theirs.catalogue)
    first = desk(theirs.root, "--no-serve")
    assert (first.code, first.errors) == (0, [])
    second = desk(theirs.root, "--no-serve")
    assert second.code == 0
    store = Store.at(theirs.workspace.store_path)
    assert len(executions.listed(store)) == 1
    assert theirs.server.writes == []


def test_doctor_and_prune_have_nothing_to_say(theirs, desk):
    evaluate(theirs.collection)
    found = desk(theirs.root, "doctor", "--json").json
    assert found["ok"] is True
    assert NAME in json.dumps(found)
    assert {one["level"] for one in found["findings"] if NAME in json.dumps(one)} == {"ok"}
    assert desk(theirs.root, "prune", NAME).out == (
        "foreign: every vector is needed; nothing to prune.\n"
    )


def test_doctor_tells_that_a_sync_is_wanted(theirs, desk):
    shutil.rmtree(theirs.catalogue)
    found = desk(theirs.root, "doctor").out
    assert "foreign has no catalogue of theirs yet. Sync it: desk sync foreign." in found
    assert "desk index" not in found


def test_qrels_by_chunk_ids_come_in(theirs, desk, tmp_path):
    path = tmp_path / "their.qrels"
    path.write_text("q1 0 pear 1\nq2 0 quince 0\nq2 0 lost 1\n")
    done = desk(theirs.root, "import", NAME, "labels", path)
    assert done.code == 0, done.err
    assert "3 rows read, labels of foreign: 3 new" in done.out
    frame = api.labels(NAME, workspace=theirs.root)
    assert len(frame) == 5
    assert theirs.server.writes == []


def test_a_corpus_is_not_imported_over_it(theirs, desk, tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id":"a","text":"b"}\n')
    done = desk(theirs.root, "import", NAME, "corpus", path)
    assert done.code == 2
    assert len(done.errors) == 1


@pytest.mark.parametrize("ending", ["parquet", "json"])
def test_executions_travel(theirs, desk, tmp_path, ending):
    (found,) = evaluate(theirs.collection)
    path = tmp_path / f"execution.{ending}"
    words = ("--execution", found.execution.id)
    assert desk(theirs.root, "export", NAME, "execution", path, *words).code == 0
    elsewhere = tmp_path / "elsewhere"
    for part in (f"data/{NAME}", "labels"):
        shutil.copytree(theirs.root / part, elsewhere / part)
    done = desk(elsewhere, "import", NAME, "execution", path)
    assert done.code == 0, done.err
    (there,) = executions.listed(Store.at(Workspace.at(elsewhere).store_path))
    assert there.id == found.execution.id
    assert there.corpus_revision == found.execution.corpus_revision
    again = tmp_path / f"again.{ending}"
    assert desk(elsewhere, "export", NAME, "execution", again, *words).code == 0
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("kind", ["questions", "labels", "run", "beir"])
def test_exports(theirs, desk, tmp_path, kind):
    (found,) = evaluate(theirs.collection)
    name = {"questions": "q.jsonl", "labels": "l.jsonl", "run": "r.run", "beir": "beir"}[kind]
    more = ("--execution", found.execution.id) if kind == "run" else ()
    done = desk(theirs.root, "export", NAME, kind, tmp_path / name, *more)
    assert done.code == 0, done.err
    assert (tmp_path / name).exists()


def test_a_backup_needs_a_sync_and_no_more(theirs, desk, tmp_path):
    (found,) = evaluate(theirs.collection)
    assert desk(theirs.root, "backup", tmp_path / "b.zip").code == 0
    root = tmp_path / "restored"
    root.mkdir()
    shutil.unpack_archive(tmp_path / "b.zip", root)
    assert not (root / "data" / NAME / "catalogue").exists()
    assert desk(root, "sync", NAME).code == 0
    (again,) = evaluate(Workspace.at(root).collection(NAME), reuse=True)
    assert again.reused
    assert again.execution.id == found.execution.id


def test_python_may_evaluate_it(theirs):
    scores = api.evaluate(NAME, workspace=theirs.root, k=[1])
    assert scores.means.query("category.isna()").hit.tolist() == [1.0]
    assert theirs.server.writes == []
