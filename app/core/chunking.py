"""Named, versioned rules that cut a document into chunks.

A rule's name is part of every chunk key, so a rule never changes: another way of cutting is
another name.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

SECTION_PARAGRAPHS = "section-paragraphs-80w-overlap1-v1"
AS_IS = "as-is-v1"

_HEADING = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading (empty above the first one) and its paragraphs, as they stand in the source."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """What a rule cuts: the id within the document, the section's heading, the text."""

    chunk_id: str
    section: str
    text: str


def slug(heading: str) -> str:
    """Lower-case words of a heading joined by `-`; `section` where it has no letter or digit."""
    text = unicodedata.normalize("NFC", heading).lower()
    return "-".join(re.findall(r"[^\W_]+", text)) or "section"


def markdown_sections(body: str) -> list[Section]:
    """Sections of a Markdown text in order.

    A section starts at a heading of any level (`#` to `######`). Paragraphs are separated by
    blank lines. A fenced block is never split, and a `#` in it is no heading.
    """
    sections: list[Section] = []
    heading, paragraphs, lines = "", list[str](), list[str]()
    fence = ""

    def end_paragraph() -> None:
        if lines:
            paragraphs.append("\n".join(lines))
            lines.clear()

    def end_section() -> None:
        end_paragraph()
        if heading or paragraphs:
            sections.append(Section(heading, tuple(paragraphs)))
            paragraphs.clear()

    for raw in body.split("\n"):
        line = raw.rstrip()
        if fence:
            lines.append(line)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened := _FENCE.match(line):
            fence = opened.group(1)
            lines.append(line)
        elif found := _HEADING.match(line):
            end_section()
            heading = _heading_text(line[found.end() :])
        elif not line:
            end_paragraph()
        else:
            lines.append(line)
    end_section()
    return sections


def _heading_text(rest: str) -> str:
    """The words of a heading without the closing `#` it may have."""
    words = rest.strip()
    closed = words.rstrip("#")
    return closed.rstrip() if not closed or closed[-1] in " \t" else words


def pack(paragraphs: Iterable[str], limit: int = 80) -> Iterator[list[str]]:
    """Whole paragraphs packed up to `limit` whitespace words, the last one carried over.

    The carried paragraph counts toward the limit and is dropped where it would overflow. No
    pack holds a carried paragraph alone. A paragraph above the limit is a pack of its own.
    """
    current: list[str] = []
    words = 0
    fresh = False
    for paragraph in paragraphs:
        size = len(paragraph.split())
        if fresh and words + size > limit:
            yield current
            carried = len(current[-1].split())
            current, words = ([current[-1]], carried) if carried + size <= limit else ([], 0)
        current = [*current, paragraph]
        words += size
        fresh = True
    if fresh:
        yield current


def section_paragraphs(sections: Iterable[Section]) -> list[Piece]:
    """Rule `section-paragraphs-80w-overlap1-v1`: ids are `<section-slug>/p<index>` from p0.

    A slug that an earlier section has gets `-2`, `-3`. Headings are not part of the text.
    """
    pieces: list[Piece] = []
    used: set[str] = set()
    for section in sections:
        base = slug(section.heading) if section.heading else "introduction"
        name, count = base, 1
        while name in used:
            count += 1
            name = f"{base}-{count}"
        used.add(name)
        for index, packed in enumerate(pack(section.paragraphs)):
            pieces.append(Piece(f"{name}/p{index}", section.heading, "\n\n".join(packed)))
    return pieces


#: Rules for Markdown documents. `as-is-v1` takes JSONL lines as they are and cuts nothing.
MARKDOWN_RULES: dict[str, Callable[[Iterable[Section]], list[Piece]]] = {
    SECTION_PARAGRAPHS: section_paragraphs,
}
RULES: tuple[str, ...] = (*MARKDOWN_RULES, AS_IS)
