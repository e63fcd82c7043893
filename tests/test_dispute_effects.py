"""What hangs on a dispute: the change of the primary metric between its possible grades."""

from functools import partial
from types import SimpleNamespace

import pytest

from app.flows import dispute_effects
from app.flows.adjudicating import WITH_UNSETTLED, disputes
from app.flows.dispute_effects import by_effect, effects
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from tests.reviewing import filled, read, said
from tests.test_adjudicating import apart, names


@pytest.fixture
def judged(tiny):
    """Builds a tiny workspace from judgments; returns its folder."""
    return partial(filled, tiny)


def run(root):
    index(read(root).collection)
    evaluate(read(root).collection)


def test_the_effect_is_the_change_of_the_primary_metric_between_the_possible_grades(judged):
    root = judged(
        said("ann", "apple", 2), *apart("pear"), *apart("quince", ("ann", 0), ("bob", 1)),
        settings='[scoring]\ncutoffs = [1, 3]\nprimary = "recall@3"\n',
    )  # fmt: skip
    found = disputes(read(root))
    assert effects(read(root), found) == {}
    run(root)
    known = effects(read(root), found)
    # Of two relevant chunks: apple and pear are returned for q1 (both speak of a tree), quince is
    # not, so that recall falls from 1 to 1/2 if it is relevant, and stays 1 if pear is.
    assert {pair[1].split('"')[1]: e.change for pair, e in known.items()} == {"quince": 0.5}
    assert {e.configuration for e in known.values()} == {"sparse"}
    assert names(by_effect(found, known))[0][1] == "pear"  # wider


def test_an_effect_that_turns_nothing_into_something_counts_from_0(judged):
    root = judged(*apart("apple"))
    run(root)
    (effect,) = effects(read(root), disputes(read(root))).values()
    assert effect.change == 1.0


def test_an_unsettled_pair_is_regraded_and_not_counted_twice(judged):
    root = judged(*apart("apple", ("ann", 1), ("bob", 2)))
    run(root)
    found = disputes(read(root), WITH_UNSETTLED)
    # The only relevant chunk: its nDCG is that of its rank, whichever grade it has.
    assert names(found) == [("q1", "apple", "unsettled")] and effects(read(root), found) == {}


def test_of_several_executions_the_largest_effect_counts(judged, monkeypatch):
    root = judged(*apart("apple"))
    (root / "data/desk.duckdb").touch()
    changes = {"one": 0.2, "two": 0.4, "three": 0.3}
    runs = [SimpleNamespace(configuration=name) for name in changes]
    monkeypatch.setattr(dispute_effects, "_newest", lambda *_: runs)
    monkeypatch.setattr(
        dispute_effects, "_changes", lambda store, execution, *_: [changes[execution.configuration]]
    )
    (effect,) = effects(read(root), disputes(read(root))).values()
    assert (effect.change, effect.configuration) == (0.4, "two")


def test_an_execution_on_another_corpus_has_no_effect(judged, edit):
    root = judged(*apart("apple"), said("ann", "pear", 0))
    run(root)
    assert effects(read(root), disputes(read(root)))
    edit(root / "data/tiny/corpus.jsonl", "too hard", "too sour")
    assert effects(read(root), disputes(read(root))) == {}
