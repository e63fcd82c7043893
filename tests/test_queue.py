"""Which pairs need a judgment, and in what order a reviewer is asked for them."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.coverage import Standing
from app.core.queue import Draw, missing

TEXTS = [f"text {number}" for number in range(8)]
PAIRS = [(f"q{q}", f"t{t}") for q in range(50) for t in range(40)]


@given(st.permutations(TEXTS))
def test_the_order_does_not_depend_on_the_order_before(texts):
    assert Draw().shuffled("ann", "q1", texts) == Draw().shuffled("ann", "q1", TEXTS)


def test_the_order_is_another_for_every_reviewer_question_and_seed():
    orders = [
        Draw(seed).shuffled(who, name, TEXTS)
        for seed in (0, 1) for who in ("ann", "bob") for name in ("q1", "q2")
    ]  # fmt: skip
    assert len({tuple(order) for order in orders}) == 8
    assert all(sorted(order) == TEXTS and order != TEXTS for order in orders)


def test_the_order_is_the_same_on_every_machine():
    assert Draw().shuffled("ann", "q1", "abcdef") == ["e", "f", "b", "a", "d", "c"]


@given(st.sets(st.sampled_from(TEXTS)))
def test_what_is_left_keeps_its_order(texts):
    whole = Draw().shuffled("ann", "q1", TEXTS)
    assert Draw().shuffled("ann", "q1", texts) == [one for one in whole if one in texts]


def test_the_shares_are_drawn_by_lot_from_the_seed():
    draw = Draw(seed=3, overlap=0.2, audit=0.05)
    two = {pair for pair in PAIRS if draw.needed(pair) == 2}
    audited = {pair for pair in PAIRS if draw.audited(pair)}
    assert 0.17 < len(two) / len(PAIRS) < 0.23 and 0.03 < len(audited) / len(PAIRS) < 0.07
    assert 0 < len(two & audited) < len(audited)  # two lots, not one
    assert two == {pair for pair in PAIRS if Draw(3).needed(pair) == 2}
    assert two != {pair for pair in PAIRS if Draw(4).needed(pair) == 2}


def test_a_larger_share_keeps_what_a_smaller_one_drew():
    small = {pair for pair in PAIRS if Draw(overlap=0.1).needed(pair) == 2}
    large = {pair for pair in PAIRS if Draw(overlap=0.5).needed(pair) == 2}
    assert small < large


def test_no_share_and_the_whole():
    assert {Draw(overlap=0).needed(pair) for pair in PAIRS} == {1}
    assert {Draw(overlap=1).needed(pair) for pair in PAIRS} == {2}
    assert not any(Draw(audit=0).audited(pair) for pair in PAIRS)


def standing(**who):
    """Who does what to a pair: `ann="graded"`."""
    return Standing({(name, "q", "t", False): does for name, does in who.items()})


def test_how_many_judgments_are_missing():
    one, two = standing(ann="graded"), standing(ann="graded", bob="graded")
    assert [missing(Standing(), n) for n in (1, 2)] == [1, 2]
    assert [missing(one, n) for n in (1, 2)] == [0, 1]
    assert missing(two, 1) == 0
    assert missing(standing(ann="decided"), 2) == 0
    # Who cannot judge leaves the grade to somebody else; two of them leave it to the adjudicator.
    assert missing(standing(ann="unable"), 1) == 1
    assert missing(standing(ann="unable", bob="unable"), 1) == 0
    assert missing(standing(ann="unable", bob="unable", cid="graded"), 2) == 1
    assert missing(standing(ann="stale"), 1) == 1
