"""The archive of judged texts: what is kept, by whom it is read, and what a prune leaves."""

import threading
from functools import partial

import pytest

from app.core.errors import EngineError
from app.engines.store import Store
from app.engines.texts import Texts, texts_of_executions
from app.flows.archive import archive_of, keep, kept_texts
from app.flows.indexing import index
from app.flows.upkeep.doctor_collections import collection_findings
from app.flows.upkeep.pruning import prune
from tests.renewing import Desk, rows, text_of


@pytest.fixture
def archive(tmp_path):
    return Texts.of(tmp_path / "vectors", retain=True)


@pytest.fixture
def desk_of(tiny, collection_of):
    return partial(Desk.of, tiny, collection_of)


def test_texts_are_kept_once_by_hash(archive):
    assert archive.get(["a"]) == {} and archive.known() == frozenset()
    assert not archive.path.exists(), "asking makes no file"
    assert archive.add({"a": "one", "b": "two\nלא 👩‍👩‍👧 'x'"}) == 2
    assert archive.add({"a": "one", "c": "three"}) == 1
    assert archive.add({"a": "another"}) == 0
    assert archive.get(["a", "b", "zz"]) == {"a": "one", "b": "two\nלא 👩‍👩‍👧 'x'"}
    archive.keep_only(["b"])
    assert archive.known() == {"b"}


def test_without_leave_nothing_is_kept_and_nothing_given(archive):
    silent = Texts(archive.path, retain=False)
    assert silent.add({"a": "one"}) == 0 and not archive.path.exists()
    archive.add({"a": "one"})
    assert silent.get(["a"]) == {}


def test_many_threads_add_and_read(archive):
    failures = []

    def work(number):
        try:
            for step in range(5):
                archive.add({f"{number}-{step}": "x" * 1000, f"shared-{step}": "y"})
                assert archive.get([f"{number}-{step}"])
        except (EngineError, AssertionError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failures == [] and len(archive.known()) == 35


def test_a_damaged_file_is_told_in_our_words(archive):
    archive.path.parent.mkdir()
    archive.path.write_bytes(b"no archive" * 500)
    for job in (archive.known, partial(archive.get, ["a"]), partial(archive.add, {"a": "b"})):
        with pytest.raises(EngineError, match="the archive of judged texts cannot be used"):
            job()


def test_no_store_is_made_to_look_a_text_up(tmp_path):
    assert texts_of_executions(Store.at(tmp_path / "desk.duckdb"), ["a"]) == {}
    assert list(tmp_path.iterdir()) == []


def test_indexing_keeps_the_texts_of_labeled_chunks_only(desk_of):
    desk = desk_of(texts=rows(count=3))
    first = desk.grade("c0", 2)
    collection = desk.load().collection
    index(collection)
    known = archive_of(collection).known()
    assert known == {first.text_hash, first.question_hash}
    written = archive_of(collection).path.stat().st_mtime_ns
    index(collection)
    assert archive_of(collection).path.stat().st_mtime_ns == written, "nothing was new"
    assert kept_texts(collection, [first.text_hash]) == {first.text_hash: text_of(0)}


def test_a_damaged_archive_keeps_nobody_from_indexing_and_the_doctor_tells(desk_of):
    desk = desk_of(texts=rows(count=3))
    desk.grade("c0", 2)
    collection = desk.load().collection
    collection.vectors.mkdir()
    archive_of(collection).path.write_bytes(b"no archive" * 500)
    (report,) = index(collection)
    assert "the archive of judged texts cannot be used" in report.notices[0]
    keep(desk.load(), desk.load().corpus.chunks.values())
    assert kept_texts(collection, ["a"]) == {}
    errors = [
        one.problem.message
        for one in collection_findings(collection.workspace, "tiny")
        if one.level == "error"
    ]
    assert len(errors) == 1 and "the archive of judged texts" in errors[0]


def test_a_prune_keeps_texts_that_a_label_speaks_of(desk_of, desk):
    made = desk_of(texts=rows(count=3))
    given = made.grade("c0", 2)
    collection = made.load().collection
    index(collection)
    archive = archive_of(collection)
    made.corpus(*rows("9 June", 3))
    assert prune(collection).notices == () and given.text_hash in archive.known()
    archive.add({"f" * 64: "a text that nobody judged" * 1000})
    planned = prune(collection, dry_run=True)
    assert planned.notices == ("Kept texts that no label speaks of, to be removed: 1.",)
    assert planned.bytes and "f" * 64 in archive.known()
    assert prune(collection).notices == ("Kept texts that no label speaks of, removed: 1.",)
    assert archive.known() == {given.text_hash, given.question_hash}


def test_a_prune_removes_all_where_texts_may_not_be_kept(desk_of):
    desk = desk_of(texts=rows(count=3))
    desk.grade("c0", 2)
    index(desk.load().collection)
    path = desk.root / "data/tiny/collection.toml"
    path.write_text(path.read_text().replace("[source]", "retain_text = false\n[source]", 1))
    collection = desk.load().collection
    prune(collection)
    assert archive_of(collection).known() == frozenset()


def test_a_prune_removes_no_text_while_a_line_is_refused(desk_of):
    desk = desk_of(texts=rows(count=3))
    given = desk.grade("c0", 2)
    collection = desk.load().collection
    index(collection)
    with (desk.root / "labels/tiny/judgments/bob.jsonl").open("w") as file:
        file.write("no line\n")
    archive_of(collection).add({"f" * 64: "x"})
    assert prune(desk.load().collection).notices == ()
    assert {given.text_hash, "f" * 64} <= archive_of(collection).known()
