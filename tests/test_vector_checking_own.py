"""`desk check --vectors` of a collection of ours: in the cache, and on a server."""

import sqlite3

import numpy as np
import pytest
from qdrant_client import models

from app.flows.indexing import index
from tests.foreign import DENSE, THEIRS
from tests.hashing import SIZE, Hashing


@pytest.fixture
def model(monkeypatch):
    """What the settings call bundled."""
    made = Hashing()
    monkeypatch.setattr("app.flows.embedders._bundled", lambda: made)
    return made


@pytest.fixture
def own(tiny, collection_of, model):
    """Builds a collection of ours, indexed, on a server where its address is given."""

    def build(url=None):
        root = tiny(configurations=DENSE)
        toml = root / "data/tiny/collection.toml"
        if url:
            text = toml.read_text()
            toml.write_text(text.replace("format = 1\n", f'format = 1\nqdrant_url = "{url}"\n'))
        index(collection_of(root))
        return root

    return build


def test_our_own_vectors_in_the_cache(own, desk, model):
    root = own()
    done = desk(root, "check", "tiny", "--vectors")
    assert done.code == 0, done.out
    assert "dense: 4 stored vectors against bundled, cosine 1.000 to 1.000" in done.out
    (path,) = (root / "data/tiny/vectors").glob("*.sqlite")
    changed = model.vector("something else").astype(np.float32).tobytes()
    with sqlite3.connect(path) as connection:
        one = connection.execute("select min(key) from vectors").fetchone()
        connection.execute("update vectors set vector = ? where key = ?", (changed, *one))
    done = desk(root, "check", "tiny", "--vectors")
    assert done.code == 1
    assert (
        "finding: data/tiny/vectors: 1 of 4 stored vectors of tiny are not those bundled makes of "
        "the texts: cosine " in done.out
    )
    assert "Remove that folder, then run desk index tiny." in done.out


def test_our_own_vectors_on_a_server(theirs, own, desk, model):
    root = own(theirs.server.url)
    assert desk(root, "check", "tiny", "--vectors").code == 0
    client = theirs.server.client
    (name,) = {one.name for one in client.get_collections().collections} - {THEIRS}
    (first, *_), _ = client.scroll(name)
    client.update_vectors(
        name, [models.PointVectors(id=first.id, vector={"dense": [1.0] + [0.0] * (SIZE - 1)})]
    )
    theirs.server.forget()
    done = desk(root, "check", "tiny", "--vectors")
    assert done.code == 1
    assert "1 of 4 stored vectors of tiny are not those bundled makes of the texts" in done.out
    assert f"Remove the collection {name} there, then run desk index tiny." in done.out
    assert theirs.server.writes == []


def test_looking_makes_no_cache(tiny, desk, model):
    root = tiny(configurations=DENSE)
    done = desk(root, "check", "tiny", "--vectors")
    assert done.code == 1
    assert "vectors of tiny are missing. Index it: desk index tiny." in done.out
    assert not (root / "data/tiny/vectors").exists()
