"""Evidence: the sentences a reviewer chose, as quotes; and whether quotes still stand in a text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.core.documents import Document, locate
from app.core.errors import InvalidInput
from app.core.judgments import Evidence
from app.core.model import Chunk
from app.core.quotes import find, plain
from app.core.sentences import Span, behind_mark


def evidence_of(
    chunk: Chunk, document: Document, chosen: Iterable[tuple[Span, Sequence[str]]]
) -> list[Evidence]:
    """Sentences of a chunk with the facts each supports, as evidence in the order of the text.

    The quote is the chunk's text without the mark of a list item; the offsets are those of the
    document, and left out where it is not exact. One sentence chosen twice has the facts of both.
    Raises InvalidInput for a span that holds no words of the chunk.
    """
    facts: dict[Span, list[str]] = {}
    for span, supported in chosen:
        held = 0 <= span.start < span.end <= len(chunk.text)
        if not held or not chunk.text[span.start : span.end].strip():
            raise InvalidInput(
                f"the sentence at {span.start}..{span.end} is not of the chunk {chunk.key.short()}",
                remedy="Choose the sentences again",
            )
        facts.setdefault(span, []).extend(supported)
    places = _places(document, chunk) if document.exact and facts else []
    found = []
    for span in sorted(facts):
        start = behind_mark(chunk.text, span)
        begin = end = None
        if places:
            before = _size(chunk.text[:start])
            begin = places[before]
            end = places[before + _size(chunk.text[start : span.end]) - 1] + 1
        found.append(
            Evidence(
                quote=chunk.text[start : span.end],
                start=begin,
                end=end,
                facts=list(dict.fromkeys(facts[span])),
            )
        )
    return found


def _size(text: str) -> int:
    """The number of characters that are not blank: what a chunk shares with its document."""
    return sum(map(len, text.split()))


def _places(document: Document, chunk: Chunk) -> list[int]:
    """Where in the document each character of the chunk stands that is not blank.

    Raises InvalidInput where the chunk does not stand where the document says.
    """
    text = document.text
    places = [n for n in range(document.start, document.end) if not text[n].isspace()]
    if "".join(text[document.start : document.end].split()) != "".join(chunk.text.split()):
        raise InvalidInput(
            f"the chunk {chunk.key.short()} does not stand in its document as it was read",
            remedy="Load the page again",
        )
    return places


def intact(evidence: Iterable[Evidence], text: str) -> bool:
    """Whether every quote stands in a text, white space and spellings of characters aside.

    Quotes may overlap and stand in any order. Of no quotes nothing can be said: False.
    """
    page = plain(text)
    quotes = [plain(one.quote) for one in evidence]
    return bool(quotes) and all(find(page, quote) is not None for quote in quotes)


def standing(evidence: Iterable[Evidence], chunk: Chunk, document: Document) -> list[Evidence]:
    """The evidence that stands in a chunk, with the offsets it has now; the rest is left out."""
    found = []
    for one in evidence:
        if not intact([one], chunk.text):
            continue
        place = locate(document.text[document.start : document.end], one.quote)
        exact = document.exact and place is not None
        start, end = place or (0, 0)
        places = {
            "start": document.start + start if exact else None,
            "end": document.start + end if exact else None,
        }
        found.append(one.model_copy(update=places))
    return found
