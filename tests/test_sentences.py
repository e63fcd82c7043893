"""Sentences of a text: what is cut, what is not, and laws that hold for any text."""

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.documents import locate
from app.core.sentences import Span, behind_mark, sentences
from app.flows.loading import load
from app.workspace import Workspace


def cut(text):
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "text",
    [
        "One ends. Two begins. Three?",
        "Wait! Who goes there? Nobody.",
        "It was late … He slept.",
        "He said “stop.” Then he left.",
        "(It is so.) That is all.",
        "It starts at 5 p.m. It ends at six.",
        "これは文です。 次の文です！ 終わり",
        "هل هذا سؤال؟ نعم. هذا جواب۔ ثم",
        "זו שאלה? כן. זו תשובה.",
        "यह वाक्य है। यह दूसरा है।",
        "Ready 👩‍👩‍👧. Next 👍🏽! Done.",
        "Cafe\u0301. Next.",
    ],
)
def test_sentences_end_at_their_marks(text):
    parts = cut(text)
    assert len(parts) == len([*filter(None, parts)]) >= 2
    assert " ".join(parts) == text, "each stands in the text with one blank behind it"
    inner = "".join(parts[:-1])
    assert all(part[-1] in ".?!…。！؟۔।”)" for part in parts[:-1]), inner


def test_scripts_without_blanks_are_cut_behind_the_mark():
    assert cut("これは文です。次の文です！？終わり") == [
        "これは文です。",
        "次の文です！？",
        "終わり",
    ]
    assert cut("彼は「はい。」と言った。次。") == ["彼は「はい。」と言った。", "次。"]


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith and Prof. J. R. Jones met at St. Paul.",
        "It costs 3.50 in v. 2, i.e. less than before, cf. Fig. 3 and No. 7.",
        "Wir treffen uns am 3. Oktober, z. B. in Nr. 5.",
        "It grew... and then it stopped.",
        '"Why?" he asked.',
        "See app.py, example.com and 10.0.0.1 for more.",
        "See etc. and so on.",
        "U.S. Navy ships.",
        "Run it as a.b.c!d or x?y.",
    ],
)
def test_what_ends_no_sentence(text):
    assert cut(text) == [text]


def test_lists_tables_headings_and_code_come_in_lines():
    text = """# A heading. With a dot

1. First do this. Then that.
2. Second
   goes on
- a dash
| a | b. c |
|---|------|
Prose here.

```py
x = 1. + 2

    y
```
    code after text is text

    indented. code"""
    assert cut(text) == [
        "# A heading. With a dot", "1. First do this.", "Then that.", "2. Second", "goes on",
        "- a dash", "| a | b. c |", "|---|------|", "Prose here.", "```py", "x = 1. + 2", "y",
        "```", "code after text is text", "indented. code",
    ]  # fmt: skip


def test_wrapped_lines_belong_together_and_others_do_not():
    wrapped = (
        "The backup runs at night and is kept for a hundred and\n"
        "eighty days. It is deleted after that by a job that\nruns at four. Done."
    )
    assert cut(wrapped) == [
        "The backup runs at night and is kept for a hundred and\neighty days.",
        "It is deleted after that by a job that\nruns at four.",
        "Done.",
    ]
    assert cut("apples\npears\nplums") == ["apples", "pears", "plums"]
    without = (
        "a line of forty or more characters that has no mark\nanother one of them as long as it"
    )
    assert cut(without) == without.split("\n")
    assert cut("a\r\nb\rc\u2028d\n\n\n e ") == ["a", "b", "c", "d", "e"]


def test_nothing_to_cut():
    assert sentences("") == sentences(" \n\t ") == []


def test_the_words_of_a_list_item_begin_behind_its_mark():
    text = "- A dash.\n12) A number.\nNone."
    spans = sentences(text)
    assert [text[behind_mark(text, one) : one.end] for one in spans] == [
        "A dash.", "A number.", "None.",
    ]  # fmt: skip


def joined(character):
    """Whether a character is drawn with the one before it, by its Unicode properties."""
    return unicodedata.category(character) in ("Mn", "Me", "Mc") or character == "\u200d"


PIECES = st.sampled_from(
    ["a", "B", "e\u0301", "1", ". ", ".", "! ", "?", "。", "…", "\n", "\r\n", "\n\n", " ", "\t",
     "- ", "1. ", "| ", "```\n", "    ", "# ", "e.g. ", "Dr. ", '"', ")", "」", "👩‍👩‍👧", "👍🏽",
     "\u0301", "\u200d", "ש", "؟", "\ufe0f", "नि", "\x0b", "\u2028", "a b c d e f g h i j k l m "]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(PIECES).map("".join))


@given(TEXTS)
@example("。\u0301a")
@example(". \u0301a")
@example(".\u200d a")
def test_every_character_that_is_not_blank_is_in_exactly_one_sentence(text):
    spans = sentences(text)
    covered = [n for start, end in spans for n in range(start, end)]
    assert covered == sorted(set(covered)), "in order, none twice"
    assert set(covered) >= {n for n, character in enumerate(text) if not character.isspace()}
    for start, end in spans:
        assert not text[start].isspace() and not text[end - 1].isspace()
    for before, after in pairwise(spans):
        # A line end breaks such a character by Unicode's own rule, nothing else does.
        line_end = any(one in "\n\r\u2028\u2029" for one in text[before.end : after.start])
        assert line_end or not (joined(text[after.start]) or text[before.end - 1] == "\u200d")


def seconds(text):
    began = time.process_time()
    sentences(text)
    return time.process_time() - began


@pytest.mark.parametrize(
    "piece",
    [".", "a", ". ", ".'", "'", "。", "\u0301", "e.g. A ", "a.", "|", "\t", "a\t", "- ", "a\n", "`",
     "```\n", "( ", "1", " "],
    ids=repr,
)  # fmt: skip
def test_time_grows_with_the_length_alone(piece):
    """A text ten times as long takes ten times as long; squared would be a hundred times."""
    short, long = piece * (20_000 // len(piece)), piece * (200_000 // len(piece))
    seconds(short)
    base = max(min(seconds(short) for _ in range(3)), 0.002)
    assert seconds(long) < 40 * base


def test_most_of_the_quotes_of_the_handbook_are_sentences(repository):
    loaded = load(Workspace.at(repository).collection("handbook"))
    found = []
    for placed in loaded.collection.ledger.read().events:
        text = loaded.corpus.chunks[placed.event.key].text
        spans = sentences(text)
        starts = {behind_mark(text, one) for one in spans} | {one.start for one in spans}
        for evidence in placed.event.evidence:
            start, end = locate(text, evidence.quote)
            found.append(start in starts and end in {one.end for one in spans})
    # Others end at a semicolon.
    assert len(found) == 223 and sum(found) > 0.9 * len(found)


def test_a_span_is_a_pair_of_offsets():
    (span,) = sentences(" a ")
    assert span == Span(1, 2) == (1, 2)
