"""The rule section-paragraphs-80w-overlap1-v1."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chunking import (
    AS_IS,
    MARKDOWN_RULES,
    RULES,
    SECTION_PARAGRAPHS,
    Section,
    markdown_sections,
    pack,
    section_paragraphs,
    slug,
)


def words(name, count):
    return " ".join(f"{name}{i}" for i in range(count))


def cut(markdown):
    return MARKDOWN_RULES[SECTION_PARAGRAPHS](markdown_sections(markdown))


def packed(*sizes):
    """Which paragraphs stand together, by their letters."""
    paragraphs = [words(chr(ord("a") + i), size) for i, size in enumerate(sizes)]
    return ["".join(p[0] for p in together) for together in pack(paragraphs)]


def test_names_of_the_rules():
    assert RULES == ("section-paragraphs-80w-overlap1-v1", "as-is-v1")
    assert AS_IS not in MARKDOWN_RULES


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((), []),
        ((5,), ["a"]),
        ((40, 40), ["ab"]),
        ((30, 30, 30), ["ab", "bc"]),
        ((20, 20, 20, 20, 20), ["abcd", "de"]),
        ((40, 41), ["a", "b"]),
        ((30, 50, 40), ["ab", "c"]),
        ((81,), ["a"]),
        ((10, 90, 10), ["a", "b", "c"]),
        ((30, 50, 30), ["ab", "bc"]),
        ((80, 80), ["a", "b"]),
    ],
    ids=str,
)
def test_paragraphs_that_stand_together(sizes, expected):
    assert packed(*sizes) == expected


def test_three_paragraphs_of_which_two_fit():
    first, second, third = words("a", 30), words("b", 30), words("c", 30)
    pieces = cut(f"# Opening hours\n\n{first}\n\n{second}\n\n{third}\n")
    assert [(p.chunk_id, p.section, p.text) for p in pieces] == [
        ("opening-hours/p0", "Opening hours", f"{first}\n\n{second}"),
        ("opening-hours/p1", "Opening hours", f"{second}\n\n{third}"),
    ]


def test_nothing_is_carried_into_the_next_section():
    pieces = cut("# A\n\none\n\n## B\n\ntwo")
    assert [(p.chunk_id, p.text) for p in pieces] == [("a/p0", "one"), ("b/p0", "two")]


def test_ids_of_sections():
    body = (
        "above\n\n# Same\n\nx\n\n## Same\n\nx\n\n### same!\n\nx\n\n# ?!\n\nx\n\n# Introduction\n\nx"
    )
    assert [p.chunk_id for p in cut(body)] == [
        "introduction/p0",
        "same/p0",
        "same-2/p0",
        "same-3/p0",
        "section/p0",
        "introduction-2/p0",
    ]


def test_a_number_that_a_slug_already_has_is_passed_over():
    assert [p.chunk_id for p in cut("# A\n\nx\n\n# A-2\n\nx\n\n# A\n\nx")] == [
        "a/p0",
        "a-2/p0",
        "a-3/p0",
    ]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Öffnungs-Zeiten (neu)", "öffnungs-zeiten-neu"),
        ("O\u0308ffnung", "öffnung"),
        ("snake_case", "snake-case"),
        ("  2.1  Setup ", "2-1-setup"),
        ("…", "section"),
    ],
)
def test_slugs(heading, expected):
    assert slug(heading) == expected


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# A", "A"),
        ("###### A", "A"),
        ("   ## A ##", "A"),
        ("# A #b", "A #b"),
        ("#\tA", "A"),
        ("#  A  ", "A"),
        ("# A#", "A#"),
        ("# A # ##", "A #"),
        ("## A \t## ", "A"),
        ("# #A", "#A"),
        ("# A \\#", "A \\#"),
    ],
)
def test_headings(line, heading):
    assert markdown_sections(f"{line}\n\nx") == [Section(heading, ("x",))]


@pytest.mark.parametrize("line", ["#", "## ", "# ##", "###   #  "])
def test_a_heading_without_words_ends_a_section_and_has_no_name(line):
    assert markdown_sections(f"# A\n\nx\n{line}\ny") == [
        Section("A", ("x",)),
        Section("", ("y",)),
    ]


@pytest.mark.parametrize(
    "line", ["# a" + " " * 20_000 + "b", "# " + "a #" * 20_000, "#" + "\t" * 20_000 + "a" + "#" * 9]
)
def test_a_long_heading_takes_no_time(line):
    began = time.process_time()
    assert len(markdown_sections(f"{line}\n\nx")) == 1
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    "line", ["#A", "####### A", "    # A", "A\n=====", "A\n-----", "\\# A", "- # A"]
)
def test_what_is_no_heading(line):
    assert markdown_sections(line) == [Section("", (line,))]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_fenced_block_is_one_paragraph_and_has_no_heading(fence):
    block = f"{fence}sh\n# no heading\n\n{words('x', 90)}\n{fence}"
    pieces = cut(f"# Run\n\nbefore\n\n{block}\n\nafter")
    assert [p.text for p in pieces] == ["before", block, "after"]


def test_a_fence_ends_with_its_own_kind_only():
    block = "````\n```\n# no\n~~~~\n\nstill in\n`````"
    assert markdown_sections(f"{block}\n# Yes\n\nx") == [
        Section("", (block,)),
        Section("Yes", ("x",)),
    ]


def test_a_fence_that_never_ends_runs_to_the_end():
    assert markdown_sections("```\n# no\n\nx") == [Section("", ("```\n# no\n\nx",))]


def test_code_in_a_line_opens_no_fence():
    body = "```make``` builds it\n\n# Next\n\nx"
    assert [s.heading for s in markdown_sections(body)] == ["", "Next"]


def test_a_section_without_paragraphs_has_no_chunk_but_keeps_its_name():
    assert [p.chunk_id for p in cut("# A\n\n# A\n\nx")] == ["a-2/p0"]
    assert cut("# A\n\n  \n") == []
    assert cut("") == []


def test_lines_of_a_paragraph_stay_as_they_are_and_blanks_at_their_ends_go():
    assert [p.text for p in cut("one  \n  two\t\n \nthree")] == ["one\n  two\n\nthree"]


# --- laws -------------------------------------------------------------------

SIZES = st.lists(st.integers(1, 100) | st.sampled_from([1, 39, 40, 41, 79, 80, 81]), max_size=12)


@given(st.lists(SIZES, max_size=4))
def test_every_paragraph_is_kept_in_order_within_the_limit(shape):
    sections = [
        Section(f"s{i}", tuple(words(f"p{i}.{j}.", size) for j, size in enumerate(sizes)))
        for i, sizes in enumerate(shape)
    ]
    pieces = section_paragraphs(sections)
    assert len({p.chunk_id for p in pieces}) == len(pieces)
    for section in sections:
        chunks = [p.text.split("\n\n") for p in pieces if p.section == section.heading]
        reached = 0
        for chunk in chunks:
            first = section.paragraphs.index(chunk[0])
            assert first in (reached, reached - 1) and first >= 0
            assert list(section.paragraphs[first : first + len(chunk)]) == chunk
            assert first + len(chunk) > reached  # never the carried paragraph alone
            reached = first + len(chunk)
            assert len(chunk) == 1 or sum(len(p.split()) for p in chunk) <= 80
        assert reached == len(section.paragraphs)


@given(SIZES)
def test_a_chunk_ends_only_where_the_next_paragraph_does_not_fit(sizes):
    paragraphs = [words(f"p{i}.", size) for i, size in enumerate(sizes)]
    chunks = list(pack(paragraphs))
    for chunk, after in itertools.pairwise(chunks):
        following = paragraphs[paragraphs.index(chunk[-1]) + 1]
        size = len(following.split())
        assert sum(len(p.split()) for p in chunk) + size > 80
        carried = len(chunk[-1].split()) + size <= 80
        assert after[: 1 + carried] == ([chunk[-1], following] if carried else [following])


LINES = st.sampled_from(["# A", "## B", "text", "more", "", "  ", "```", "~~~", "A\n==="])


@given(st.lists(LINES, max_size=15))
def test_no_line_of_text_is_lost(lines):
    body = "\n".join(lines)
    kept = [line for s in markdown_sections(body) for p in s.paragraphs for line in p.split("\n")]
    expected = [line for line in body.split("\n") if line.strip() and not line.startswith("#")]
    assert [line for line in kept if line.strip() and not line.startswith("#")] == expected
