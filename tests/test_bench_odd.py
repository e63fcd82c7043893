"""Asking for grades when things are not as usual: undo chains, viewers, locks, many names."""

import pytest

from app.core.errors import StoreLocked
from app.flows import labeling
from app.flows.bench import MOST_REVIEWERS, Bench, Wish
from app.flows.claims import Claims
from app.flows.labeling import Said
from app.flows.loading import load
from app.flows.own import Own
from app.flows.pooling import pool_of
from app.ui.kept import Kept
from app.workspace import Workspace
from tests.conftest import judgment, lines_of

LOT = "[queue]\noverlap = 0.0\naudit = 0.0\n"


@pytest.fixture
def workspace(tiny):
    return tiny(labels=[], settings=LOT)


@pytest.fixture
def bench(workspace, collection_of):
    loaded = load(collection_of(workspace))
    return Bench(loaded, pool_of(loaded), Claims())


def test_undo_steps_back_one_grade_also_where_an_earlier_one_was_the_same(bench):
    item = bench.turn("ann", Wish()).item
    last = None
    for grade in (2, 1, 2):
        saved, _ = bench.say("ann", item, Said("grade", grade), last)
        last = saved.event.event
    assert [bench.undo("ann").event.grade for _ in range(3)] == [1, 2, None]
    assert bench.own("ann").last is None


def test_undo_of_lines_of_earlier_versions_goes_on_behind_what_it_brought_back(
    workspace, collection_of
):
    """They did not say what an undo took back."""
    said = [judgment("q1", "apple", grade, n) for n, grade in enumerate((1, 2, 1))]
    said[1]["replaces"], said[2]["replaces"] = "e0", "e1"
    (workspace / "labels/tiny/judgments/ann.jsonl").write_text(lines_of(said))
    loaded = load(collection_of(workspace))
    assert labeling.undo(loaded, Own(loaded, "ann"), "e2").event.kind == "withdraw"


def test_what_was_put_off_can_be_passed_one_by_one(bench):
    while (item := bench.turn("ann", Wish()).item) and not bench.turn("ann", Wish()).put_off:
        bench.say("ann", item, Said("later"))
    passed = []
    for _ in range(8):
        passed.append(bench.turn("ann", Wish(passed=set(passed))).item.pair)
    assert len(set(passed)) == 8


def test_who_only_reads_keeps_no_item_from_who_grades(bench):
    for _ in range(7):
        bench.say("ann", bench.turn("ann", Wish()).item, Said("grade", 1))
    shown = bench.turn("viewer", Wish(holds=False)).item
    assert bench.turn("ann", Wish()).item == shown


def test_a_judgment_that_was_not_blind_says_so_and_spares_nobody_one(bench):
    item = bench.turn("ann", Wish()).item
    saved, _ = bench.say("ann", item, Said("grade", 1), blind=False)
    assert saved.event.blind is False
    count = bench.turn("bob", Wish(item.question, key=item.key)).progress
    assert count.question_settled == 0 and count.left == 8
    assert bench.turn("ann", Wish()).progress.left == 7


def test_names_that_are_no_longer_used_are_forgotten(bench):
    for number in range(MOST_REVIEWERS + 20):
        bench.turn(f"name-{number}", Wish())
    assert len(bench._owns) == MOST_REVIEWERS == len(bench._lists)
    assert bench.turn("name-0", Wish()).item is not None


def test_a_question_that_changed_opens_no_store_for_a_grade(workspace, edit, monkeypatch):
    kept, here = Kept(), Workspace.at(workspace)
    first = kept.bench(here, "tiny", renewed=True)
    edit(workspace / "labels/tiny/questions.jsonl", "When is an", "When is any")

    def locked(_):
        raise StoreLocked("another process holds it", place="data/desk.duckdb")

    monkeypatch.setattr("app.ui.kept.pool_of", locked)
    second = kept.bench(here, "tiny", renewed=False)
    assert second is not first and second.pool.pairs == first.pool.pairs
    assert second.turn("ann", Wish("q1")).item.question_hash == second.loaded.questions["q1"].hash
    assert kept.bench(here, "tiny", renewed=True) is second  # grading goes on
    monkeypatch.undo()
    assert kept.bench(here, "tiny", renewed=True) is second and second.pool.pairs


def test_a_long_look_at_the_sources_is_not_repeated_for_every_grade(workspace, monkeypatch):
    kept, here, looks = Kept(), Workspace.at(workspace), []
    kept.bench(here, "tiny", renewed=True)
    plain = type(here.collection("tiny")).source_signature

    def slow(collection):
        looks.append(1)
        kept._looked["tiny"] = (0.0, 0.0)
        return plain(collection)

    monkeypatch.setattr("app.workspace.Collection.source_signature", slow)
    kept.bench(here, "tiny", renewed=False)
    assert len(looks) == 1  # quick: looked at every time
    monkeypatch.setattr("app.ui.kept._QUICK", -1.0)
    monkeypatch.setattr("app.ui.kept._REST", 1e9)
    kept.bench(here, "tiny", renewed=False)
    for _ in range(5):
        kept.bench(here, "tiny", renewed=False)
    assert len(looks) == 2
    kept.bench(here, "tiny", renewed=True)
    assert len(looks) == 3  # the page itself always looks
