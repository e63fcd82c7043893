"""A catalogue that no longer fits: settings, server or collection changed, or it is damaged."""

import pytest

from app.core.catalogue import POINTS, SYNC
from app.core.errors import NotReady
from app.flows.evaluating import evaluate
from app.flows.syncing import sync
from tests.foreign import FIELDS, NAME, chunk, foreign

CONFIGURATION = '[configurations.dense]\nmode = "dense"\nembedder = "ollama:embeddinggemma"\n'


@pytest.fixture
def theirs(tmp_path):
    with foreign(tmp_path / "workspace") as made:
        made.put(*[chunk(n, f"Text {n}.") for n in range(3)])
        yield made


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"more": '[eligible]\ntag = "x"'}, "[source] or [eligible] of foreign has changed"),
        ({"fields": {**FIELDS, "title": "id"}}, "[source] or [eligible] of foreign has changed"),
        ({"source": 'version = "2"'}, "[source] or [eligible] of foreign has changed"),
    ],
)
def test_another_mapping_must_be_synced_first(theirs, desk, change, said):
    theirs.ask({"q": "Which?"})
    theirs.sync()
    theirs.settings(**change)
    done = desk(theirs.root, "evaluate", NAME)
    assert done.code == 2
    assert done.errors == [
        f"error: data/foreign/collection.toml: {said} since it was synced. Sync it: desk sync "
        "foreign."
    ]


def test_another_server_must_be_synced_first(theirs, edit):
    theirs.sync()
    edit(theirs.toml, theirs.server.url, "http://localhost:1")
    with pytest.raises(NotReady, match="qdrant_url of foreign has changed since it was synced"):
        theirs.collection.corpus()


def test_settings_that_read_nothing_otherwise_need_no_sync(theirs):
    theirs.sync()
    theirs.settings(
        more="[scoring]\ncutoffs = [1, 3]", configurations=f"{CONFIGURATION}depth = 9\n"
    )
    assert len(theirs.collection.corpus().chunks) == 3


@pytest.mark.parametrize(("change", "points"), [("put", 4), ("drop", 2)])
def test_a_collection_that_grew_or_shrank_is_not_evaluated(theirs, ollama_server, change, points):
    theirs.settings(configurations=CONFIGURATION)
    theirs.ask({"q": "Which?"})
    theirs.sync()
    theirs.put(chunk(9, "More.")) if change == "put" else theirs.drop(0)
    with pytest.raises(NotReady) as caught:
        evaluate(theirs.collection)
    assert str(caught.value) == (
        f"theirs has changed since it was synced: {points} points, {points} of them eligible, now; "
        "3 and 3 then. Sync it again: desk sync foreign."
    )
    theirs.sync()
    (found,) = evaluate(theirs.collection)
    assert found.execution.points == points


def test_what_changes_while_it_is_read_is_told(theirs):
    def grow(what, done, total):
        theirs.put(chunk(9, "More."))

    found = sync(theirs.collection, grow)
    assert found.notices == (
        "theirs changed while it was read, or reads its filter otherwise: it has 4 points, 4 of "
        "them eligible; read were 3 and 3. Sync it again.",
    )


@pytest.mark.parametrize("damage", ["line", "gone", "note", "note gone"])
def test_a_damaged_catalogue_is_told_and_synced_again(theirs, desk, damage):
    theirs.sync()
    before = theirs.files
    path = theirs.catalogue / (POINTS if damage in ("line", "gone") else SYNC)
    if "gone" in damage:
        path.unlink()
    else:
        path.write_bytes(b"{" + path.read_bytes()[:40] + b"\n")
    done = desk(theirs.root, "check", NAME)
    assert done.code == 2
    said = [line for line in done.out.splitlines() if "error: " in line]
    assert "desk sync foreign." in said[0]
    assert "source.path" not in done.out
    theirs.sync()
    assert theirs.files == before
