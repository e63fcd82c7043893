"""Differences by words: both texts come back, and a change is known where it is met again."""

import random
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.worddiff import MOST_WORDS, Part, change_of, word_diff


def without(parts, kind):
    return "".join(part.text for part in parts if part.kind != kind)


def changed(old, new):
    return [(part.kind, part.text) for part in word_diff(old, new) if part.kind != "same"]


def test_a_changed_word_and_nothing_else():
    assert word_diff("Kept for 5 days.", "Kept for 7 days.") == [
        Part("same", "Kept for "), Part("removed", "5"), Part("added", "7"), Part("same", " days."),
    ]  # fmt: skip
    assert word_diff("same", "same") == [Part("same", "same")]
    assert word_diff("", "") == []
    assert word_diff("", "new") == [Part("added", "new")]
    assert word_diff("old", "") == [Part("removed", "old")]


def test_neighbouring_changes_are_one():
    old, new = "a b c end", "x y z end"
    assert changed(old, new) == [("removed", "a b c"), ("added", "x y z")]
    assert changed("これは文です", "これは本です") == [("removed", "文"), ("added", "本")]


WORDS = st.lists(st.sampled_from(["a", "b", "c", " ", "\n", "d.", "文", "e\u0301", "  "])).map(
    "".join
)
ANY = st.one_of(st.text(), WORDS)


@given(ANY, ANY)
def test_the_parts_are_both_texts(old, new):
    parts = word_diff(old, new)
    assert without(parts, "added") == old and without(parts, "removed") == new
    assert all(part.text for part in parts)
    kinds = [part.kind for part in parts]
    assert all(one != other for one, other in pairwise(kinds))
    assert ("added", "removed") not in set(pairwise(kinds))


@pytest.mark.parametrize(
    "shape", ["one word", "two words", "shuffled", "other", "reversed", "lines"]
)
def test_long_texts_come_back_too(shape):
    chance, size = random.Random(1), MOST_WORDS
    numbers = [str(n) for n in range(size)]
    old, new = {
        "one word": ("a " * size, "a " * (size - 9)),
        "two words": (
            " ".join(chance.choices("ab", k=size)),
            " ".join(chance.choices("ab", k=size)),
        ),
        "shuffled": (" ".join(numbers[:2000]), " ".join(chance.sample(numbers[:2000], 2000))),
        "other": (" ".join(numbers), " ".join(f"x{n}" for n in numbers)),
        "reversed": (" ".join(numbers), " ".join(numbers[::-1])),
        "lines": ("a b\n" * size, "a b\n" * (size - 1) + "a c\n"),
    }[shape]
    parts = word_diff(old, new)
    assert without(parts, "added") == old and without(parts, "removed") == new


def test_a_long_text_with_two_edits_shows_these_two():
    words = [f"w{n}" for n in range(15_000)]
    other = [*words]
    other[100], other[14_000] = "new", "newer"
    assert changed(" ".join(words), " ".join(other)) == [
        ("removed", "w100"), ("added", "new"), ("removed", "w14000"), ("added", "newer"),
    ]  # fmt: skip


def test_above_the_limit_lines_are_compared():
    lines = [f"line {n} with some words" for n in range(MOST_WORDS)]
    other = [*lines]
    other[50] = "line 50 with other words"
    assert changed("\n".join(lines), "\n".join(other)) == [
        ("removed", lines[50] + "\n"), ("added", other[50] + "\n"),
    ]  # fmt: skip


def footer(body, day):
    return f"{body} Last reviewed on {day} May 2026."


def test_one_footer_changed_in_many_chunks_is_one_change():
    pairs = [(footer(f"Text {n}.", 3), footer(f"Text {n}.", 4)) for n in range(5)]
    pairs.append((footer("Text.\n\n", 3), footer("Text.\n\n", 4)))
    assert len({change_of(old, new) for old, new in pairs}) == 1
    added = [(f"Text {n}.", f"Text {n}. Reviewed in 2026.") for n in range(5)]
    assert len({change_of(old, new) for old, new in added}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("Kept for 5 days.", "Kept for 7 days."),
            ("Locked after 5 tries.", "Locked after 7 tries."),
        ),
        (("a 5 b", "a 7 b"), ("a 7 b", "a 5 b")),
        (("a 5 b", "a 7 b"), ("a 5 b 5 b", "a 7 b 7 b")),
        (("a b", "a"), ("a", "a b")),
        (("Not so. Yes.", "Yes."), ("So. Yes.", "Yes.")),
    ],
    ids=str,
)
def test_other_changes_are_others(one, other):
    assert change_of(*one) != change_of(*other)


@given(WORDS, WORDS)
@example(" a", "a ")
def test_white_space_makes_no_change(old, new):
    nothing = change_of("a", "a")
    assert change_of(old, old) == nothing
    assert (change_of(old, new) == nothing) >= (old.split() == new.split() and "文" not in old)
