"""The vector cache: by content, durable, and plain about a broken file."""

import numpy as np
import pytest

from app.core.errors import EngineError
from app.engines.embedding import Embedded
from app.engines.vectors import VectorCache, vector_key

ROWS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)


@pytest.fixture
def cache(tmp_path):
    return VectorCache.of(tmp_path / "vectors", "a digest")


def test_the_key_is_the_normalised_content():
    assert vector_key("café\r\n") == vector_key("café") != vector_key("Café")


def test_one_file_per_embedder(tmp_path, cache):
    assert VectorCache.of(tmp_path / "vectors", "a digest") == cache
    assert VectorCache.of(tmp_path / "vectors", "another").path != cache.path


def test_what_was_added_is_loaded_in_the_order_asked_for(cache):
    cache.add(["a", "b", "c"], Embedded(ROWS, (False, True, False)))
    vectors, cut = cache.load(["c", "a", "b", "a"], 3)
    assert vectors.tolist() == ROWS[[2, 0, 1, 0]].tolist()
    assert cut == [False, False, True, False]


def test_missing_keys_each_once_and_in_order(cache):
    assert cache.missing(["x", "a", "x"]) == ["x", "a"]
    cache.add(["a"], Embedded(ROWS[:1], (False,)))
    assert cache.missing(["x", "a", "b", "x"]) == ["x", "b"]
    assert cache.missing([]) == []


def test_a_missing_key_or_another_dimension_loads_nothing(cache):
    cache.add(["a"], Embedded(ROWS[:1], (False,)))
    assert cache.load(["a", "b"], 3) is None
    assert cache.load(["a"], 4) is None
    assert cache.load(["a"], 3) is not None


def test_thousands_of_keys(cache):
    keys = [f"key {n}" for n in range(3000)]
    cache.add(keys, Embedded(np.ones((3000, 2), np.float32), (False,) * 3000))
    assert cache.missing(keys) == []
    assert len(cache.load(keys, 2)[0]) == 3000


def test_a_broken_file(cache):
    cache.path.parent.mkdir()
    cache.path.write_bytes(b"not a database, but long enough to be read as one" * 100)
    with pytest.raises(EngineError) as caught:
        cache.missing(["a"])
    assert str(caught.value) == (
        f"vectors/{cache.path.name}: the vector cache cannot be used: file is not a database. "
        "Remove the file and run desk index again: it only holds what can be remade."
    )


def test_what_was_added_survives_kill_9(cache, start):
    script = (
        "import sys, os, signal, numpy as np\n"
        "from pathlib import Path\n"
        "from app.engines.vectors import VectorCache\n"
        "from app.engines.embedding import Embedded\n"
        "cache = VectorCache(Path(sys.argv[1]))\n"
        "cache.add(['a', 'b'], Embedded(np.ones((2, 3), np.float32), (False, True)))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert start(["-c", script, str(cache.path)]).wait(30) == -9
    assert cache.missing(["a", "b", "c"]) == ["c"]
    assert cache.load(["a", "b"], 3)[1] == [False, True]
