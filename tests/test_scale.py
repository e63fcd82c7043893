"""Other grading scales, said in one word, and the grades that cells hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.core.scale import OURS, grade_of, parse_scale, scale_words


def refused(words, **more):
    with pytest.raises(InvalidInput) as caught:
        parse_scale(words, **more)
    return str(caught.value)


@pytest.mark.parametrize(
    ("words", "scale"),
    [
        ("0=0,1=1,2=1,3=2", {0: 0, 1: 1, 2: 1, 3: 2}),
        ("-1=skip,0=0,1=2", {-1: None, 0: 0, 1: 2}),
        (" 1 = 2 , 0=0 ", {1: 2, 0: 0}),
        ("-2=0,10=2", {-2: 0, 10: 2}),
        ("5=skip", {5: None}),
    ],
)
def test_a_mapping_is_read(words, scale):
    assert parse_scale(words) == scale


@pytest.mark.parametrize(
    "words", ["", ",", "0", "0=", "=0", "0=0,", "a=1", "0=a", "1=-1", "0=0;1=1", "1=1.5", "1==1"]
)
def test_what_is_no_mapping_is_refused_with_an_example(words):
    message = refused(words)
    assert "is not a mapping of one grade to another" in message
    assert message.endswith("Write them as 0=0,1=1,2=1,3=2; -1=skip leaves rows out.")


def test_a_grade_is_named_once():
    assert refused("1=0,1=2") == "the grade 1 is mapped twice. Name every grade once."
    assert refused("1=1,01=1") == "the grade 1 is mapped twice. Name every grade once."


def test_a_grade_is_mapped_to_one_there_is():
    assert refused("0=0,4=3") == (
        '"4=3" maps to 3, which is outside 0..2. Map to a grade from 0 to 2, or to skip.'
    )
    assert parse_scale("4=3", highest=3) == {4: 3}


def test_a_grade_of_thousands_of_digits_is_a_mistake_like_any_other():
    assert "9999" in refused("9" * 5000 + "=0")
    assert "9999" in refused("0=" + "9" * 5000)


@given(st.dictionaries(st.integers(-99, 99), st.none() | st.integers(0, 2), min_size=1))
def test_a_mapping_is_written_as_it_is_read(scale):
    assert parse_scale(scale_words(scale)) == scale


def test_our_own_scale():
    assert scale_words(OURS) == "0=0,1=1,2=2"


@pytest.mark.parametrize(
    ("value", "grade"),
    [
        (2, 2),
        (2.0, 2),
        (-1, -1),
        ("2", 2),
        (" 2 ", 2),
        ("+1", 1),
        ("-1", -1),
        ("1.0", 1),
        ("1.00", 1),
        (b"2", 2),
        (b"-1", -1),
        ("007", 7),
    ],
)
def test_what_is_a_grade(value, grade):
    found = grade_of(value)
    assert found == grade and type(found) is int


@pytest.mark.parametrize(
    "value",
    [
        None, True, False, 1.5, float("nan"), float("inf"), "", " ", "one", "1.5", "1,0", "1e0",
        "0x1", "--1", "1 2", "9" * 10, b"\xff", "true", [1],
    ],
)  # fmt: skip
def test_what_is_none(value):
    assert grade_of(value) is None
