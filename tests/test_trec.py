"""TREC files: ids as words without white space, and files read line by line."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.model import ChunkKey
from app.core.trec import items_of, items_token, key_of, key_token, name_of, rows, token
from tests.exchanging import IDS


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("q1", "q1"),
        ("a b", "a%20b"),
        ("#1", "%231"),
        ("a|b", "a%7Cb"),
        ("100%", "100%25"),
        ("a%20b", "a%2520b"),
        ("a\tb", "a%09b"),
        ("http://a.b/c?d=e&f#g", "http://a.b/c%3Fd=e&f%23g"),
        ("é", "%C3%A9"),
        ("a\u00a0b\u2028c\u3000d", "a%C2%A0b%E2%80%A8c%E3%80%80d"),
        ("\ufeffa", "%EF%BB%BFa"),
        ('"a"', "%22a%22"),
        ("backups/p0", "backups/p0"),
        ("😀", "%F0%9F%98%80"),
    ],
)
def test_an_id_is_a_word_and_back(name, word):
    assert token(name) == word and name_of(word) == name


@given(IDS)
@example("%")
@example("\u0085x")
def test_every_id_survives_as_one_word(name):
    word = token(name)
    assert word.isascii() and word.split() == [word] and not word.startswith("#")
    assert "|" not in word and name_of(word) == name


@given(IDS, IDS, IDS)
@example("|", "a|b", "c|")
@example("%7C", "%", "%25")
def test_every_key_survives_as_one_word(document, version, chunk):
    key = ChunkKey(document, version, chunk)
    word = key_token(key)
    assert word.isascii() and word.split() == [word] and not word.startswith("#")
    assert key_of(word) == key


@given(st.lists(st.builds(ChunkKey, IDS, IDS, IDS), max_size=5))
@example([ChunkKey("a,b", "%2C", "c%"), ChunkKey(",", ",", ",,")])
@example([])
def test_every_list_of_keys_survives_as_one_word_that_tells_no_order(keys):
    word = items_token(keys)
    assert word.isascii() and word.split() == [word] * bool(keys)
    assert items_of(word) == sorted(set(keys))
    assert items_token(reversed(keys)) == word


@pytest.mark.parametrize("word", [",", "a", "a|b|c,", "a|b|c,,d|e|f", "a|b|c d|e", "a|b|c,a|b|%ff"])
def test_words_that_are_no_list_of_keys(word):
    assert items_of(word) is None


@given(IDS, IDS)
def test_different_ids_are_different_words(one, other):
    assert (token(one) == token(other)) == (one == other)


@pytest.mark.parametrize(
    "word", ["", "a", "a|b", "a|b|c|d", "|b|c", "a||c", "a|b|", "a|%20|c", "a|b|%ff", "||"]
)
def test_words_that_are_no_key(word):
    assert key_of(word) is None


def test_a_word_of_broken_utf_8_is_no_id():
    assert name_of("%ff") is None and name_of("%C3%28") is None
    assert name_of("100%") == "100%" and name_of("a%zz") == "a%zz"


@pytest.fixture
def rows_of(tmp_path):
    def read(raw):
        path = tmp_path / "qrels.txt"
        path.write_bytes(raw)
        return list(rows(path))

    return read


FOUR = [b"q1", b"0", b"apple", b"2"]


@pytest.mark.parametrize(
    ("raw", "numbers"),
    [
        (b"q1 0 apple 2\n", [1]),
        (b"q1 0 apple 2", [1]),
        (b"q1 0 apple 2\r\nq1 0 apple 2\r\n", [1, 2]),
        (b"\xef\xbb\xbfq1 0 apple 2\n", [1]),
        (b"q1\t0\tapple\t2\n", [1]),
        (b"  q1   0 \t apple    2  \n", [1]),
        (b"\n\nq1 0 apple 2\n \t \r\n\r\nq1 0 apple 2\n", [3, 6]),
        (b"# question 0 key grade\nq1 0 apple 2\n  # end\n#\n", [2]),
        (b"\xef\xbb\xbf# with a mark\nq1 0 apple 2\n", [2]),
        (b"", []),
        (b"\xef\xbb\xbf", []),
    ],
)
def test_rows_keep_the_numbers_of_their_lines(rows_of, raw, numbers):
    assert rows_of(raw) == [(number, FOUR) for number in numbers]


def test_what_is_no_ascii_white_space_splits_nothing(rows_of):
    raw = "q\u00a01 0 a\u2028b 2\n".encode()
    assert rows_of(raw) == [(1, ["q\u00a01".encode(), b"0", "a\u2028b".encode(), b"2"])]


def test_a_mark_inside_a_file_belongs_to_its_word(rows_of):
    assert rows_of(b"q1 0 a 1\n\xef\xbb\xbfq1 0 b 1\n")[1][1][0] == b"\xef\xbb\xbfq1"


def test_a_hash_inside_a_line_is_no_comment(rows_of):
    assert rows_of(b"q1 0 a#b 1 # sure\n") == [(1, [b"q1", b"0", b"a#b", b"1", b"#", b"sure"])]


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(OSError):
        list(rows(tmp_path / "none"))
