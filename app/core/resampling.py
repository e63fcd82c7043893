"""A number over items with its bootstrap interval, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from app.core.metrics import Floats, Ints

#: Fewer items than this give no interval: resampling so few shows too little spread.
LEAST_ITEMS = 10
RESAMPLES = 1000
_SEED = 20261130
#: The two ends of a 95 % interval.
_ENDS = (2.5, 97.5)
#: Above this share of resamples without a value there is no interval.
_MOST_UNDEFINED = 0.05

FEW = f"an interval needs at least {LEAST_ITEMS} items"
NO_SPREAD = "every resample gives the same value, which says nothing of how sure it is"
OFTEN_UNDEFINED = "too many resamples have no value"


@dataclass(frozen=True, slots=True)
class Figure:
    """A value over `n` items and the ends of its 95 % interval.

    `value` is None where the figure is not defined, and `undefined` says why. `low` and `high` are
    None where there is no interval, and `unsure` says why.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    undefined: str | None = None
    unsure: str | None = None

    @property
    def width(self) -> float | None:
        """High minus low, None without an interval."""
        return None if self.low is None or self.high is None else self.high - self.low


@lru_cache(maxsize=2)
def _draws(times: bytes) -> Floats:
    """How many items of each kind each resample has, [resamples, kinds]; `times` as int64.

    Kept for the figures that follow: several are taken over the same items.
    """
    counts = np.frombuffer(times, dtype=np.int64)
    n = int(counts.sum())
    drawn = np.random.default_rng(_SEED).multinomial(n, counts / n, size=RESAMPLES)
    return drawn.astype(np.float64)


def figure(
    features: Floats,
    times: Ints,
    statistic: Callable[[Floats], Floats],
    undefined: str,
    empty: str,
) -> Figure:
    """A statistic of sums over items, with a percentile interval over resampled items.

    Items of one kind are interchangeable: `features` is [kinds, features], `times` how many items
    are of each kind. `statistic` takes sums of features [samples, features] and gives one value per
    sample, NaN where it is not defined; then `undefined` is the reason, or `empty` without an item.

    The interval is the bootstrap's 2.5th to 97.5th percentile (Efron and Tibshirani, An
    Introduction to the Bootstrap, 1993, chapter 13). Drawing n items with replacement is drawing
    the number of each kind from a multinomial distribution, so its cost does not grow with n. The
    seed is fixed: the same items give the same interval.
    """
    n = int(times.sum())
    if n == 0:
        return Figure(None, 0, undefined=empty)
    value = float(statistic((times @ features)[None])[0])
    if np.isnan(value):
        return Figure(None, n, undefined=undefined)
    if n < LEAST_ITEMS:
        return Figure(value, n, unsure=FEW)
    found = statistic(_draws(times.astype(np.int64).tobytes()) @ features)
    found = found[~np.isnan(found)]
    if len(found) < RESAMPLES * (1 - _MOST_UNDEFINED):
        return Figure(value, n, unsure=OFTEN_UNDEFINED)
    if np.ptp(found) < 1e-12:
        return Figure(value, n, unsure=NO_SPREAD)
    low, high = (float(end) for end in np.percentile(found, _ENDS))
    return Figure(value, n, low, high)
