"""Near-duplicates: questions that ask in almost the same words, categories of almost one name."""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

#: Two questions whose sets of words overlap so far are near-duplicates: of all words that stand in
#: either, the share that stands in both (Jaccard).
OVERLAP = 0.8
#: Names of categories are near from this ratio of difflib on.
_NAMES = 0.85

_WORD = re.compile(r"\w+")
#: Words a question can lose without asking something else.
STOP_WORDS = frozenset(
    {
        "a", "an", "and", "are", "at", "be", "been", "by", "can", "could", "did", "do", "does",
        "for", "from", "had", "has", "have", "how", "i", "in", "is", "it", "its", "may", "me",
        "my", "of", "on", "or", "our", "please", "shall", "should", "that", "the", "their",
        "there", "this", "to", "was", "we", "were", "what", "when", "where", "which", "who",
        "why", "will", "with", "would", "you", "your",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Near:
    """`new` asks almost what `other` asks; both are ids. `overlap` is 0.8 to 1."""

    new: str
    other: str
    overlap: float


def words_of(text: str) -> frozenset[str]:
    """The words of a question without case, punctuation and stop words.

    All of its words where it has no others; the text itself where it has no word at all.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = frozenset(_WORD.findall(folded))
    return words - STOP_WORDS or words or frozenset({folded.strip()})


def near_questions(new: Mapping[str, str], known: Mapping[str, str]) -> list[Near]:
    """For each new text, by id, the nearest known text or new one before it, where one is near.

    Only texts that share one of their rarest words are compared: with n words of which 0.8 n must
    be shared, two near texts meet in the first n - 0.8 n + 1 of them.
    """
    sets = {("known", name): words_of(text) for name, text in known.items()}
    sets |= {("new", name): words_of(text) for name, text in new.items()}
    often = Counter(word for words in sets.values() for word in words)
    meeting: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    found: list[Near] = []
    for owner, words in sets.items():
        rarest = sorted(words, key=lambda word: (often[word], word))
        # (The small number is for products such as 0.8 * 5, which are not exact.)
        first = rarest[: len(words) - math.ceil(OVERLAP * len(words) - 1e-9) + 1]
        if owner[0] == "new":
            candidates = dict.fromkeys(one for word in first for one in meeting[word])
            best = max(
                ((_overlap(words, sets[one]), one) for one in candidates),
                key=lambda pair: pair[0],
                default=(0.0, owner),
            )
            if best[0] >= OVERLAP - 1e-9:
                found.append(Near(owner[1], best[1][1], best[0]))
        for word in first:
            meeting[word].append(owner)
    return found


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """Known names that differ from a new one in case, blanks, punctuation or a letter or two."""
    plain = _plain(name)
    return [
        one
        for one in known
        if one != name
        and (
            _plain(one) == plain
            or difflib.SequenceMatcher(None, _plain(one), plain).ratio() >= _NAMES
        )
    ]


def _plain(name: str) -> str:
    return "".join(_WORD.findall(unicodedata.normalize("NFKC", name).casefold())).replace("_", "")
