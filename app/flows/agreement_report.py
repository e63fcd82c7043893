"""Agreement in words, as text for the terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import numpy as np

from app.core.agreement import LEVELS
from app.core.resampling import LEAST_ITEMS, Figure
from app.flows.agreeing import Agreement, Between, Firsts, Group, OneReviewer
from app.flows.contract import FORMAT
from app.flows.wording import count, number, signed, table

#: Fewer items than this, or an interval wider than that, are told as what they are.
SMALL, WIDE = 50, 0.3
#: Why a figure is not told in a grid, where it would be read at a glance and without its interval.
TOO_FEW = "too few items for a figure"


def interval_words(figure: Figure, words: Any = number) -> str:
    """The value with its interval, or why there is none: `0.800 (0.470 to 0.952)`."""
    if figure.value is None:
        return TOO_FEW if figure.undefined == TOO_FEW else f"not defined: {figure.undefined}"
    if figure.low is None or figure.high is None:
        return f"{words(figure.value)} (no interval: {figure.unsure})"
    return f"{words(figure.value)} ({words(figure.low)} to {words(figure.high)})"


def brief(figure: Figure) -> str:
    """The same for a table, where there is no room for reasons."""
    if figure.value is None:
        return "not defined"
    if figure.low is None or figure.high is None:
        return f"{number(figure.value)} (no interval)"
    return interval_words(figure)


def same_grade(firsts: Firsts, category: str | None = None) -> str:
    """On how many items everybody who graded them gave the same grade, in a sentence.

    Items are those that two or more reviewers graded, of one category where it is named; empty
    where there is none.
    """
    table = firsts.table
    if category is not None:
        table = table[np.array([one == category for one in firsts.categories], dtype=np.bool_)]
    graded = table[(~np.isnan(table)).sum(axis=1) > 1]
    if not (n := len(graded)):
        return ""
    same = int((np.nanmax(graded, axis=1) == np.nanmin(graded, axis=1)).sum())
    of = f" of the category {category}" if category else ""
    return (
        f"Reviewers gave the same grade on {same:,} of {count(n, 'item')}{of} "
        f"({100 * same / n:.1f} %)."
    )


def headline(found: Agreement) -> str:
    """Krippendorff's alpha with n and interval, in a sentence."""
    figure = found.whole.alphas["ordinal"]
    of = f" in the category {found.category}" if found.category else ""
    who = count(len(found.reviewers), "reviewer")
    if figure.value is None:
        what = "Krippendorff's alpha (ordinal)" if figure.n else "How far reviewers agree"
        return f"{what}{of} is not defined: {figure.undefined} (n {figure.n:,})."
    return (
        f"Krippendorff's alpha (ordinal){of}: {interval_words(figure)}, n {figure.n:,} items that "
        f"two or more of {who} graded blind."
    )


def meaning(found: Agreement) -> tuple[str, ...]:
    """What the headline says and what it does not, and whether n is small."""
    figure = found.whole.alphas["ordinal"]
    if figure.value is None:
        return (
            "Agreement needs items that two reviewers graded blind, and more than one grade. Let a "
            "second reviewer grade some of the same chunks on page Label.",
        )
    small = figure.n < SMALL or (figure.width is not None and figure.width > WIDE)
    return (
        *(
            [
                f"n {figure.n:,} is small for this: take the interval for what is known, not the "
                "value."
            ]
            if small
            else []
        ),
        "1 would be equal grades everywhere, 0 is what chance gives with grades used as often as "
        "here; 0 beside 2 weighs more than 0 beside 1.",
        "It does not say who is right, nor how sure a score is, and there is no value it must "
        "reach: people who know their subject differ about relevance, so do not promise 0.8. Read "
        "the items behind the figures; what settles them belongs into the guidelines.",
    )


def stands_apart(reviewers: Sequence[OneReviewer]) -> str | None:
    """Who agrees less with all others than half of the others do, beyond the interval; or None."""
    known = [one for one in reviewers if one.with_others.low is not None]
    if len(known) < 3:
        return None
    last = min(known, key=lambda one: one.with_others.value or 0.0)
    rest = median(one.with_others.value or 0.0 for one in known if one is not last)
    if last.with_others.high is None or last.with_others.high >= rest:
        return None
    return (
        f"{last.name} stands apart: quadratic kappa with all others "
        f"{interval_words(last.with_others)}, n {last.with_others.n:,}, where the middle of the "
        f"other reviewers is {number(rest)}."
    )


def left_out_words(found: Agreement) -> str:
    """What is not in the figures, in a sentence; empty where nothing is left out."""
    parts = [f"{n:,} {why}" for why, n in found.left_out.items()]
    if found.once:
        parts.append(f"{count(found.once, 'item')} only one reviewer judged")
    if cannot := sum(one.cannot for one in found.reviewers):
        parts.append(f"cannot judge {count(cannot, 'time')}")
    if found.alone:
        parts.append(f"all of {', '.join(found.alone)}, who share no item with anybody")
    return f"Not counted: {'; '.join(parts)}." if parts else ""


def group_rows(groups: Sequence[Group]) -> list[list[str]]:
    """Per group its n, alpha (ordinal, nominal, interval), percent and overlap.

    Below 10 items there is n alone, and that they are too few.
    """
    return [
        [one.category or "all", f"{n:,}", "too few", "", "", "", ""]
        if (n := one.alphas["ordinal"].n) < LEAST_ITEMS
        else [
            one.category or "all",
            f"{n:,}",
            brief(one.alphas["ordinal"]),
            number(one.alphas["nominal"].value),
            number(one.alphas["interval"].value),
            brief(one.percent),
            brief(one.overlap),
        ]
        for one in groups
    ]


GROUP_HEADER = (
    "category", "n", "alpha ordinal (95 %)", "nominal", "interval", "equal grades (95 %)",
    "overlap of relevant (95 %)",
)  # fmt: skip
REVIEWER_HEADER = (
    "reviewer", "n", "quadratic kappa with all others (95 %)", "bias in grades (95 %)",
    "cannot judge",
)  # fmt: skip
PAIR_HEADER = (
    "reviewers", "n", "nominal", "linear", "quadratic (95 %)", "equal grades",
    "relevant to both / either", "grades",
)  # fmt: skip


def reviewer_rows(reviewers: Sequence[OneReviewer]) -> list[list[str]]:
    """Per reviewer n, agreement with all others, signed bias and how often they could not judge."""
    return [
        [
            one.name,
            f"{one.with_others.n:,}",
            brief(one.with_others),
            interval_words(one.bias, signed),
            f"{one.cannot:,}",
        ]
        for one in reviewers
    ]


def pair_rows(between: Sequence[Between]) -> list[list[str]]:
    """Per two reviewers n, the kappas, equal grades, the overlap and the matrix row by row."""
    return [
        [
            f"{one.first}, {one.second}",
            f"{one.n:,}",
            number(one.kappas["nominal"].value),
            number(one.kappas["linear"].value),
            brief(one.kappas["quadratic"]),
            number(one.percent.value),
            f"{one.both:,} / {one.either:,}",
            " | ".join(" ".join(map(str, row)) for row in one.matrix.tolist()),
        ]
        for one in between
    ]


def as_text(found: Agreement) -> str:
    """The answer of `desk agreement` on a terminal."""
    parts = [f"{found.collection}: {headline(found)}", *meaning(found)]
    parts += [
        sentence for sentence in (left_out_words(found), stands_apart(found.reviewers)) if sentence
    ]
    groups = (found.whole, *found.categories)
    parts += ["", table(GROUP_HEADER, group_rows(groups), frozenset({1, 3, 4}))]
    if found.reviewers:
        parts += ["", table(REVIEWER_HEADER, reviewer_rows(found.reviewers), frozenset({1, 4}))]
    if found.between:
        parts += ["", table(PAIR_HEADER, pair_rows(found.between), frozenset({1, 2, 3, 5, 6}))]
        parts.append("grades: rows are those of the first reviewer, columns of the second, from 0.")
    return "\n".join(parts)


def as_json(found: Agreement) -> dict[str, Any]:
    """The answer of `desk agreement --json`."""
    return {
        "format": FORMAT,
        "collection": found.collection,
        "category": found.category,
        "since": found.since,
        "judged_once": found.once,
        "alone": list(found.alone),
        "left_out": dict(found.left_out),
        "groups": [_group(one) for one in (found.whole, *found.categories)],
        "reviewers": [
            {
                "reviewer": one.name,
                "with_others": _figure(one.with_others),
                "bias": _figure(one.bias),
                "cannot_judge": one.cannot,
            }
            for one in found.reviewers
        ],
        "pairs": [
            {
                "reviewers": [one.first, one.second],
                "matrix": one.matrix.tolist(),
                "kappa": {weights: _figure(figure) for weights, figure in one.kappas.items()},
                "percent": _figure(one.percent),
                "overlap": {**_figure(one.overlap), "both": one.both, "either": one.either},
            }
            for one in found.between
        ],
    }


def _group(one: Group) -> dict[str, Any]:
    return {
        "category": one.category,
        "alpha": {level: _figure(one.alphas[level]) for level in LEVELS},
        "percent": _figure(one.percent),
        "overlap": _figure(one.overlap),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "value": figure.value,
        "n": figure.n,
        "low": figure.low,
        "high": figure.high,
        "not_defined": figure.undefined,
        "no_interval": figure.unsure,
    }
