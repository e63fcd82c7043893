"""What changed between two texts: by words, or by lines where they are long."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal

from app.core.text import digest

#: From this many words on, lines are compared.
MOST_WORDS = 20_000

#: Words, white space, and each character of scripts that write words without blanks.
_TOKEN = re.compile(
    r"\s+|[\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff]"
    r"[\ufe00-\ufe0f\u3099\u309a\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200d]*"
    r"|[^\s\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\u0e00-\u0eff]+"
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
#: Pieces of no more than so many pairs of tokens are compared each with each.
_MOST_PAIRS = 40_000
#: So often a piece is divided before it counts as replaced.
_MOST_DIVISIONS = 8
#: Words of its sentence that tell a change from the same words elsewhere.
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Part:
    """A piece that both texts have, or only the old one (removed) or the new one (added)."""

    kind: Literal["same", "removed", "added"]
    text: str


def word_diff(old: str, new: str) -> list[Part]:
    """The parts in order: without the added ones they are the old text, without the removed ones
    the new one, character by character. A removed part comes before what was added in its place.
    """
    one, other = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(len(one), len(other)) > 2 * MOST_WORDS:
        one, other = _LINE.findall(old), _LINE.findall(new)
    changes: list[tuple[str, str, str]] = []
    start = begin = 0
    for first, second, size in [*_matches(one, other), (len(one), len(other), 0)]:
        removed, added = "".join(one[start:first]), "".join(other[begin:second])
        start, begin = first + size, second + size
        changes.append((removed, added, "".join(one[first:start])))
    return [*_parts(changes)]


def change_of(old: str, new: str) -> str:
    """A digest of the change alone: equal where the same words of the same sentences were changed.

    What is left of a sentence stands for it with up to three words on each side. White space does
    not matter.
    """
    return change_in(word_diff(old, new))


def change_in(parts: Sequence[Part]) -> str:
    """The digest `change_of` gives, from the parts."""
    old, new = (
        "".join(part.text for part in parts if part.kind != other).split()
        for other in ("added", "removed")
    )
    if old == new:
        return digest([])  # of blanks that moved, a diff may make words that did
    found: list[list[list[str]]] = []
    for number, part in enumerate(parts):
        if part.kind == "same":
            continue
        words = part.text.split()
        before = parts[number - 1] if number else Part("same", "")
        behind = parts[number + 1] if number + 1 < len(parts) else Part("same", "")
        if part.kind == "added" and before.kind == "removed":
            found[-1][2:] = [words, _head(behind.text)]
        else:
            removed = part.kind == "removed"
            after = _head(behind.text) if behind.kind == "same" else []
            both = [words, []] if removed else [[], words]
            found.append([_tail(before.text), *both, after])
    return digest([one for one in found if one[1] != one[2]])


def _tail(text: str) -> list[str]:
    """The last words of a text that are of its last sentence and line."""
    words = text.rpartition("\n")[2].split()[-_CONTEXT:]
    ends = [number for number, word in enumerate(words) if word.endswith((".", "!", "?", "。"))]
    return words[ends[-1] + 1 :] if ends else words


def _head(text: str) -> list[str]:
    """The first words of a text that are of its first sentence and line."""
    words = text.partition("\n")[0].split()[:_CONTEXT]
    ends = [number for number, word in enumerate(words) if word.endswith((".", "!", "?", "。"))]
    return words[: ends[0] + 1] if ends else words


def _parts(changes: Sequence[tuple[str, str, str]]) -> Iterator[Part]:
    """Parts of (removed, added, same behind them); blanks between two changes are part of them."""
    removed = added = ""
    for number, (out, into, same) in enumerate(changes):
        removed, added = removed + out, added + into
        follows = changes[number + 1] if number + 1 < len(changes) else ("", "", "")
        if removed and added and follows[0] and follows[1] and same.isspace():
            removed, added = removed + same, added + same
            continue
        if removed:
            yield Part("removed", removed)
        if added:
            yield Part("added", added)
        if same:
            yield Part("same", same)
        removed = added = ""


_Match = tuple[int, int, int]
#: A piece of either list that is still to be compared, and how often it was divided.
_Piece = tuple[int, int, int, int, int]


def _matches(one: Sequence[str], other: Sequence[str]) -> list[_Match]:
    """Runs of equal tokens in both lists: start in each, and length; in order, none overlaps."""
    found: list[_Match] = []
    open_pieces: list[_Piece] = [(0, len(one), 0, len(other), 0)]
    while open_pieces:
        a, b, c, d, depth = open_pieces.pop()
        start, begin = a, c
        while a < b and c < d and one[a] == other[c]:
            a, c = a + 1, c + 1
        found.append((start, begin, a - start))
        end = b
        while a < b and c < d and one[b - 1] == other[d - 1]:
            b, d = b - 1, d - 1
        found.append((b, d, end - b))
        if a == b or c == d:
            continue
        if (b - a) * (d - c) <= _MOST_PAIRS:
            blocks = SequenceMatcher(None, one[a:b], other[c:d], autojunk=False)
            found += [(a + m.a, c + m.b, m.size) for m in blocks.get_matching_blocks()]
        elif depth < _MOST_DIVISIONS and (anchors := _anchors(one, other, (a, b, c, d))):
            found += [(first, second, 1) for first, second in anchors]
            edges = [(a - 1, c - 1), *anchors, (b, d)]
            open_pieces += [(p + 1, q, r + 1, s, depth + 1) for (p, r), (q, s) in pairwise(edges)]
    return sorted(match for match in found if match[2])


def _anchors(
    one: Sequence[str], other: Sequence[str], piece: tuple[int, int, int, int]
) -> list[tuple[int, int]]:
    """Tokens that either side has once, in the longest order common to both."""
    a, b, c, d = piece
    once = Counter(one[a:b])
    places = {token: c + number for number, token in enumerate(other[c:d])}
    twice = Counter(other[c:d])
    pairs = [
        (number, places[token])
        for number, token in enumerate(one[a:b], start=a)
        if once[token] == 1 and twice[token] == 1
    ]
    # The longest increasing run of places: the last pair of every length, and what was before it.
    lasts: list[int] = []
    chain: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(lasts, place)
        before.append(chain[length - 1] if length else -1)
        lasts[length : length + 1] = [place]
        chain[length : length + 1] = [number]
    found: list[tuple[int, int]] = []
    number = chain[-1] if chain else -1
    while number >= 0:
        found.append(pairs[number])
        number = before[number]
    return found[::-1]
