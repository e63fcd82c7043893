"""Small modules: text, ids, JSON lines, errors, validation."""

import hashlib
import time
import unicodedata
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.core.errors import DeskError, InvalidInput, LabelNotSaved, Problem
from app.core.ids import event_id, execution_id
from app.core.jsonlines import parse_object, read_objects
from app.core.text import (
    canonical,
    digest,
    fault_in_id,
    fault_in_text,
    normalise,
    shown,
    text_hash,
)
from app.core.validation import Record, problems_in

# --- text -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("same", "text"),
    [
        ("a\r\nb", "a\nb"),
        ("a\rb", "a\nb"),
        ("a \t\nb", "a\nb"),
        ("a\n\n\n", "a"),
        ("a\u00a0\n b", "a\n b"),
        (unicodedata.normalize("NFD", "é"), "é"),
    ],
)
def test_texts_that_are_one_text(same, text):
    assert normalise(same) == text
    assert text_hash(same) == text_hash(text) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("other", ["A", " a", "a b", "a\n\nb", "а", ""])
def test_texts_that_are_different(other):
    assert text_hash(other) != text_hash("a")


@given(st.text())
def test_normalising_is_done_once(text):
    once = normalise(text)
    assert normalise(once) == once
    assert normalise(unicodedata.normalize("NFD", text)) == once
    assert normalise(once.replace("\n", " \r\n") + "\n\n") == once


VALUES = st.dictionaries(st.text(), st.integers() | st.text() | st.booleans(), max_size=5)


@given(VALUES, st.randoms())
def test_canonical_json_does_not_depend_on_key_order(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert canonical(dict(items)) == canonical(value)
    assert digest(dict(items)) == digest(value)


def test_canonical_json_is_compact_and_has_no_nan():
    assert canonical({"b": [1, True], "a": "é"}) == '{"a":"é","b":[1,true]}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical([float("nan")])


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("a b/ü|c", None),
        ("", "is blank"),
        (" \t", "is blank"),
        (" a", "begins or ends with a blank"),
        ("a\n", "begins or ends with a blank"),
        ("a\nb", "holds a control character"),
        ("a\x7fb", "holds a control character"),
        ("a\x80b", "holds a control character"),
        ("a\x9fb", "holds a control character"),
        ("a\u202ab", "holds a control character"),
        ("a\u202eb", "holds a control character"),
        ("a\u2066b", "holds a control character"),
        ("a\u2069b", "holds a control character"),
        ("a\u00a1\u2029\u202f\u2065\u206ab", None),
        ("نعم שלום", None),
        ("a\x00b", "holds a NUL character"),
        ("a\ud800", "holds the lone surrogate U+D800, which is no character"),
    ],
)
def test_ids(value, fault):
    assert fault_in_id(value) == fault


def test_texts_may_hold_anything_but_surrogates_and_nul():
    assert fault_in_text("a\n\t😀") is None
    assert fault_in_text("\udfff") == "holds the lone surrogate U+DFFF, which is no character"
    assert fault_in_text("\x00") == "holds a NUL character"


@given(st.text(st.characters(exclude_categories=()), max_size=80))
def test_what_a_message_shows_can_be_printed(value):
    assert "\n" not in shown(value)
    shown(value).encode()


@pytest.mark.parametrize("character", ["\x9b", "\u202e", "\u2066"])
def test_what_turns_a_line_is_shown_by_its_number(character):
    assert shown(f"a{character}b") == f'"a\\u{ord(character):04x}b"'


def test_what_a_message_shows_is_cut():
    assert shown("x" * 61) == f'"{"x" * 59}…"'
    assert shown("x" * 60) == f'"{"x" * 60}"'


# --- ids --------------------------------------------------------------------


def test_event_ids_are_uuid_7_with_the_time_in_front():
    before = time.time_ns() // 1_000_000
    ids = [uuid.UUID(event_id()) for _ in range(200)]
    after = time.time_ns() // 1_000_000
    assert len(set(ids)) == 200
    assert {(one.version, one.variant) for one in ids} == {(7, uuid.RFC_4122)}
    assert all(before <= one.int >> 80 <= after for one in ids)


def test_execution_ids_have_no_letter_that_is_taken_for_another():
    ids = {execution_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(len(one) == 10 and not set(one) & set("il1o0") for one in ids)


# --- JSON lines -------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"a": 1', "is not JSON (Expecting ',' delimiter at column 8)"),
        (b"[1]", "is JSON, but not an object in braces"),
        (b"null", "is JSON, but not an object in braces"),
        (b'{"a": "\xff"}', "is not UTF-8 (byte 8 of the line)"),
        (b'{"a": NaN}', "is not usable JSON (NaN is not JSON)"),
        (b'{"a": -Infinity}', "is not usable JSON (-Infinity is not JSON)"),
        (b'{"a": 1, "a": 2}', 'is not usable JSON (the key "a" stands twice)'),
    ],
)
def test_lines_that_are_no_object(raw, reason):
    assert parse_object(raw) == reason


@pytest.mark.parametrize("raw", [b'{"a":' * 100_000, b'{"a": 1' + b"0" * 5000 + b"}"])
def test_lines_that_overwhelm_a_parser_are_refused(raw):
    assert str(parse_object(raw)).startswith("is not usable JSON")


def test_reading_objects_keeps_line_numbers_and_goes_on_after_a_bad_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a"\n  \n{"a": 3}')
    problems = []
    lines = list(read_objects(path, "x/a.jsonl", problems))
    assert [(line.number, line.value) for line in lines] == [(1, {"a": 1}), (5, {"a": 3})]
    assert [str(p) for p in problems] == [
        "x/a.jsonl:3: the line is not JSON (Expecting ':' delimiter at column 5). Correct the line."
    ]


# --- errors -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("it broke"), "it broke."),
        (Problem("it broke.", "a:1"), "a:1: it broke."),
        (Problem("it broke", "a:1", "Mend it"), "a:1: it broke. Mend it."),
        (Problem("unknown", "", "Did you mean b?"), "unknown. Did you mean b?"),
    ],
)
def test_problems_are_sentences(problem, text):
    assert str(problem) == text


def test_an_error_carries_every_problem():
    error = InvalidInput.of([Problem("one", "a:1", "Do"), Problem("two", "a:2")])
    assert str(error) == "a:1: one. Do.\na:2: two."
    assert [p.place for p in error.problems] == ["a:1", "a:2"]
    assert isinstance(error, DeskError) and not isinstance(error, LabelNotSaved)


# --- validation -------------------------------------------------------------


class Inner(Record):
    size: int


class Outer(Record):
    name: str
    inner: Inner | None = None


def findings(value):
    with pytest.raises(ValidationError) as caught:
        Outer.model_validate(value)
    return [str(p) for p in problems_in(caught.value, "f:3", Outer.model_fields)]


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "f:3: the key name is missing. Add name."),
        ({"name": 5}, 'f:3: name is "5", not string. Correct it.'),
        ({"name": "a", "nam": 1}, 'f:3: unknown key "nam". Did you mean name?'),
        ({"name": "a", "zzz": 1}, 'f:3: unknown key "zzz". Remove it.'),
        ({"name": "a", "inner": {}}, "f:3: the key inner.size is missing. Add inner.size."),
    ],
)
def test_findings_of_a_record_are_sentences(value, sentence):
    assert findings(value) == [sentence]


def test_every_finding_is_told():
    assert len(findings({"nam": 1, "inner": {"size": "2"}})) == 3
