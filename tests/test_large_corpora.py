"""A corpus goes into the store some chunks at a time, and stands there as if it came at once."""

import pytest

from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from tests.conftest import TEXTS

STATEMENTS = ("corpus_chunks_list", "corpus_texts_list", "corpus_refs")


@pytest.fixture
def stored(indexed, collection_of):
    """What the store holds of the corpus of an execution, twins and all."""
    collection = collection_of(indexed({**TEXTS, "apple again": TEXTS["apple"]}))

    def rows():
        (found,) = evaluate(collection)
        store = Store.at(collection.workspace.store_path)
        with store.work() as unit:
            here = {"execution": found.execution.id}
            corpus = [sorted(map(str, unit.rows(name, here))) for name in STATEMENTS]
        store.path.unlink()
        return corpus

    return rows


@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_blocks_make_no_difference(stored, monkeypatch, size):
    whole = stored()
    monkeypatch.setattr(executions, "_CHUNKS_AT_ONCE", size)
    assert stored() == whole
    assert [len(rows) for rows in whole] == [5, 4, 5]
