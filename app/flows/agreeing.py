"""Agreement of a collection's reviewers, computed on their blind first judgments.

An item is one text under one question as both read when they were judged: two judgments are of one
item only if their text hashes and question hashes are equal, whether or not they are stale now.
Adjudications and judgments given while not blind are left out, and so are those given again.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from app.core import agreement as measures
from app.core.agreement import LEVELS, WEIGHTS, Level, Weights
from app.core.judgments import Judgment
from app.core.metrics import Flags, Floats, Ints
from app.core.resampling import LEAST_ITEMS, Figure
from app.flows.agreeing_firsts import Item, first_of_each
from app.flows.loading import Loaded

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, eq=False)
class Firsts:
    """The blind first judgments of items that two or more reviewers judged.

    `table` is [items, reviewers] of grades, NaN where there is no grade; `given` has the judgments
    behind it and the `cannot judge`, by row and column. `cannot` counts those per reviewer, `alone`
    are reviewers without a shared item, `once` the number of items only one reviewer judged.
    `left_out` is how many judgments do not count, by the reason.
    """

    items: tuple[Item, ...]
    reviewers: tuple[str, ...]
    table: Floats
    given: Mapping[tuple[int, int], Judgment]
    categories: tuple[str, ...]
    cannot: Mapping[str, int]
    alone: tuple[str, ...]
    once: int
    left_out: Mapping[str, int]
    days: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of all items, or of those of one category."""

    category: str | None
    alphas: Mapping[Level, Figure]
    percent: Figure
    overlap: Figure


@dataclass(frozen=True, slots=True, eq=False)
class Between:
    """The figures of two reviewers; `matrix` has the grades of the first as rows.

    `both` and `either` count the items relevant to both and to either.
    """

    first: str
    second: str
    matrix: Ints
    kappas: Mapping[Weights, Figure]
    percent: Figure
    overlap: Figure
    both: int
    either: int

    @property
    def n(self) -> int:
        """Items both graded."""
        return int(self.matrix.sum())


@dataclass(frozen=True, slots=True)
class OneReviewer:
    """The figures of one reviewer beside all others; `cannot` counts `cannot judge`."""

    name: str
    with_others: Figure
    bias: Figure
    cannot: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the reviewers agree; reviewers by their agreement with the others, best first."""

    collection: str
    category: str | None
    since: str | None
    whole: Group
    categories: tuple[Group, ...]
    between: tuple[Between, ...]
    reviewers: tuple[OneReviewer, ...]
    alone: tuple[str, ...]
    once: int
    left_out: Mapping[str, int]

    def pair(self, first: str, second: str) -> Between:
        """The figures of two reviewers, in whichever order they are named."""
        names = {first, second}
        return next(one for one in self.between if {one.first, one.second} == names)


def first_judgments(loaded: Loaded, since: str | None = None) -> Firsts:
    """The blind first judgments in force, from the ledger.

    A judgment that was changed counts as it was first given; one that was taken back does not
    count, nor does one given again after the text or the question changed. `since` is a day,
    `2026-11-30` (UTC): earlier ones are left out. Raises InvalidInput where a line of the ledger
    cannot be read.
    """
    found, left_out = first_of_each(loaded, loaded.collection.ledger.read().events)
    days = sorted({e.time[:10] for e in found.values() if _DAY.match(e.time)}, reverse=True)
    if since is not None:
        kept = {about: e for about, e in found.items() if e.time[:10] >= since}
        left_out[f"given before {since}"] = len(found) - len(kept)
        found = kept
    by_item: dict[Item, list[Judgment]] = {}
    for (_, item), event in found.items():
        by_item.setdefault(item, []).append(event)
    shared = {item: given for item, given in by_item.items() if len(given) > 1}
    order = {name: n for n, name in enumerate(loaded.questions)}
    items = sorted(shared, key=lambda item: (order[item[0]], str(item[1]), item[2]))
    reviewers = sorted({event.author for given in shared.values() for event in given})
    column = {name: n for n, name in enumerate(reviewers)}
    table = np.full((len(items), len(reviewers)), np.nan)
    given = {}
    for row, item in enumerate(items):
        for event in shared[item]:
            given[row, column[event.author]] = event
            if event.kind == "grade":
                table[row, column[event.author]] = event.value
    return Firsts(
        items=tuple(items),
        reviewers=tuple(reviewers),
        table=table,
        given=given,
        categories=tuple(loaded.questions[item[0]].category for item in items),
        cannot=Counter(author for (author, _), e in found.items() if e.kind == "cannot-judge"),
        alone=tuple(sorted({author for author, _ in found} - set(reviewers))),
        once=len(by_item) - len(shared),
        left_out={why: n for why, n in left_out.items() if n},
        days=tuple(days),
    )


def agreement(
    loaded: Loaded, firsts: Firsts, category: str | None = None, since: str | None = None
) -> Agreement:
    """All figures over the items of `firsts`, of one category where it is named."""
    threshold = loaded.collection.settings.scoring_settings().threshold
    names = np.array(firsts.categories, dtype=object)
    chosen = np.ones(len(names), dtype=np.bool_) if category is None else names == category
    table = firsts.table[chosen]
    reviewers = [
        OneReviewer(
            name,
            measures.kappa_with_others(table, column, "quadratic"),
            measures.bias(table, column),
            firsts.cannot.get(name, 0),
        )
        for column, name in enumerate(firsts.reviewers)
    ]
    reviewers.sort(key=_rank)
    column_of = {name: n for n, name in enumerate(firsts.reviewers)}
    groups = dict.fromkeys(firsts.categories) if category is None else {}
    return Agreement(
        collection=loaded.collection.name,
        category=category,
        since=since,
        whole=_group(category, table, threshold),
        categories=tuple(_group(n, firsts.table[_of(names, n)], threshold) for n in groups),
        between=tuple(
            _between(first.name, second.name, table, column_of, threshold)
            for first, second in combinations(reviewers, 2)
        ),
        reviewers=tuple(reviewers),
        alone=firsts.alone,
        once=firsts.once,
        left_out=firsts.left_out,
    )


def _of(names: np.ndarray[tuple[int], np.dtype[np.object_]], category: str) -> Flags:
    found: Flags = names == category
    return found


def _rank(one: OneReviewer) -> tuple[bool, float, str]:
    """Who agrees most with all others first; who has too few items to tell, last."""
    figure = one.with_others
    known = figure.value is not None and figure.n >= LEAST_ITEMS
    return not known, -(figure.value or 0.0), one.name


def _group(category: str | None, table: Floats, threshold: int) -> Group:
    return Group(
        category,
        {level: measures.alpha(table, level) for level in LEVELS},
        measures.percent(table),
        measures.overlap(table, threshold),
    )


def _between(
    first: str, second: str, table: Floats, column_of: Mapping[str, int], threshold: int
) -> Between:
    one, other = table[:, column_of[first]], table[:, column_of[second]]
    matrix = measures.confusion(one, other)
    both, either, overlap = measures.overlap_between(matrix, threshold)
    return Between(
        first,
        second,
        matrix,
        {weights: measures.kappa(matrix, weights) for weights in WEIGHTS},
        measures.percent_between(matrix),
        overlap,
        both,
        either,
    )
