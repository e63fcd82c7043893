"""Questions: what a line may say, and what labels remember of it."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.core.questions import Fact, Question, question_hash, read_questions

PLACE = "labels/demo/questions.jsonl"
LINE = {"format": 1, "id": "q1", "text": "When do you open?", "category": "hours"}


@pytest.fixture
def read(tmp_path):
    def write_and_read(*lines):
        path = tmp_path / "questions.jsonl"
        raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
        path.write_bytes(b"\n".join(raw))
        return read_questions(path, PLACE)

    return write_and_read


@pytest.fixture
def refused(read):
    def sentences(*lines):
        with pytest.raises(InvalidInput) as caught:
            read(*lines)
        return [str(problem) for problem in caught.value.problems]

    return sentences


def test_no_file_no_questions(tmp_path):
    assert read_questions(tmp_path / "none.jsonl", PLACE) == {}


def test_questions_keep_their_order_and_have_defaults(read):
    questions = read({**LINE, "id": "b"}, b"", {**LINE, "id": "a", "split": "held-out"})
    assert list(questions) == ["b", "a"]
    first = questions["b"]
    assert (first.source, first.split, first.tags, first.facts) == ("expert", "development", [], [])
    assert first.need is first.unsupported_as_of is None
    assert questions["a"].split == "held-out"


def test_everything_a_question_may_have(read):
    facts = [{"id": "f1", "text": "Nine."}, {"id": "f2", "text": "Five."}]
    more = {"tags": ["x"], "source": "log", "need": "Both hours.", "unsupported_as_of": "abc"}
    question = read({**LINE, **more, "facts": facts})["q1"]
    assert question.facts == [Fact(id="f1", text="Nine."), Fact(id="f2", text="Five.")]
    assert (question.need, question.unsupported_as_of) == ("Both hours.", "abc")


def test_ids_differ_by_case(read):
    assert list(read(LINE, {**LINE, "id": "Q1"})) == ["q1", "Q1"]


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (LINE, 'the question id "q1" was already used on line 1. Give one of the two another id.'),
        ({**LINE, "id": ""}, 'id "" is blank. Correct the line.'),
        ({**LINE, "id": "q2 "}, 'id "q2 " begins or ends with a blank. Correct the line.'),
        ({**LINE, "id": 2}, 'id is "2", not string. Correct the line.'),
        ({**LINE, "text": " \n"}, "text is blank. Correct the line."),
        ({**LINE, "need": ""}, "need is blank. Correct the line."),
        (
            {**LINE, "text": "a\udc00"},
            "text holds the lone surrogate U+DC00, which is no character. Correct the line.",
        ),
        ({**LINE, "text": "\x00"}, "text holds a NUL character. Correct the line."),
        ({**LINE, "category": " "}, 'category " " is blank. Correct the line.'),
        ({**LINE, "tags": ["a", ""]}, 'tags.1 "" is blank. Correct the line.'),
        ({**LINE, "tags": "a"}, "tags is \"'a'\", not list. Correct the line."),
        ({**LINE, "categry": "x"}, 'unknown key "categry". Did you mean category?'),
        ({**LINE, "zzz": "x"}, 'unknown key "zzz". Remove it.'),
        (
            {**LINE, "source": "web"},
            "source is \"web\", not 'log', 'expert' or 'synthetic'. Correct the line.",
        ),
        (
            {**LINE, "split": "test"},
            "split is \"test\", not 'development' or 'held-out'. Correct the line.",
        ),
        ({**LINE, "facts": [{"id": "f1"}]}, "the key facts.0.text is missing. Add facts.0.text."),
        ({**LINE, "format": 2}, 'format is "2", not 1. Correct the line.'),
        (
            {"id": "q2", "text": "?"},
            "the key category is missing. Add category.",
        ),
        (b"{", "the line is not JSON (Expecting property name enclosed in double quotes at "),
        (b'{"id": "\xff"}', "the line is not UTF-8 (byte 9 of the line). Correct the line."),
        (b'"q2"', "the line is JSON, but not an object in braces. Correct the line."),
    ],
    ids=lambda value: str(value)[-50:],
)
def test_lines_that_are_refused(refused, bad, sentence):
    (told,) = refused(LINE, bad, {**LINE, "id": "q9"})
    assert told.startswith(f"{PLACE}:2: {sentence}")


def test_every_problem_is_told(refused):
    told = refused({**LINE, "id": "", "text": ""}, b"{", LINE, LINE)
    assert [one.split(": ")[0].rpartition(":")[2] for one in told] == ["1", "1", "2", "4"]


def test_two_facts_with_one_id_are_refused(refused):
    fact = {"id": "f1", "text": "Nine."}
    (told,) = refused({**LINE, "facts": [fact, {**fact, "text": "Five."}]})
    assert told.startswith(f"{PLACE}:1: ") and "f1" in told


# --- what labels remember ---------------------------------------------------

FACTS = [{"id": "f1", "text": "Nine."}]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"category": "x", "tags": ["y"], "source": "log", "split": "held-out"}, True),
        ({"id": "q2"}, True),
        ({"unsupported_as_of": "abc"}, True),
        ({"text": "When do you open?\r\n"}, True),
        ({"text": "When do you close?"}, False),
        ({"need": "The hour."}, False),
        ({"facts": FACTS}, False),
    ],
    ids=str,
)
def test_the_hash_is_of_text_need_and_facts(change, same):
    before, after = Question(**LINE), Question(**{**LINE, **change})
    assert (before.hash == after.hash) is same


def test_the_hash_tells_text_need_and_facts_apart():
    parts = [("a", "b", []), ("b", "a", []), ("a", None, [("b", "")]), ("a", "b", [("", "")])]
    assert len({question_hash(*part) for part in parts}) == 4


@given(st.text(min_size=1), st.none() | st.text(min_size=1))
def test_the_hash_does_not_depend_on_how_the_text_was_typed(text, need):
    other = [part and unicodedata.normalize("NFD", part) + " \n" for part in (text, need)]
    assert question_hash(*other, []) == question_hash(text, need, [])
