"""Sync: what is counted, that nothing else changes, and what keeps a catalogue as it was."""

import errno
import json
import os
import signal
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.catalogue import POINTS, SYNC
from app.core.errors import InvalidInput, Unreachable
from app.flows import syncing
from app.flows.progress import exclusively
from app.flows.syncing import prepare, sync
from tests.foreign import FIELDS, NAME, THEIRS, chunk, foreign, point


@pytest.fixture
def theirs(tmp_path):
    with foreign(tmp_path / "workspace") as made:
        made.put(*[chunk(n, f"Text {n}.") for n in range(3)])
        yield made


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    with foreign(tmp_path_factory.mktemp("edited")) as made:
        made.settings(more='[eligible]\ntag = "in"')
        yield made


states = st.dictionaries(
    st.integers(0, 9),
    st.tuples(st.sampled_from(["in", "out"]), st.sampled_from(["A", "B", None])),
    min_size=1,
)


@given(states, states)
@settings(max_examples=15, deadline=None)
def test_counts_are_those_of_the_edits_and_files_those_of_a_fresh_sync(edited, before, after):
    def fill(state):
        # One that is eligible and has a text is always there; others may lack theirs.
        state = {n: (tag if text else "out", text) for n, (tag, text) in state.items()}
        state[10] = ("in", "Always.")
        edited.create()
        edited.put(*[chunk(n, text, tag=tag) for n, (tag, text) in state.items()])
        return {n: (tag, text) for n, (tag, text) in state.items() if text}

    def forget():
        for name in (POINTS, SYNC):
            (edited.catalogue / name).unlink(missing_ok=True)

    forget()
    old = fill(before)
    assert edited.counts() == (len(old), 0, 0)
    new = fill(after)
    both = old.keys() & new.keys()
    found = edited.counts()
    assert found == (
        len(new) - len(both),
        sum(old[n] != new[n] for n in both),
        len(old) - len(both),
    )
    incremental = edited.files
    forget()
    edited.sync()
    assert edited.files == incremental


def test_several_pages_make_one_catalogue(theirs, monkeypatch):
    monkeypatch.setattr("app.engines.qdrant_source._PAGE", 2)
    theirs.put(*[chunk(n, f"Text {n}.") for n in range(3, 11)])
    seen = []
    found = sync(theirs.collection, lambda what, done, total: seen.append((what, done, total)))
    assert (found.new, found.sync.points) == (11, 11)
    assert [done for _, done, _ in seen] == [2, 4, 6, 8, 10, 11]
    assert {(what, total) for what, _, total in seen} == {(f"Syncing {NAME}", 11)}
    monkeypatch.undo()
    before = theirs.files
    assert theirs.counts() == (0, 0, 0)
    assert theirs.files == before


def test_the_command_says_what_was_found(theirs, desk):
    theirs.settings(more='[eligible]\ntag = "in"')
    theirs.put(chunk(5, "Text.", tag="in"), point(6, note="no text"))
    done = desk(theirs.root, "sync", NAME)
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "foreign: read 5 points of theirs, 1 eligible; 4 new, 0 changed, 0 gone; 1 without a chunk "
        "left out\n"
    )
    answer = desk(theirs.root, "sync", NAME, "--json").json
    assert answer["format"] == 1
    assert theirs.server.writes == []


def catalogue_is_as_it_was(theirs, fails, error):
    """Sync, change what is there, sync so that it fails, then once more."""
    theirs.sync()
    before = theirs.files
    theirs.put(chunk(7, "New."))
    with pytest.raises(error) as caught:
        fails()
    assert theirs.files == before
    assert {path.name for path in theirs.catalogue.iterdir()} == {POINTS, SYNC, "sync.lock"}
    theirs.server.heal()
    theirs.server.start()
    assert theirs.counts() == (1, 0, 0)
    return caught.value


@pytest.mark.parametrize("answers", range(6))
def test_a_server_that_dies_leaves_the_catalogue_as_it_was(theirs, monkeypatch, answers):
    monkeypatch.setattr("app.engines.qdrant_source._PAGE", 2)

    def dies():
        theirs.server.die_after(answers)
        theirs.sync()

    error = catalogue_is_as_it_was(theirs, dies, Unreachable)
    assert f"127.0.0.1:{theirs.server.port}" in str(error)


def test_a_point_that_is_refused_leaves_the_catalogue_as_it_was(theirs):
    def refused():
        theirs.put(point(8, id="c8"))
        try:
            theirs.sync()
        finally:
            theirs.drop(8)

    catalogue_is_as_it_was(theirs, refused, InvalidInput)


def test_ctrl_c_leaves_the_catalogue_as_it_was(theirs):
    def stopped():
        def stop(what, done, total):
            raise KeyboardInterrupt

        sync(theirs.collection, stop)

    catalogue_is_as_it_was(theirs, stopped, KeyboardInterrupt)


@pytest.mark.parametrize("late", [0, 1])
def test_a_full_disk_leaves_the_catalogue_as_it_was(theirs, monkeypatch, late):
    def full():
        left = iter(range(late))

        def fsync(number):
            if next(left, None) is None:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(syncing.os, "fsync", fsync)
            theirs.sync()

    error = catalogue_is_as_it_was(theirs, full, InvalidInput)
    assert str(error) == (
        "data/foreign/catalogue: the catalogue cannot be written: No space left on device. Make "
        "room, or mend the permissions."
    )


def test_a_sync_that_was_killed_is_told_and_cleared_away(theirs, desk, desk_process, until):
    theirs.sync()
    before = theirs.files
    theirs.put(chunk(7, "New."))
    theirs.server.hang(30, path="scroll")
    process = desk_process(theirs.root, "sync", NAME)
    until(lambda: list(theirs.catalogue.glob(f".{POINTS}.*")), "the sync")
    process.send_signal(signal.SIGKILL)
    process.wait()
    theirs.server.heal()
    assert theirs.files == before
    done = desk(theirs.root, "sync", NAME)
    (note,) = done.notes
    assert note.startswith("note: Syncing foreign, started ")
    assert note.endswith("did not finish. The catalogue is as it was.")
    assert "1 new, 0 changed, 0 gone" in done.out
    assert {path.name for path in theirs.catalogue.iterdir()} == {POINTS, SYNC, "sync.lock"}


def test_two_syncs_at_once(theirs, desk):
    theirs.sync()
    before = theirs.files
    with exclusively(theirs.catalogue / "sync.lock", "syncing", "here"):
        done = desk(theirs.root, "sync", NAME)
    assert done.code == 2
    assert done.errors == [
        "error: data/foreign/catalogue: another process is syncing foreign. Wait for it to end, "
        "then try again."
    ]
    assert theirs.files == before


def test_a_reader_meets_the_old_catalogue_or_the_new_one(theirs):
    """Points are replaced whole, so that a reader meets one catalogue or the other."""
    theirs.put(*[chunk(n, f"Text {n}.") for n in range(300)])
    theirs.sync()
    stop, sizes, errors = threading.Event(), set(), []

    def read():
        while not stop.is_set():
            try:
                sizes.add(len(theirs.collection.corpus().chunks))
            except Exception as error:  # noqa: BLE001 - whatever it is, it fails the test
                errors.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for round_ in range(6):
        theirs.drop(299) if round_ % 2 == 0 else theirs.put(chunk(299, "Text."))
        theirs.sync()
    stop.set()
    reader.join()
    assert not errors
    assert sizes <= {299, 300}


def test_prepare_syncs_once(theirs):
    (first,) = prepare(theirs.collection)
    assert first.new == 3
    theirs.put(chunk(9, "More."))
    assert prepare(theirs.collection) == []
    theirs.settings({**FIELDS, "title": "id"})
    (again,) = prepare(theirs.collection)
    assert (again.new, again.changed) == (1, 3)
    assert json.loads((theirs.catalogue / SYNC).read_text())["collection"] == THEIRS
