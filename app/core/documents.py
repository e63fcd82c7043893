"""The whole document behind a chunk, where the chunk stands in it, and what stands beside it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from app.core.chunking import MARKDOWN_RULES, markdown_sections
from app.core.corpus import Corpus, SourceSpec, front_matter_end
from app.core.model import Chunk, ChunkKey
from app.core.quotes import find, plain

_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Document:
    """A document's text, and the offsets of one chunk in it.

    For Markdown the text is the file's, front matter included, with `\\n` line ends: the text that
    the offsets of evidence count in. Else it is the document's chunks in source order, a blank line
    between them, a paragraph that a chunk repeats from the one before it left out. `exact` is
    False where a Markdown file is no longer what the chunk was cut from: then, too, the text is
    made of the chunks.
    """

    text: str
    start: int
    end: int
    exact: bool


def document_of(corpus: Corpus, spec: SourceSpec, key: ChunkKey) -> Document:
    """The document a chunk stands in; reads its file, which must lie in the source folder.

    Raises KeyError for a chunk that is not of the corpus.
    """
    chunk = corpus.chunks[key]
    chunks = [corpus.chunks[one] for one in corpus.by_document[key.document, key.version]]
    if spec.kind == "markdown":
        text = _file_text(spec, chunk)
        if text is not None and (place := _place_in(text, spec.rule, chunks, chunk)):
            return Document(text, *place, exact=True)
    return _joined(chunks, chunk, exact=spec.kind != "markdown")


def neighbours(corpus: Corpus, key: ChunkKey) -> tuple[Chunk | None, Chunk | None]:
    """The chunks before and after one in its document and version, in source order."""
    keys = corpus.by_document[key.document, key.version]
    place = keys.index(key)
    before = corpus.chunks[keys[place - 1]] if place else None
    after = corpus.chunks[keys[place + 1]] if place + 1 < len(keys) else None
    return before, after


def _file_text(spec: SourceSpec, chunk: Chunk) -> str | None:
    """The text of a chunk's file; None where it is gone, unreadable or outside the folder."""
    folder = spec.path.resolve()
    path = Path(spec.path, chunk.place.removeprefix(f"{spec.place}/")).resolve()
    if not path.is_relative_to(folder):
        return None
    try:
        raw = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return raw.replace("\r\n", "\n").replace("\r", "\n")


def _place_in(
    text: str, rule: str, chunks: Sequence[Chunk], chunk: Chunk
) -> tuple[int, int] | None:
    """Where a chunk stands in its file: the paragraphs it was cut from, found by cutting again."""
    body = front_matter_end(text)
    lines = _lines(text, body)
    number = next(n for n, one in enumerate(chunks) if one.key == chunk.key)
    for section in markdown_sections(text[body:]):
        places = [_next_paragraph(paragraph, lines) for paragraph in section.paragraphs]
        pieces = [piece.text for piece in MARKDOWN_RULES[rule]([section])]
        if number < len(pieces):
            run = _paragraphs_of(section.paragraphs, pieces[: number + 1])
            if pieces[number] != chunk.text or run is None:
                return None
            return places[run.start][0], places[run.stop - 1][1]
        number -= len(pieces)
    return None


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Lines of a text from an offset on: where each begins, and it without blanks at its end."""
    for line in text[start:].split("\n"):
        yield start, line.rstrip()
        start += len(line) + 1


def _next_paragraph(paragraph: str, lines: Iterator[tuple[int, str]]) -> tuple[int, int]:
    """Where the next paragraph stands: only headings and blank lines are passed over."""
    first, *others = paragraph.split("\n")
    begin, line = next((start, line) for start, line in lines if line == first)
    end = begin + len(line)
    for _ in others:
        start, line = next(lines)
        end = start + len(line)
    return begin, end


def _paragraphs_of(paragraphs: Sequence[str], pieces: Sequence[str]) -> range | None:
    """The paragraphs of the last of these pieces, each of which may begin with the last of its
    predecessor; None where they were not cut from these paragraphs.
    """
    run = range(0)
    for piece in pieces:
        # No piece is a paragraph carried over alone: one that reads like it is the next.
        carried = _run(paragraphs, run.stop - 1, piece) if run else range(0)
        run = carried if len(carried) > 1 else _run(paragraphs, run.stop, piece)
        if not run:
            return None
    return run


def _run(paragraphs: Sequence[str], start: int, piece: str) -> range:
    """The paragraphs from `start` on that make up a piece; empty where they do not."""
    stop, size = start, -2
    while stop < len(paragraphs) and size < len(piece):
        size += len(paragraphs[stop]) + 2
        stop += 1
    return range(start, stop if "\n\n".join(paragraphs[start:stop]) == piece else start)


def _joined(chunks: Sequence[Chunk], chunk: Chunk, *, exact: bool) -> Document:
    parts: list[str] = []
    size = start = end = 0
    carried = ""
    for one in chunks:
        first, _, rest = one.text.partition("\n\n")
        if rest and carried and first == carried:
            begin, part = size - len(first), one.text[len(first) :]
        else:
            gap = "\n\n" if parts else ""
            begin, part = size + len(gap), gap + one.text
        parts.append(part)
        size += len(part)
        if one.key == chunk.key:
            start, end = begin, size
        carried = one.text.rpartition("\n\n")[2]
    return Document("".join(parts), start, end, exact)


def locate(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a text first: offsets, or None.

    White space is one blank, whatever and how much it is, and spellings of a character are one
    (Unicode NFC). A quote does not stand inside a longer word or number: "5 days" is not in
    "15 days", "under 5" not in "under 5.5".
    """
    words = [(found.start(), found.group()) for found in _WORD.finditer(text)]
    page, starts = _page([word for _, word in words])
    sought = plain(quote)
    place = find(page, sought)
    if place is None:
        return None

    def offset(position: int, of: int) -> int:
        """Where in the text a position of the page is, within the word that `of` lies in."""
        number = bisect_right(starts, of) - 1
        start, word = words[number]
        return start + _characters(word, position - starts[number])

    end = place + len(sought)
    return offset(place, place), offset(end, end - 1)


def _page(words: Sequence[str]) -> tuple[str, list[int]]:
    """Words as one plain text, and where in it each begins."""
    spelled = [unicodedata.normalize("NFC", word) for word in words]
    sizes = (len(word) + 1 for word in spelled)
    return " ".join(spelled), list(accumulate(sizes, initial=0))[: len(words)]


def _characters(word: str, size: int) -> int:
    """How many characters of a word have this size in NFC, marks behind them included."""
    if unicodedata.is_normalized("NFC", word):
        return size

    def size_to(last: int) -> int:
        return len(unicodedata.normalize("NFC", word[: last + 1]))

    return bisect_right(range(len(word)), size, key=size_to)
