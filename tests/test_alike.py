"""Questions that ask almost the same: the nearest one, and the nearest one that is answered."""

import pytest

from app.flows import asking
from app.flows.alike import alike, answered_alike
from app.flows.drafts import Draft
from app.flows.loading import load


@pytest.fixture
def now(tiny, collection_of):
    """Loads q1 and q2, each with relevant evidence, as they are now."""
    root = tiny()
    return lambda: load(collection_of(root))


def test_the_nearest_question_is_found_also_where_it_is_retired(now):
    asking.add(now(), "ann", [Draft("Apple tree: when pruned, and by whom?", "general", id="q3")])
    found = alike(now(), "When is the APPLE tree pruned")
    assert (found.question.id, found.retired) == ("q1", False)
    asking.retire(now(), "ann", now().questions["q1"], "asked twice")
    found = alike(now(), "When is the APPLE tree pruned")
    assert (found.question.id, found.retired) == ("q1", True)
    assert alike(now(), "Where do figs grow?") is None and alike(now(), " ") is None


def test_only_another_question_with_relevant_evidence_is_told_of(now):
    asking.add(now(), "ann", [Draft("When are the apple tree pruned?", "general", id="q3")])
    asking.add(now(), "ann", [Draft("What becomes of dried figs?", "general", id="q4")])
    questions = now().questions
    assert answered_alike(now(), questions["q3"]).id == "q1"
    # q3 reads like q1, but has no evidence; and no question is alike to itself.
    assert answered_alike(now(), questions["q1"]) is None
    assert answered_alike(now(), questions["q4"]) is None
