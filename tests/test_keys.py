"""From the ids other files have to questions and chunks of a collection."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.corpus import Corpus
from app.core.errors import InvalidInput
from app.core.keys import Ids, KeyMap, map_records
from app.core.model import Chunk, ChunkKey
from app.core.text import text_hash
from app.core.trec import key_token, token
from app.flows.exchange.keymaps import map_for, read_map, write_map
from tests.exchanging import IDS

V = "as-is-v1"
ALONE = ChunkKey("handbook", V, "backups")
FIRST, SECOND = ChunkKey("guide", V, "p0"), ChunkKey("guide", V, "p1")
OTHER = ChunkKey("manual", V, "p1")
SPACED = ChunkKey("the book", V, "a b")
CHUNKS = (ALONE, FIRST, SECOND, OTHER, SPACED)


def corpus_of(*keys):
    return Corpus({key: Chunk(key, str(key), text_hash(str(key))) for key in keys}, len(keys))


def ids(*keys, questions=("q1", "a b"), given=None):
    names = dict.fromkeys(questions)
    return Ids(names, corpus_of(*(keys or CHUNKS)), V, given or KeyMap())


def refused(job, *words):
    with pytest.raises(InvalidInput) as caught:
        job(*words)
    return str(caught.value)


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("backups", ALONE),
        ("p0", FIRST),
        ("handbook", ALONE),
        ("manual", OTHER),
        (f"guide|{V}|p1", SECOND),
        (f"manual|{V}|p1", OTHER),
        ('["guide", "as-is-v1", "p1"]', SECOND),
        ("a b", SPACED),
        ("a%20b", SPACED),
        ("the book", SPACED),
        ("the%20book", SPACED),
        (f"the%20book|{V}|a%20b", SPACED),
        (f"the book|{V}|a b", SPACED),
    ],
)
def test_a_chunk_is_found_by_its_names(word, key):
    assert ids().chunk(word) == key


@pytest.mark.parametrize(
    "word",
    ["nope", "P0", "GUIDE", f"guide|{V}|p9", "guide|v9|p0", "[", "[1,2,3]", '["guide"]', "{}",
     '["guide", "as-is-v1", " "]', "%ff"],
)  # fmt: skip
def test_a_name_of_nothing_is_no_chunk(word):
    assert ids().chunk(word) is None


def test_a_cell_full_of_brackets_is_no_chunk():
    assert ids().chunk("[" * 100_000) is None


def test_a_chunk_id_of_two_documents_is_refused_with_a_remedy():
    assert refused(ids().chunk, "p1") == (
        '"p1" names 2 chunks, guide p1 and manual p1 for two. Write document|version|chunk, or say '
        "which it is in a map file: --map."
    )


def test_a_document_of_two_chunks_is_refused():
    assert refused(ids().chunk, "guide").startswith('"guide" names 2 chunks, guide p0 and guide p1')


def test_a_key_that_is_also_a_chunk_id_is_refused():
    odd = ChunkKey("x", V, f"guide|{V}|p0")
    found = ids(FIRST, odd)
    assert refused(found.chunk, f"guide|{V}|p0").startswith(f'"guide|{V}|p0" names 2 chunks')
    assert found.chunk(key_token(odd)) == odd


def test_a_percent_sign_that_encodes_nothing():
    percent = ChunkKey("50%ff", V, "c")
    assert ids(percent).chunk("c") == percent
    assert ids(percent).chunk(key_token(percent)) == percent
    assert ids(percent).chunk("50%ff") == percent


def test_an_id_as_it_is_goes_before_what_it_encodes():
    literal, decoded = ChunkKey("d", V, "a%20b"), ChunkKey("d", V, "a b")
    found = ids(literal, decoded)
    assert (found.chunk("a%20b"), found.chunk("a b")) == (literal, decoded)


@pytest.mark.parametrize(
    ("document", "version", "chunk", "key"),
    [
        ("guide", V, "p1", SECOND),
        ("guide", None, "p1", SECOND),
        ("manual", None, "p1", OTHER),
        ("guide", "v9", "p1", None),
        ("guide", None, "backups", None),
        ("the%20book", None, "a b", None),
        (None, None, "backups", ALONE),
        (None, "v9", "backups", ALONE),
    ],
)
def test_a_chunk_named_in_columns_of_its_own(document, version, chunk, key):
    assert ids().chunk_of(document, version, chunk) == key


@pytest.mark.parametrize(
    ("word", "question"),
    [("q1", "q1"), ("a b", "a b"), ("a%20b", "a b"), ("Q1", None), ("%ff", None), ("", None)],
)
def test_questions(word, question):
    assert ids().question(word) == question


def test_an_id_that_could_be_two_questions_is_refused():
    found = ids(questions=("a b", "a%20b"))
    assert refused(found.question, "a%20b") == (
        '"a%20b" could mean two questions. Say which in a map file: --map.'
    )
    assert found.question("a%2520b") == "a%20b" and found.question("a b") == "a b"


@pytest.mark.parametrize("word", ["\ud800", "a\udfffb"])
def test_half_a_character_is_no_name_and_no_crash(word):
    assert ids().question(word) is None and ids().chunk(word) is None


def test_a_map_goes_before_everything():
    given = KeyMap({"q1": "a b", "x": "gone"}, {"p0": OTHER, "docs/7": FIRST, "p1": SECOND})
    found = ids(given=given)
    assert (found.question("q1"), found.question("x")) == ("a b", None)
    assert [found.chunk(word) for word in ("p0", "docs/7", "p1")] == [OTHER, FIRST, SECOND]


def test_a_map_to_a_chunk_that_is_not_here_is_kept_for_labels_without_text():
    gone = ChunkKey("old", V, "p7")
    found = ids(given=KeyMap(chunks={"p0": gone}))
    assert found.chunk("p0") is None and found.without_text("p0") == gone


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("d17", ChunkKey("d17", V, "d17")),
        ("a%20b", ChunkKey("a b", V, "a b")),
        ("100%", ChunkKey("100%", V, "100%")),
        ("%ff", ChunkKey("%ff", V, "%ff")),
        ("d|v|c", ChunkKey("d", "v", "c")),
        ("d|v", ChunkKey("d|v", V, "d|v")),
        ('["d", "v", "c"]', ChunkKey("d", "v", "c")),
    ],
)
def test_the_key_of_a_chunk_without_text(word, key):
    assert ids().without_text(word) == key


@pytest.mark.parametrize(
    ("word", "fault"),
    [
        ("a%0Ab", "holds a control character"),
        ("a%00b", "holds a NUL character"),
        ("%20", "is blank"),
        ("%20a", "begins or ends with a blank"),
        ("d|v|%20c", "begins or ends with a blank"),
    ],
)
def test_an_id_that_can_be_no_key_is_refused(word, fault):
    assert fault in refused(ids().without_text, word)


KEYS = st.builds(ChunkKey, IDS, IDS, IDS)


@settings(deadline=None)
@given(st.lists(KEYS, min_size=1, max_size=4, unique=True), st.lists(IDS, max_size=3, unique=True))
def test_what_a_map_names_is_found_whatever_the_ids(tmp_path_factory, keys, names):
    words = {key_token(key): key for key in keys}
    path = tmp_path_factory.mktemp("map") / "qrels.map.jsonl"
    write_map(path, map_records([(token(name), name) for name in names], words.items()))
    found = ids(*keys, questions=names, given=read_map(path))
    assert [found.chunk(word) for word in words] == keys
    assert [found.question(token(name)) for name in names] == names


@settings(deadline=None)
@given(st.lists(KEYS, min_size=1, max_size=4, unique=True))
def test_a_key_as_one_word_never_names_another_chunk(keys):
    found = ids(*keys)
    for key in keys:
        with suppress(InvalidInput):
            assert found.chunk(key_token(key)) == key


def test_a_map_lies_beside_its_file_unless_one_is_named(tmp_path):
    path, other = tmp_path / "qrels.txt", tmp_path / "other.jsonl"
    assert map_for(path, None) == KeyMap()
    write_map(tmp_path / "qrels.txt.map.jsonl", map_records([("x", "q1")], []))
    write_map(other, map_records([], [("y", FIRST)]))
    assert map_for(path, None) == KeyMap(questions={"x": "q1"})
    assert map_for(path, other) == KeyMap(chunks={"y": FIRST})


@pytest.mark.parametrize(
    "line",
    [
        '{"format":1,"id":"x"}',
        '{"format":1,"id":7,"question":"q1"}',
        '{"format":1,"question":"q1"}',
        '{"format":1,"id":"x","question":"q1","chunk":["a","b","c"]}',
        '{"format":1,"id":"x","chunk":["a","b"]}',
        '{"format":1,"id":"x","chunk":["a","b"," "]}',
        '{"format":1,"id":"x","chunk":"abc"}',
        '{"format":1,"id":"x","question":["q1"]}',
        "{",
    ],
)
def test_a_broken_map_is_refused_by_line(tmp_path, line):
    path = tmp_path / "m.jsonl"
    path.write_text(f'{{"format":1,"id":"y","question":"q1"}}\n{line}\n')
    with pytest.raises(InvalidInput) as caught:
        read_map(path)
    assert [problem.place for problem in caught.value.problems] == ["m.jsonl:2"]


def test_one_id_cannot_stand_for_two_things(tmp_path):
    path = tmp_path / "m.jsonl"
    write_map(path, map_records([("x", "q1"), ("x", "q2")], []))
    with pytest.raises(InvalidInput, match="m.jsonl:2"):
        read_map(path)


def test_a_map_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"none.jsonl: the file cannot be read"):
        map_for(tmp_path / "qrels.txt", tmp_path / "none.jsonl")
