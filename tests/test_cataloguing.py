"""What a point of a foreign collection becomes: its chunk, its fields, whether it may be found."""

import json
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from app.core.corpus import is_eligible
from app.core.errors import InvalidInput
from app.core.payload import values_at
from app.engines.qdrant_requests import Layout, filter_of
from app.flows.cataloguing import Reader
from app.settings import CollectionSettings
from app.workspace import read_settings
from tests.foreign import FIELDS, THEIRS, chunk, point, sized


def reader(filters):
    source = {"kind": "qdrant", "collection": THEIRS, "fields": {"text": "text"}}
    return Reader(
        CollectionSettings.model_validate(
            {
                "format": 1,
                "qdrant_url": "http://localhost:6333",
                "eligible": filters,
                "source": {**source, "key": "point-id"},
                "chunking": {"rule": "as-is-v1"},
                "configurations": {"dense": {}},
            }
        )
    )


def test_nested_names_of_every_role(theirs):
    parts = [{"id": 12}, {"id": 13}]
    content = {"body": "A text.", "head": "A title"}
    meta = {"doc": "d", "version": 3, "parts": parts}
    theirs.put(point(7, meta=meta, content=content, **{"the section": "Where"}))
    theirs.settings(
        {
            "document": "meta.doc",
            "version": "meta.version",
            "chunk": "meta.parts[1].id",
            "text": "content.body",
            "title": "content.head",
            "section": '"the section"',
        }
    )
    theirs.sync()
    ((key, one),) = theirs.collection.corpus().chunks.items()
    assert (key.document, key.version, key.chunk) == ("d", "3", "13")
    assert (one.text, one.title, one.section, one.point) == ("A text.", "A title", "Where", 7)


@pytest.mark.parametrize(
    ("source", "fields", "wanted"),
    [
        ('key = "point-id"', {"text": "text"}, ["5", "as-is-v1", "5"]),
        ('key = "point-id"\nversion = "v 2"', {"text": "text"}, ["5", "v 2", "5"]),
        ('key = "text-hash"', {"text": "text"}, None),
        ("", FIELDS, ["c5", "as-is-v1", "c5"]),
        ("", {**FIELDS, "document": "doc"}, ["9", "as-is-v1", "c5"]),
    ],
)
def test_where_a_key_comes_from(theirs, source, fields, wanted):
    theirs.put(chunk(5, "A text.", doc=9))
    theirs.settings(fields, source)
    theirs.sync()
    ((key, one),) = theirs.collection.corpus().chunks.items()
    by_text = [one.text_hash, "as-is-v1", one.text_hash]
    assert [key.document, key.version, key.chunk] == (wanted or by_text)


def test_points_are_numbers_then_uuids_in_order(theirs):
    first, second, third = (str(uuid.UUID(int=n << 100)) for n in (1, 2, 3))
    theirs.put(*[chunk(n, f"Text {n}.") for n in (third, 10, 9, first, second, 2**60)])
    theirs.settings({"text": "text"}, 'key = "point-id"')
    theirs.sync()
    assert [one["point"] for one in theirs.lines] == [9, 10, 2**60, first, second, third]
    assert theirs.counts() == (0, 0, 0)
    theirs.drop(10, second)
    theirs.put(chunk(third, "Another."), chunk(4, "New."))
    assert theirs.counts() == (1, 1, 2)


@pytest.mark.parametrize(
    ("vectors", "source", "wanted"),
    [
        (sized(), "", {"": (4, "Cosine")}),
        ({"": sized()}, "", {"": (4, "Cosine")}),
        (
            {"a": sized(), "b": sized(2, "Dot")},
            'vector = "b"',
            {"a": (4, "Cosine"), "b": (2, "Dot")},
        ),
    ],
)
def test_named_unnamed_and_several_vectors(theirs, vectors, source, wanted):
    theirs.create(vectors)
    theirs.put(chunk(1, "A text.", {} if isinstance(vectors, dict) else (1, 0, 0, 0)))
    theirs.settings(source=source)
    found = theirs.sync().sync.dense
    assert {name: (one.size, one.distance) for name, one in found.items()} == wanted


def test_of_two_points_with_one_key_the_eligible_one_has_it(theirs):
    theirs.settings({**FIELDS, "chunk": "key"}, more='[eligible]\nstatus = "on"')
    draft = {"status": "off", "key": "k"}
    published = chunk(2, "Text.", status="on", key="k")
    theirs.put(chunk(1, "Draft.", **draft), published, chunk(3, "Old.", **draft))
    found = theirs.sync()
    assert (found.eligible, found.sync.points) == (1, 3)
    assert (found.sync.catalogued, found.sync.left_out) == (1, 2)
    (one,) = theirs.collection.corpus().chunks.values()
    assert (one.text, one.point, one.eligible) == ("Text.", 2, True)
    assert theirs.counts() == (0, 0, 0)


SCALARS = ["a", "b", "", "None", "1", 0, 1, -1, 1.0, 0.5, True, False, None]
values = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("xyz"), inner, max_size=2)
    ),
    max_leaves=6,
)
payloads = st.dictionaries(st.sampled_from(["f", "m", "x", "a b"]), values, max_size=3)
PLAIN = "f m.x f[] f[].x f[0] f[1].x m.x[].y f[][] f[].x[] x.y.z"
paths = st.sampled_from([*PLAIN.split(), '"a b"', '"a b".x'])
allowed = st.lists(
    st.sampled_from(["a", "b", "", "None", "1", 0, 1, True, False]), min_size=1, max_size=2
)
filters = st.dictionaries(paths, allowed, min_size=1, max_size=2)


@pytest.fixture(scope="module")
def client():
    return QdrantClient(":memory:")


@given(st.lists(payloads, min_size=1, max_size=12), filters)
@settings(max_examples=150, deadline=None)
def test_eligible_is_what_qdrants_own_filter_lets_pass(client, found, filters):
    if client.collection_exists(THEIRS):
        client.delete_collection(THEIRS)
    client.create_collection(THEIRS, sized())
    client.upsert(THEIRS, [point(n, **{"text": "t", **one}) for n, one in enumerate(found)])
    here = reader(filters)
    points, _ = client.scroll(THEIRS, limit=100)
    lines = [json.loads(here.line(one.id, one.payload)) for one in points]
    eligible = {one["point"] for one in lines if is_eligible(one["fields"], filters)}
    wanted = filter_of(filters, Layout(literal=True))
    passing, _ = client.scroll(THEIRS, scroll_filter=wanted, limit=100)
    assert not here.problems
    assert eligible == {one.id for one in passing}
    assert here.eligible == client.count(THEIRS, count_filter=wanted).count


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("a", [[{"b": 1}, {"b": [2]}, 3]]),
        ("a[].b", [1, [2]]),
        ("a[1].b[0]", [2]),
        ("a[9].b", []),
        ("a.b", []),
        ('"c.d"', [4]),
        ("c.d", []),
    ],
)
def test_paths_into_a_payload(path, wanted):
    assert values_at({"a": [{"b": 1}, {"b": [2]}, 3], "c.d": 4}, path) == wanted


@pytest.mark.parametrize(
    ("fields", "more", "said"),
    [
        (
            {**FIELDS, "text": "parts[].text"},
            "",
            'source fields.text "parts[].text" goes into all of a list, and a chunk has one text; '
            "name a place in it: parts[0].text.",
        ),
        ({**FIELDS, "title": "a b"}, "", 'fields.title "a b" is not a payload path such as meta'),
        (FIELDS, '[eligible]\n"a..b" = 1', 'eligible "a..b" is not a payload path such as meta'),
        (
            FIELDS,
            "[eligible]\nmeta.status = 1",
            'eligible has a table "meta"; write a nested name in quotes, "meta.status". Correct',
        ),
        (FIELDS, "[eligible]\nsize = 1.5", 'eligible "size" is "1.5", neither a text, a whole'),
    ],
)
def test_paths_that_qdrant_would_refuse(theirs, fields, more, said):
    theirs.settings(fields, more=more)
    with pytest.raises(InvalidInput) as caught:
        read_settings(theirs.toml, "collection.toml")
    assert len(caught.value.problems) == 1
    assert said in str(caught.value)


def test_values_that_no_filter_can_hold_are_not_kept():
    here = reader({"status": [1]})
    odd = ["\ud800", 1e300, float("inf"), None, {"a": 1}, 1]
    line = here.line(1, {"text": "A text.", "status": odd})
    assert json.loads(line)["fields"] == {"status": 1}
    assert here.eligible == 1
