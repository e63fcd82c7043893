"""What a sync refuses, each in one sentence with thing, place, cause and remedy."""

import json

import pytest

from app.core.catalogue import POINTS
from app.core.errors import InvalidInput
from app.flows.syncing import sync
from tests.foreign import DENSE, FIELDS, NAME, THEIRS, chunk, point, sized

SPARSE = '[configurations.sparse]\nmode = "sparse"\n'
HYBRID = '[configurations.hybrid]\nmode = "hybrid"\nrrf_k = 60\n'
TOML = f"data/{NAME}/collection.toml"
REMEDY = "Correct the payload or source.fields, or keep it out by [eligible]."


def refusal(theirs, desk):
    """The one sentence; nothing is left, nothing was written."""
    done = desk(theirs.root, "sync", NAME)
    assert (done.code, done.out) == (2, "")
    assert not (theirs.catalogue / POINTS).exists()
    assert theirs.server.writes == []
    (line,) = done.err.splitlines()
    return line.removeprefix("error: ")


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"id": "c"}, 'the payload field "text" is missing'),
        ({"id": "c", "text": None}, 'the payload field "text" is missing'),
        ({"id": "c", "text": ["a"]}, 'the payload field "text" is list, not text'),
        ({"id": "c", "text": 7}, 'the payload field "text" is int, not text'),
        ({"id": "c", "text": ""}, "the text is blank"),
        ({"id": "c", "text": " \n\t"}, "the text is blank"),
        ({"id": "c", "text": "x" * 200_001}, "the text has 200,001 characters, over 200,000"),
        ({"id": "c", "text": "a\0b"}, 'the payload field "text" holds a NUL character'),
        ({"text": "A."}, 'the payload field "id" is missing'),
        ({"id": True, "text": "A."}, 'the payload field "id" is bool, not text'),
        ({"id": 1.5, "text": "A."}, 'the payload field "id" is float, not text'),
        ({"id": " c", "text": "A."}, 'the chunk id " c" begins or ends with a blank'),
        ({"id": "", "text": "A."}, 'the chunk id "" is blank'),
        ({"id": "c\u202e", "text": "A."}, 'the chunk id "c\\u202e" holds a control character'),
        ({"id": "c" * 1001, "text": "A."}, "has 1,001 characters, over 1,000"),
    ],
)
def test_points_that_cannot_be_chunks(theirs, desk, payload, said):
    theirs.put(chunk(1, "Fine."), point(42, **payload))
    line = refusal(theirs, desk)
    assert line.startswith(f"{THEIRS}, point 42: ")
    assert f"{said}. {REMEDY}" in line


def test_a_lone_surrogate_is_refused(theirs, desk):
    """No server sends one, but what stands for it may."""
    records = [{"id": 42, "payload": {"id": "c", "text": "a\ud800b"}}]
    body = {"result": {"points": records, "next_page_offset": None}, "status": "ok", "time": 0.0}
    theirs.server.fail(200, path="scroll", body=json.dumps(body).encode())
    line = refusal(theirs, desk)
    # The client may refuse what is no Unicode before we see it.
    assert "surrogate U+D800" in line or "sent an answer that cannot be read" in line


def test_what_the_filter_keeps_out_is_left_out_and_counted(theirs, desk):
    theirs.settings(more='[eligible]\n"meta.status" = "on"')
    on, off = {"status": "on"}, {"status": "off"}
    theirs.put(
        chunk(1, "Fine.", meta=on),
        chunk(2, "Also a chunk.", meta=off),
        point(3, meta=off),
        point(4),
        chunk(5, " ", meta=off),
        point(6, id="c1", text="Its id is taken.", meta=off),
    )
    found = sync(theirs.collection)
    assert (found.sync.points, found.eligible) == (6, 1)
    assert (found.sync.catalogued, found.sync.left_out) == (2, 4)
    assert [one["point"] for one in theirs.lines] == [1, 2]
    assert len(theirs.collection.corpus().eligible) == 1


def test_at_most_100_are_told_and_the_rest_is_counted(theirs, desk):
    theirs.put(*[point(n, id=f"c{n}") for n in range(150)])
    with pytest.raises(InvalidInput) as caught:
        sync(theirs.collection)
    problems = caught.value.problems
    assert len(problems) == 101
    assert [one.place for one in problems[:100]] == [f"{THEIRS}, point {n}" for n in range(100)]
    assert str(problems[100]) == f"{THEIRS}: and 50 more points like these."
    done = desk(theirs.root, "sync", NAME)
    assert (done.code, done.out) == (2, "")
    assert "150" in done.err or "50 more points" in done.err
    assert len(done.err) < 2_000


@pytest.mark.parametrize(
    ("fields", "source", "said"),
    [
        (FIELDS, "", "the chunk c is also that of point 1"),
        (
            {"text": "text"},
            'key = "text-hash"',
            " is also that of point 1; key = 'point-id' tells them apart",
        ),
    ],
)
def test_two_points_with_one_key(theirs, desk, fields, source, said):
    theirs.settings(fields, source)
    theirs.put(*[point(n, id="c", text="One text.") for n in (1, 2)])
    line = refusal(theirs, desk)
    assert line.startswith(f"{THEIRS}, point 2: the chunk ")
    assert f"{said}. {REMEDY}" in line


def test_an_empty_collection(theirs, desk):
    assert refusal(theirs, desk) == (
        f"{TOML}: theirs has no point with a chunk's text and ids. Correct source.fields, or fill "
        "the collection."
    )


def test_an_unknown_collection(theirs, desk, edit):
    edit(theirs.toml, f'"{THEIRS}"', '"other"')
    assert refusal(theirs, desk) == (
        f"Qdrant at 127.0.0.1:{theirs.server.port} refused while looking at the collection: Not "
        "found: Collection `other` doesn't exist! (status 404). Correct source.collection in "
        "collection.toml, or run desk sync foreign."
    )


def test_a_server_that_is_not_there(theirs, desk):
    theirs.server.stop()
    line = refusal(theirs, desk)
    assert line.startswith(f"Qdrant at 127.0.0.1:{theirs.server.port} does not answer while ")
    assert line.endswith("Start it, or correct qdrant_url in collection.toml.")


def test_a_portal_that_is_no_qdrant(theirs, desk):
    theirs.server.garbage()
    assert refusal(theirs, desk) == (
        f"Qdrant at 127.0.0.1:{theirs.server.port} sent an answer that cannot be read while "
        "looking at the collection. Check that qdrant_url leads to a Qdrant server, and its "
        "version."
    )


SEVERAL = sized(multivector_config={"comparator": "max_sim"})


@pytest.mark.parametrize(
    ("vectors", "sparse", "source", "configurations", "said"),
    [
        (
            {"a": sized(), "b": sized()},
            (),
            "",
            DENSE,
            "theirs has no vector without a name; it has a, b. Correct source.vector.",
        ),
        (
            {"a": sized(), "b": sized()},
            (),
            'vector = "c"',
            DENSE,
            "theirs has no vector named c; it has a, b. Correct source.vector.",
        ),
        (
            sized(),
            (),
            'vector = "c"',
            DENSE,
            "theirs has no vector named c; it has an unnamed one. Correct source.vector.",
        ),
        (
            {"a": sized(), "b": SEVERAL},
            (),
            'vector = "b"',
            DENSE,
            "theirs has no vector named b; it has a; b has several a point, which are not searched "
            "here. Correct source.vector.",
        ),
        (
            SEVERAL,
            (),
            "",
            DENSE,
            "theirs has no vector without a name; it has none; the unnamed one has several a "
            "point, which are not searched here. Correct source.vector.",
        ),
        (
            sized(),
            ("words", "other"),
            'sparse_vector = "bm25"',
            SPARSE + HYBRID,
            "theirs has no sparse vector named bm25; it has other, words. Correct "
            "source.sparse_vector.",
        ),
        (
            sized(),
            (),
            'sparse_vector = "bm25"',
            SPARSE,
            "theirs has no sparse vector named bm25; it has none. Correct source.sparse_vector.",
        ),
    ],
)
def test_a_vector_that_is_not_there(theirs, desk, vectors, sparse, source, configurations, said):
    theirs.create(vectors, sparse)
    theirs.settings(source=source, configurations=configurations)
    assert refusal(theirs, desk) == f"{TOML}: {said}"


@pytest.mark.parametrize("configurations", [SPARSE, HYBRID])
def test_lexical_search_without_a_sparse_vector_is_refused_by_the_settings(
    theirs, desk, configurations
):
    theirs.settings(configurations=configurations)
    name = configurations[16:].partition("]")[0]
    assert refusal(theirs, desk) == (
        f"{TOML}: configurations.{name}.mode '{name}' needs source.sparse_vector, the name of the "
        "collection's sparse vectors. Correct it."
    )


def test_files_are_not_synced_and_foreign_collections_not_indexed(theirs, desk, tiny):
    done = desk(tiny(), "sync", "tiny")
    assert (done.code, done.errors) == (
        2,
        [
            "error: data/tiny/collection.toml: the texts of tiny are files here, there is nothing "
            "to sync. Index them: desk index tiny."
        ],
    )
    done = desk(theirs.root, "index", NAME)
    assert (done.code, done.errors) == (
        2,
        [
            f"error: {TOML}: foreign is read from a Qdrant collection that others index. Read what "
            "it holds: desk sync foreign."
        ],
    )


def test_a_catalogue_folder_that_cannot_be_made(theirs, desk):
    theirs.put(chunk(1, "Fine."))
    theirs.catalogue.write_text("in the way")
    done = desk(theirs.root, "sync", NAME)
    assert (done.code, done.errors) == (
        2,
        [
            "error: data/foreign/catalogue: the catalogue cannot be written: File exists. Make "
            "room, or mend the permissions."
        ],
    )
