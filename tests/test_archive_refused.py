"""An archive of texts that cannot be made or written loses no label and hides no error."""

import threading
from functools import partial

import pytest

from app.core.errors import EngineError
from app.engines.texts import Texts
from app.flows import archive
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.labeling import Said
from app.flows.pooling import pool_of
from tests.renewing import Desk, rows


@pytest.fixture
def desk_of(tiny, collection_of):
    return partial(Desk.of, tiny, collection_of)


def written():
    """Wait until everything that is kept beside the work is on the disk, or was refused."""
    archive._LATER.submit(lambda: None).result()


def test_a_file_in_the_place_of_the_folder_is_one_clear_sentence(tmp_path):
    (tmp_path / "vectors").write_text("in the way")
    texts = Texts.of(tmp_path / "vectors", retain=True)
    with pytest.raises(EngineError, match="the archive of judged texts cannot be used: .*exists"):
        texts.add({"a": "one"})
    with pytest.raises(EngineError, match="vectors/texts.db"):
        texts.keep_only([])
    assert texts.get(["a"]) == {} and texts.known() == frozenset()


def test_a_disk_that_refuses_is_told_in_our_words(tmp_path, monkeypatch):
    texts = Texts.of(tmp_path / "vectors", retain=True)

    def refuse(*args, **more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(texts.path), "exists", refuse)
    for ask in (lambda: texts.get(["a"]), texts.known):
        with pytest.raises(EngineError, match="Permission denied"):
            ask()


def test_what_was_confirmed_is_confirmed_where_nothing_can_be_kept(desk_of):
    desk = desk_of()
    desk.grade("c0", 2)
    desk.corpus(*rows("9 June"))
    (desk.root / "data/tiny/vectors").write_text("in the way")
    loaded = desk.load()
    bench = Bench(loaded, pool_of(loaded), Claims())
    assert len(bench.confirm("ann", bench.stale("ann")).events) == 1
    assert bench.stale("ann") == [] and len(desk.lines()) == 2
    shown = bench.turn("ann", Wish()).item
    bench.say("ann", shown, Said("grade", 1))
    assert len(desk.lines()) == 3
    written()
    assert archive.keep_labeled(loaded)[0].startswith("vectors/texts.db: the archive of judged")


def test_an_error_nobody_expected_is_told_and_the_next_text_is_kept(desk_of, monkeypatch):
    desk = desk_of(texts=rows(count=2))
    loaded = desk.load()
    one, other = loaded.corpus.eligible.values()
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda args: told.append(args.exc_value))
    with monkeypatch.context() as broken:
        broken.setattr(archive, "archive_of", lambda collection: 1 / 0)
        archive.keep_soon(loaded, [one])
        written()
    archive.keep_soon(loaded, [other])
    written()
    assert [type(error) for error in told] == [ZeroDivisionError]
    assert archive.archive_of(loaded.collection).known() == {other.text_hash}
