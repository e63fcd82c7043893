"""The folder of an engine in this process: nobody else's while it runs, nobody's afterwards."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import namedtuple

import numpy as np
import pytest

from app.core.errors import EngineError
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.engines import edge_folder
from app.engines.edge import EdgeEngine
from app.engines.edge_folder import PREFIX, Folder, sweep
from app.engines.retrieval import Asked, Search
from tests.prepared import REPOSITORY

CHUNK = Chunk(ChunkKey("doc", "v1", "a"), "apple", text_hash("apple"))
SPARSE = Search(mode="sparse", depth=1, filters={})


@pytest.fixture
def parent(tmp_path, monkeypatch):
    """Where this test's folders go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def made(parent):
    return sorted(path.name for path in parent.iterdir())


def engine():
    return EdgeEngine([CHUNK], None, None, {})


def test_it_is_there_as_long_as_the_engine(parent):
    one, other = engine(), engine()
    assert len(made(parent)) == 2 and all(name.startswith(PREFIX) for name in made(parent))
    assert all(path.stat().st_mode & 0o077 == 0 for path in parent.iterdir())
    del one
    gc.collect()
    assert len(made(parent)) == 1
    assert other.count() == 1
    other.close()
    assert made(parent) == []


OTHER = """
import os, sys
from app.core.model import Chunk, ChunkKey
from app.engines.edge import EdgeEngine
from app.engines.retrieval import Asked, Search
made = EdgeEngine([Chunk(ChunkKey("doc", "v1", "a"), "apple", "")], None, None, {})
print("ready", flush=True)
for line in sys.stdin:
    if line == "become\\n":
        os.execv("/bin/sh", ["sh", "-c", "echo became; read line"])
    (hits,) = made.search_many(Search(mode="sparse", depth=1, filters={}), [Asked("apples")])
    print(len(hits), flush=True)
"""


@pytest.fixture
def other(parent):
    """Another process with an engine whose folder lies in the same place."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(parent)},
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()


def ask(process, line):
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    return process.stdout.readline()


def test_another_process_keeps_its_own(parent, other):
    theirs = made(parent)
    mine = engine()
    assert set(theirs) < set(made(parent))
    assert ask(other, "search") == "1\n"
    mine.close()
    assert made(parent) == theirs


def test_a_process_that_ends_takes_it_along(parent, other):
    other.communicate()
    assert other.returncode == 0 and made(parent) == []


def test_what_a_killed_process_left_goes_with_the_next(parent, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    left = made(parent)
    mine = engine()
    assert len(left) == 1 and len(made(parent)) == 1 and made(parent) != left
    assert mine.count() == 1


def test_what_a_process_left_that_became_another_program_goes_with_the_next(parent, other):
    left = made(parent)
    assert ask(other, "become") == "became\n"
    assert made(parent) == left
    mine = engine()
    assert set(made(parent)).isdisjoint(left) and mine.count() == 1


def test_a_child_that_was_forked_off_leaves_it_alone(parent):
    mine = engine()
    child = os.fork()
    if child == 0:
        mine.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert len(made(parent)) == 1
    assert [len(hits) for hits in mine.search_many(SPARSE, [Asked("apple")])] == [1]


@pytest.mark.parametrize("before", ["making the lock", "locking it"])
def test_a_folder_swept_before_it_is_locked_is_made_again(parent, monkeypatch, before):
    swept, module = [], os if before == "making the lock" else edge_folder.fcntl
    name = "open" if before == "making the lock" else "flock"
    call = getattr(module, name)

    def first(*words):
        # Another process sweeps at this very moment: once, and not while it does.
        if not swept and "lock" in str(words[0]) + name:
            swept.append(made(parent))
            sweep(parent)
        return call(*words)

    monkeypatch.setattr(module, name, first)
    folder = Folder.take()
    assert len(swept[0]) == 1 and set(made(parent)).isdisjoint(swept[0])
    assert made(parent) == [folder.path.parent.name]
    folder.release()


def test_many_at_once_never_take_each_others(parent):
    lost, start = [], threading.Barrier(8)

    def work():
        start.wait()
        for _ in range(40):
            folder = Folder.take()
            folder.path.mkdir()
            sweep(parent)
            if not folder.path.is_dir():
                lost.append(folder)
            folder.release()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    sweep(parent)
    assert lost == [] and made(parent) == []


def test_what_is_not_of_an_engine_is_left_alone(parent):
    mine = parent / f"{PREFIX}notes"
    (mine / "lock").mkdir(parents=True)
    (mine / "thesis.txt").write_text("years of work")
    (parent / f"{PREFIX}link").symlink_to(mine)
    (parent / f"{PREFIX}file").write_text("a file")
    before = made(parent)
    engine().close()
    assert made(parent) == before and (mine / "thesis.txt").read_text() == "years of work"


def test_where_no_file_can_be_made(parent, monkeypatch):
    (parent / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(parent / "file"))
    with pytest.raises(EngineError) as caught:
        engine()
    assert str(caught.value) == (
        f"the search engine cannot keep its files in {parent / 'file'}: Not a directory. Make room "
        "there, or set TMPDIR to a folder that can be written to."
    )


def test_where_there_is_no_temporary_folder_at_all(parent, monkeypatch):
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(EngineError, match="in the temporary folder: No usable temporary directory"):
        engine()


def test_a_disk_that_fills_ends_the_filling_not_the_process(parent, monkeypatch):
    usage = namedtuple("usage", "free")
    left = iter([90 << 20, 40 << 20, 5 << 20])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(next(left)))
    chunks = [Chunk(ChunkKey("doc", "v1", f"c{n}"), "apple", "") for n in range(2000)]
    with pytest.raises(EngineError) as caught:
        EdgeEngine(chunks, lambda batch: np.ones((len(batch), 4), np.float32), 4, {})
    assert str(caught.value) == (
        f"the search engine cannot keep its files in {parent}: only 5 MB are left there. Make room "
        "there, or set TMPDIR to a folder that can be written to."
    )
    assert made(parent) == []


def test_an_embedder_that_fails_while_filling_leaves_nothing(parent):
    def broken(batch):
        raise EngineError("no vectors")

    with pytest.raises(EngineError, match="no vectors"):
        EdgeEngine([CHUNK], broken, 4, {})
    assert made(parent) == []
