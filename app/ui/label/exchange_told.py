"""What an import would do, or did, in the words of the page."""

from __future__ import annotations

import re

from app.core.scale import OURS, scale_words
from app.flows.exchange.importing import Options
from app.flows.exchange.outcome import Outcome, counts_text
from app.flows.exchange.uploading import Kind
from app.flows.wording import count
from app.ui import text
from app.ui.label.exchange_options import FIELDS

#: Refused rows, and names, that are told one by one.
_MOST, _MOST_NAMES = 50, 12
_OPTION = re.compile(r"--(" + "|".join(FIELDS) + r")\b")


def on_page(words: str) -> str:
    """A sentence with the fields of this page where it names options of the command."""
    return _OPTION.sub(lambda found: f"“{FIELDS[found[1]]}”", words)


def outcome(found: Outcome, kind: Kind, options: Options) -> None:
    """Rows in and out, the mapping of grades, whose labels, and every refused row."""
    text.section("What it would do")
    text.plain(counts_text(found) + ".")
    if kind == "labels":
        _labels(found, options)
    for note in found.notes:
        text.notice(on_page(note))
    problems = found.refused.problems
    if not problems:
        return
    text.section(f"{count(len(found.refused), 'row')} refused")
    rows = [[one.place, one.message, on_page(one.remedy)] for one in problems[:_MOST]]
    text.table(["Where", "What is wrong", "What to do"], rows, frozenset({1, 2}))
    if len(problems) > _MOST:
        text.notice(f"And {len(found.refused) - _MOST:,} more.")


def _labels(found: Outcome, options: Options) -> None:
    """On which scale the grades are read, and under whose names the labels come."""
    mapped = "Grades as they are" if options.grades is None else "Grades mapped"
    text.notice(f"{mapped}: {scale_words(OURS if options.grades is None else options.grades)}.")
    if not found.authors:
        return
    names = [f"{name} {number:,}" for name, number in found.authors.most_common(_MOST_NAMES)]
    more = len(found.authors) - _MOST_NAMES
    rest = f" and {more:,} more" if more > 0 else ""
    text.notice(
        f"Under the names of: {', '.join(names)}{rest}. A name in the file is kept; where it names "
        f"nobody, the label is that of “{options.reviewer}”. Yours is not used unless it is there."
    )


def done(found: Outcome, kind: Kind) -> str:
    """What an import came to, or that it wrote nothing."""
    if not found.written:
        return (
            f"Nothing was written: {count(len(found.refused), 'row')} of {found.source} refused "
            "meanwhile."
        )
    what = "label" if kind == "labels" else "question"
    out = f", {count(len(found.refused), 'refused row')} left out" if found.refused.lines else ""
    return f"Imported {count(found.new, what)} of {found.source}{out}."
