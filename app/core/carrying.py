"""Labels whose text changed, and whose quotes still stand: what they count for now."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from app.core.corpus import Corpus
from app.core.grades import Subject, subject_of
from app.core.judgments import Judgment
from app.core.ledger import Placed
from app.core.quotes import find, plain


@dataclass(frozen=True, slots=True)
class Landing:
    """The texts, by hash, that a grade counts for by its quotes.

    Not `carried`: the chunk of its key, which changed elsewhere. `carried`: chunks of the same
    document that hold the quotes now, where neither the chunk of its key nor its text does.
    """

    texts: tuple[str, ...]
    carried: bool


class Quoted:
    """Finds the quotes of judgments in the eligible chunks of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        """Nothing is read until a judgment is asked for."""
        self._corpus = corpus
        self._keys: dict[str, list[str]] | None = None
        self._pages: dict[str, _Page] = {}
        self._plain: dict[str, str] = {}

    def landing(self, event: Judgment) -> Landing | None:
        """Where a grade counts by its quotes; None where they do not decide.

        That is: a grade of 1 or more, whose text is not that of its chunk any more, and all of
        whose quotes stand in one chunk. Of a 0 a quote proves nothing: the rest may help now.
        """
        if event.kind != "grade" or not event.evidence or not event.text_hash or not event.value:
            return None
        chunk = self._corpus.chunks.get(event.key)
        quotes = [plain(one.quote) for one in event.evidence]
        if chunk is not None and chunk.eligible:
            if chunk.text_hash == event.text_hash:
                return None
            page = self._plain.get(chunk.text_hash)
            if page is None:
                page = self._plain[chunk.text_hash] = plain(chunk.text)
            if all(find(page, quote) is not None for quote in quotes):
                return Landing((chunk.text_hash,), carried=False)
        if event.text_hash in self._corpus.by_hash:
            return None
        texts = self._page(event.key.document).holding(quotes)
        return Landing(texts, carried=True) if texts else None

    def _page(self, document: str) -> _Page:
        if self._keys is None:
            self._keys = {}
            for key, chunk in self._corpus.eligible.items():
                self._keys.setdefault(key.document, []).append(chunk.text_hash)
        page = self._pages.get(document)
        if page is None:
            texts = dict.fromkeys(self._keys.get(document, ()))
            chunks, by_hash = self._corpus.chunks, self._corpus.by_hash
            page = _Page({text: chunks[by_hash[text][0]].text for text in texts})
            self._pages[document] = page
        return page


class _Page:
    """The chunks of one document in one text, so that a quote is sought once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts` are the chunks' texts by their hashes."""
        pages = [plain(text) for text in texts.values()]
        self._hashes = tuple(texts)
        # No quote has a line end, so that none is found across two chunks.
        self._text = "\n".join(pages)
        self._starts = list(accumulate((len(page) + 1 for page in pages), initial=0))
        self._found: dict[str, frozenset[int]] = {}

    def holding(self, quotes: Sequence[str]) -> tuple[str, ...]:
        """The hashes of the chunks that hold all of these quotes."""
        held = frozenset.intersection(*(self._chunks_with(quote) for quote in quotes))
        return tuple(self._hashes[number] for number in sorted(held))

    def _chunks_with(self, quote: str) -> frozenset[int]:
        found = self._found.get(quote)
        if found is None:
            numbers: list[int] = []
            place = find(self._text, quote)
            while place is not None:
                numbers.append(bisect_right(self._starts, place) - 1)
                place = find(self._text, quote, self._starts[numbers[-1] + 1])
            found = self._found[quote] = frozenset(numbers)
        return found


@dataclass(frozen=True, slots=True)
class Landed:
    """A judgment that counts for a text it was not given for."""

    event: Judgment
    text: str
    carried: bool


def land(
    quoted: Sequence[tuple[Judgment, Landing]],
    said: Mapping[Subject, Placed[Judgment]],
    judgments: Iterable[Placed[Judgment]],
) -> tuple[list[Landed], set[str]]:
    """What judgments with a landing count for, and the ids of those that were superseded.

    `said` is the last thing said of every subject, withdrawals included; `judgments` the ledger in
    its order. What its author said of the text itself wins over what landed there. Only an
    author's last word on a chunk's key lands; of several from different keys the highest grade
    does, for a text that holds all their quotes holds those of the best one.
    """
    order = {placed.event.event: number for number, placed in enumerate(judgments)}
    keys = {_of_key(event) for event, _ in quoted}
    last: dict[tuple[object, ...], int] = {}
    for placed in said.values():
        name = _of_key(placed.event)
        if name in keys:
            last[name] = max(last.get(name, -1), order[placed.event.event])
    chosen: dict[Subject, Landed] = {}
    superseded: set[str] = set()
    for event, landing in quoted:
        subjects = [(text, subject_of(event, text)) for text in landing.texts]
        unsaid = [(text, subject) for text, subject in subjects if subject not in said]
        if unsaid and last[_of_key(event)] > order[event.event]:
            superseded.add(event.event)
            continue
        for text, subject in unsaid:
            before = chosen.get(subject)
            if before is None or event.value >= before.event.value:
                chosen[subject] = Landed(event, text, landing.carried)
    return list(chosen.values()), superseded


def _of_key(event: Judgment) -> tuple[object, ...]:
    return event.author, event.question, *event.chunk, event.adjudication
