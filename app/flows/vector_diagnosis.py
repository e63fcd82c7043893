"""Why stored vectors are not those the settings say, in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

from app.core.errors import Problem
from app.engines.embedding import Embedder
from app.flows.filling import Target
from app.flows.wording import count

#: Two builds of one model, or one with weights rounded, come to 0.99 and above.
SAME, SAME_WORDS = 0.99, 0.95
#: Wordings tried where the configured one does not fit, so that the right one can be named.
_OTHER = (
    "{text}",
    "{title}\n{text}",
    "{title} {text}",
    "{title}\n\n{text}",
    "passage: {text}",
    "search_document: {text}",
    "title: none | text: {text}",
    "title: {title_or_none} | text: {text}",
)


def damage(target: Target, cosines: Sequence[float]) -> Problem:
    """What is wrong with vectors of ours: they were made by these settings, and changed since."""
    collection, server = target.collection, target.collection.settings.qdrant_url
    differ = sum(cosine < SAME for cosine in cosines)
    what = f"the collection {target.in_qdrant} there" if server else "that folder"
    return Problem(
        f"{differ} of {count(len(cosines), 'stored vector')} of {collection.name} are not those "
        f"{target.configuration.embedder_name} makes of the texts: cosine {min(cosines):.3f} to "
        f"{max(cosines):.3f}",
        str(server or f"data/{collection.name}/vectors"),
        f"They were changed, or made by another build of the model. Remove {what}, then run desk "
        f"index {collection.name}",
    )


def diagnosis(
    cosines: Sequence[float],
    embedder: Embedder,
    template: str,
    again: Callable[[str], list[float]],
) -> tuple[str, str]:
    """What the cosines say, and what to do about it."""
    said = f"{embedder.name} with {template!r}: cosine {min(cosines):.3f} to {max(cosines):.3f}"
    fitting = [cosine >= SAME for cosine in cosines]
    # The sample is ordered by length: where only its tail differs, it is the length that matters.
    if fitting[0] and sum(a != b for a, b in pairwise(fitting)) == 1:
        longest = len(fitting) - sum(fitting)
        return (
            f"{said}. Only the {longest} longest of {len(fitting)} differ: their texts were cut "
            "at another length before they were embedded",
            "Embed them with the same limit, or index shorter chunks",
        )
    tried = {wording: again(wording) for wording in _OTHER if wording != template}
    best = max(tried, key=lambda wording: median(tried[wording]))
    if min(tried[best]) >= SAME:
        return f"{said}. With {best!r} they agree", f"Set document_template = {_toml(best)}"
    if 2 * sum(fitting) >= len(fitting) and min(cosines) < SAME_WORDS:
        return (
            f"{said}. Only {len(fitting) - sum(fitting)} of {len(fitting)} differ: their texts "
            "were changed since, or embedded otherwise",
            "Sync or index again, and embed those anew",
        )
    if median(cosines) >= SAME_WORDS:
        return (
            f"{said}. That is close: another build or rounding of the model, or a wording that "
            "differs a little",
            "Use the build the vectors were made with, or embed the chunks anew",
        )
    return (
        f"{said}. No wording that was tried agrees: another model, or another text than the one "
        "named as text",
        "Correct embedder, document_template or source.fields.text",
    )


def _toml(text: str) -> str:
    return '"' + text.replace("\n", "\\n") + '"'
