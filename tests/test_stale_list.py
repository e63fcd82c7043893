"""The list of stale judgments as its reviewer works through it, held against the whole rule."""

from functools import partial
from random import Random

import pytest

from app.flows import adjudicating, retiring, stale, stale_list
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.labeling import Said
from app.flows.pooling import pool_of
from app.flows.stale import groups, stale_of
from tests.renewing import Desk, rows, text_of

EVERYBODY = 'format = 1\n[roles]\nreviewers = ["ann", "bob", "zoe"]\nadjudicators = ["{}"]\n'


@pytest.fixture
def desk_of(tiny, collection_of):
    return partial(Desk.of, tiny, collection_of)


def bench_of(desk):
    loaded = desk.load()
    return Bench(loaded, pool_of(loaded), Claims())


def ids(found):
    return [one.event.event for one in found]


def decided(desk, chunk="c1"):
    """zoe's decision on a dispute of ann and bob."""
    desk.grade(chunk, 2, "ann")
    desk.grade(chunk, 0, "bob")
    loaded = desk.load()
    (dispute,) = adjudicating.disputes(loaded)
    return adjudicating.decide(loaded, "zoe", dispute, 2, "because").event


# --- Adjudications ----------------------------------------------------------


def test_a_stale_adjudication_alone_is_offered_and_confirmed(desk_of):
    desk = desk_of()
    decision = decided(desk)
    desk.ask("q1", text="Another wording?")
    bench = bench_of(desk)
    assert ids(bench.stale("zoe")) == [decision.event]
    assert bench.turn("zoe", Wish()).stale_in_all == 1
    (event,) = bench.confirm("zoe", bench.stale("zoe")).events
    assert (event.adjudication, event.note) == (True, "because")
    assert bench.stale("zoe") == [] == stale_of(desk.load(), "zoe")


def test_a_stale_adjudication_beside_a_stale_grade_leaves_when_it_is_confirmed(desk_of):
    desk = desk_of()
    decision = decided(desk)
    own = desk.grade("c2", 1, "zoe")
    desk.ask("q1", text="Another wording?")
    bench = bench_of(desk)
    found = bench.stale("zoe")
    assert ids(found) == [decision.event, own.event]
    bench.confirm("zoe", found[:1])
    assert ids(bench.stale("zoe")) == [own.event]
    bench.confirm("zoe", bench.stale("zoe"))
    assert bench.stale("zoe") == []


def test_who_may_adjudicate_no_more_is_not_offered_it(desk_of):
    desk = desk_of()
    decision = decided(desk)
    own = desk.grade("c2", 1, "zoe")
    desk.ask("q1", text="Another wording?")
    bench = bench_of(desk)
    (desk.root / "data/desk.toml").write_text(EVERYBODY.format("ann"))
    assert ids(bench.stale("zoe")) == [own.event]
    (desk.root / "data/desk.toml").write_text(EVERYBODY.format("zoe"))
    assert ids(bench.stale("zoe")) == [decision.event, own.event]


def test_an_adjudication_is_no_work_of_ones_own_and_no_undo_finds_it(desk_of):
    desk = desk_of()
    decision = decided(desk)
    own = bench_of(desk).own("zoe")
    assert not own.fresh and own.last is None and not own.in_force(decision)
    assert own.stale == own.stale_decisions == set()


# --- What a press costs -----------------------------------------------------


def test_a_press_takes_out_what_it_settled_and_looks_for_nothing_again(desk_of, monkeypatch):
    desk = desk_of()
    for number in range(12):
        desk.grade(f"c{number}", 1)
    desk.keep()
    desk.corpus(*rows("9 June"))
    bench = bench_of(desk)
    assert len(bench.stale("ann")) == 12
    monkeypatch.setattr(stale_list, "stale_of", None)
    monkeypatch.setattr(stale, "word_diff", None)
    monkeypatch.setattr(stale, "kept_texts", None)
    bench.confirm("ann", bench.stale("ann")[3:5])
    shown = bench.turn("ann", Wish())
    bench.say("ann", shown.item, Said("grade", 2), stale=shown.stale.event.event)
    again = bench.turn("ann", Wish())
    bench.say("ann", again.item, Said("grade", 0))  # without naming what it replaces
    assert len(bench.stale("ann")) == 8
    assert bench.turn("ann", Wish()).stale_in_all == 8


def test_changes_are_compared_when_shown_and_once(desk_of, monkeypatch):
    desk = desk_of()
    for number in range(4):
        desk.grade(f"c{number}", 1)
    desk.keep()
    desk.corpus(*rows("9 June"))
    compared, diff = [], stale.word_diff
    monkeypatch.setattr(stale, "word_diff", lambda *texts: (compared.append(1), diff(*texts))[1])
    bench = bench_of(desk)
    found = bench.stale("ann")
    assert compared == []
    assert found[2].text_parts and found[2].text_parts == found[2].text_parts
    assert len(compared) == 1
    assert [len(group.items) for group in groups(found)] == [4] and len(compared) == 4
    bench.confirm("ann", found[:1])
    assert [len(group.items) for group in groups(bench.stale("ann"))] == [3]
    assert len(compared) == 4


def test_a_retirement_takes_a_stale_judgment_out(desk_of):
    desk = desk_of()
    desk.grade("c0", 1, kind="cannot-judge", grade=None, reason="broken text")
    own = desk.grade("c1", 1)
    bench = bench_of(desk)
    retiring.retire(desk.load(), "zoe", adjudicating.disputes(desk.load())[0], "broken")
    desk.corpus(*rows("9 June"))
    assert ids(bench_of(desk).stale("ann")) == [own.event]
    assert bench.stale("ann") == []  # it stands on the texts of before


# --- The rule ---------------------------------------------------------------


def changed_corpus(random):
    """Some texts changed, some swapped with others, the rest cut anew."""
    found = rows("9 June", 6)
    random.shuffle(found)
    for record, number in zip(found[:2], random.sample(range(6), 2), strict=True):
        record["text"] = text_of(number)
    both = "\n\n".join(text_of(number) for number in (6, 7))
    return [*found, {"id": "n0", "doc": "d", "cut": "v2", "text": both}]


@pytest.mark.parametrize("seed", [*range(8), 20, 116, 171, 249])
def test_it_is_what_the_whole_rule_gives_after_any_work(desk_of, seed):
    random, desk = Random(seed), desk_of(texts=rows(count=8))
    for number in random.sample(range(8), 7):
        desk.grade(f"c{number}", random.randrange(3))
    desk.keep()
    if seed % 3 == 0:
        desk.corpus(*rows("1 May", 8))
        for number in random.sample(range(8), 3):
            desk.grade(f"c{number}", 1)
        desk.keep()
    desk.corpus(*changed_corpus(random))
    if seed % 4 == 0:
        desk.ask("q1", text="Another wording?")
    bench = bench_of(desk)
    sizes = set()
    for _ in range(10):
        found = bench.stale("ann")
        sizes.add(len(found))
        what = random.choice(["confirm", "say", "say", "link", "undo"])
        if what == "confirm" and found:
            bench.confirm("ann", random.sample(found, 1))
        elif what == "undo" and bench.own("ann").last:
            bench.undo("ann")
        else:
            key = random.choice([*bench.loaded.corpus.eligible])
            turn = bench.turn("ann", Wish("q1", key=key))
            named = random.choice([one.event.event for one in found] or [None])
            named = named if what == "link" else turn.stale and turn.stale.event.event
            bench.say("ann", turn.item, Said("grade", 1), turn.own and turn.own.event, named)
        whole = stale_of(bench.loaded, "ann")
        assert [(one.event.event, one.key, one.suggestions) for one in bench.stale("ann")] == [
            (one.event.event, one.key, one.suggestions) for one in whole
        ]
    assert len(sizes) > 1
