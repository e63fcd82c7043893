"""Which disputes a viewer has still to judge."""

from __future__ import annotations

from collections.abc import Sequence

from app.flows.adjudicating import Dispute
from app.flows.loading import Loaded
from app.flows.sight import Sight


def unjudged_by(loaded: Loaded, viewer: str, found: Sequence[Dispute]) -> set[tuple[str, str]]:
    """The disputes, by identity, of pairs the viewer could still judge: what others gave would
    sway that judgment.

    Those with a stale judgment of the viewer's are among them, for it is to be given again. Raises
    InvalidInput where a line of the viewer's ledger cannot be read.
    """
    sight = Sight(loaded)
    judged = sight.judged(viewer, {one.question for one in found})
    return {one.identity for one in found if not sight.open(one.judgments) <= judged}
