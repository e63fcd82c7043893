"""Compare: paired deltas, what differs, and what cannot be compared."""

import json
import shutil

import pytest

from app.core.errors import InvalidInput
from app.engines.store import Store
from app.flows import charts
from app.flows.comparing import compare, find_execution
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.workspace import Workspace


def refused(job, *words):
    with pytest.raises(InvalidInput) as caught:
        job(*words)
    return str(caught.value)


@pytest.fixture(scope="module")
def both(another_runbooks):
    """The runbooks with an execution each of dense and sparse, made once."""
    root = another_runbooks("comparing")
    return root, evaluate(Workspace.at(root).collection("runbooks"), ["dense", "sparse"])


@pytest.fixture
def evaluated(runbooks, both):
    """The runbooks with an execution each of dense and sparse."""
    root, found = both
    shutil.copytree(root, runbooks, dirs_exist_ok=True)
    return Workspace.at(runbooks), *found


def test_deltas_are_candidate_minus_baseline(evaluated):
    workspace, dense, sparse = evaluated
    found = compare(workspace, "dense", "sparse")
    for mean, other in zip(dense.means, sparse.means, strict=True):
        for metric, value in mean.values.items():
            delta = found.delta(mean.k, metric, mean.category)
            if value is None:
                assert delta.n == 0 and delta.delta is None
                continue
            assert (delta.baseline, delta.candidate) == (value, other.values[metric])
            assert delta.delta == pytest.approx(other.values[metric] - value, abs=1e-12)
            assert delta.wins + delta.losses + delta.ties == delta.n == mean.scored


def test_wins_losses_and_ties_per_question(evaluated):
    workspace, dense, sparse = evaluated
    found = compare(workspace, dense.execution.id, sparse.execution.id)
    ndcg = {case.question: case.deltas["ndcg"] for case in found.cases if case.k == 3}
    assert ndcg["restart-recovery"] == 1.0
    assert ndcg["cancel-draining"] == pytest.approx(0.5 - 0.6309298)
    assert ndcg["ingress-timeout"] is None
    overall = found.delta(3, "ndcg")
    assert (overall.n, overall.wins, overall.losses, overall.ties) == (7, 1, 2, 4)
    assert (found.delta(3, "ndcg", "paraphrase").wins, overall.undecided) == (1, 0)


def test_what_was_set_differently(evaluated):
    workspace, _, _ = evaluated
    differs = {name: (a, b) for name, a, b in compare(workspace, "dense", "sparse").differs}
    assert differs["configuration name"] == ("dense", "sparse")
    assert differs["configuration.mode"] == ("dense", "sparse")
    assert differs["embedder.name"] == ("bundled", None)


def test_an_execution_against_one_set_alike_ties_everywhere(evaluated, collection_of):
    workspace, dense, _ = evaluated
    again = evaluate(collection_of(workspace.root), ["dense"])[0]
    found = compare(workspace, dense.execution.id, again.execution.id)
    assert found.differs == () and all(d.delta == 0 for d in found.deltas if d.n)
    assert all(d.ties == d.n and not d.wins + d.losses for d in found.deltas)


def test_an_execution_against_itself_is_refused(evaluated):
    workspace, dense, _ = evaluated
    name = dense.execution.id
    for words in ((name, name), (name, "dense"), ("dense", name[:9])):
        assert refused(compare, workspace, *words) == (
            f'"{words[0]}" and "{words[1]}" are one and the same execution, {name}. '
            "Name two: desk executions."
        )


def test_before_the_first_execution(runbooks):
    assert refused(compare, Workspace.at(runbooks), "dense", "sparse") == (
        "there is no execution yet. Make one: desk evaluate COLLECTION."
    )
    assert not (runbooks / "data/desk.duckdb").exists()


def test_names_of_executions(evaluated):
    workspace, dense, _ = evaluated
    store = Store.at(workspace.store_path)
    name = dense.execution.id
    assert find_execution(store, name[:7]) == find_execution(store, name) == dense.execution
    assert find_execution(store, "dense") == dense.execution
    remedy = "See them: desk executions."
    assert refused(find_execution, store, "nope") == f'there is no execution "nope". {remedy}'
    assert refused(find_execution, store, "") == f'there is no execution "". {remedy}'


def test_a_configuration_means_its_newest_execution(evaluated, collection_of):
    workspace, _, _ = evaluated
    newest = evaluate(collection_of(workspace.root), ["dense"])[0].execution
    assert find_execution(Store.at(workspace.store_path), "dense") == newest


def test_a_beginning_that_several_have(evaluated, collection_of):
    workspace, _, _ = evaluated
    store = Store.at(workspace.store_path)
    ids = set()
    while len({name[0] for name in ids}) == len(ids):  # until two begin alike
        ids.add(evaluate(collection_of(workspace.root), ["sparse"])[0].execution.id)
    first = sorted(ids, key=lambda name: [other[0] for other in ids].count(name[0]))[-1][0]
    assert "executions begin with" in refused(find_execution, store, first)


def test_questions_that_only_one_side_was_asked(evaluated, collection_of):
    workspace, dense, _ = evaluated
    path = workspace.root / "labels/runbooks/questions.jsonl"
    question = {"format": 1, "id": "new", "category": "paraphrase", "text": "What is new?"}
    path.write_text(path.read_text() + json.dumps(question) + "\n")
    newer = evaluate(collection_of(workspace.root), ["sparse"])[0].execution
    found = compare(workspace, dense.execution.id, newer.id)
    assert (found.only_baseline, found.only_candidate) == ((), ("new",))
    swapped = compare(workspace, newer.id, dense.execution.id)
    assert (swapped.only_baseline, swapped.only_candidate) == (("new",), ())
    assert "new" not in {case.question for case in found.cases}


def test_a_reworded_question_is_left_out(evaluated, edit):
    workspace, dense, sparse = evaluated
    edit(workspace.root / "labels/runbooks/questions.jsonl", "Is unfinished work", "Is any work")
    found = compare(workspace, "dense", "sparse")
    assert "restart-recovery" not in {case.question for case in found.cases}
    assert found.delta(3, "ndcg").n == 6
    assert found.baseline.notices == (
        f"restart-recovery was worded otherwise when {dense.execution.id} was run and is left out.",
    )


def test_an_incomplete_execution_is_refused(evaluated, collection_of):
    workspace, dense, _ = evaluated

    def stop(what, done, total):
        raise KeyboardInterrupt

    stopped = evaluate(collection_of(workspace.root), ["sparse"], progress=stop)[0].execution
    assert refused(compare, workspace, dense.execution.id, stopped.id) == (
        f"the execution {stopped.id} is incomplete: a question failed or it was stopped. "
        "Run it again: desk evaluate runbooks --configuration sparse."
    )


def test_another_corpus_revision_is_refused(evaluated, collection_of, edit):
    workspace, dense, sparse = evaluated
    note = workspace.root / "data/runbooks/corpus/batch-worker-draft.md"
    edit(note, "Draft, not agreed", "Draft")
    index(collection_of(workspace.root))
    newer = evaluate(collection_of(workspace.root), ["sparse"])[0].execution
    assert refused(compare, workspace, dense.execution.id, newer.id) == (
        f"{dense.execution.id} and {newer.id} were run on different revisions of the corpus "
        f"({dense.execution.corpus_revision[:12]}, {newer.corpus_revision[:12]}). "
        "Run both again: desk evaluate runbooks."
    )
    assert refused(compare, workspace, dense.execution.id, sparse.execution.id) == (
        f"the execution {dense.execution.id} was run on another revision of the corpus of "
        "runbooks. Run it again: desk evaluate runbooks."
    )


@pytest.fixture
def other(evaluated, tiny):
    """A second collection in the same workspace, indexed; it has the configuration sparse."""
    workspace, _, _ = evaluated
    root = tiny()
    for part in ("data", "labels"):
        (root / part / "tiny").rename(workspace.root / part / "tiny")
    index(workspace.collection("tiny"))
    return workspace.collection("tiny")


def test_a_name_is_that_of_the_first_one_s_collection(evaluated, other):
    workspace, dense, sparse = evaluated
    newer = evaluate(other)[0].execution
    found = compare(workspace, "dense", "sparse")
    assert (found.baseline.execution, found.candidate.execution) == (
        dense.execution, sparse.execution,
    )  # fmt: skip
    store = Store.at(workspace.store_path)
    assert find_execution(store, "sparse") == newer
    assert find_execution(store, "sparse", "runbooks") == sparse.execution


def test_a_name_that_two_collections_have_can_be_told_apart(evaluated, other):
    workspace, dense, sparse = evaluated
    runbooks = workspace.collection("runbooks")
    evaluate(runbooks, ["sparse"])
    newer = evaluate(other)[0].execution
    assert "is of tiny" in refused(compare, workspace, "sparse", dense.execution.id)
    found = compare(workspace, "sparse", "dense", "runbooks")
    assert found.baseline.execution.collection == found.candidate.execution.collection == "runbooks"
    assert found.baseline.execution.id not in (newer.id, sparse.execution.id)
    assert refused(compare, workspace, "sparse", "dense", "none").startswith("there is no collect")


def test_a_name_that_only_another_collection_has(evaluated, other):
    workspace, dense, _ = evaluated
    evaluate(workspace.collection("runbooks"), ["dense"])
    newer = evaluate(other)[0].execution
    sentence = refused(compare, workspace, newer.id, "dense")
    assert "dense" in sentence and "begin with" not in sentence


def test_an_incomplete_execution_is_named_by_its_id_only(evaluated):
    workspace, _, sparse = evaluated

    def stop(what, done, total):
        raise KeyboardInterrupt

    store = Store.at(workspace.store_path)
    runbooks = workspace.collection("runbooks")
    stopped = evaluate(runbooks, ["sparse"], progress=stop)[0].execution
    assert find_execution(store, "sparse") == sparse.execution
    assert find_execution(store, stopped.id) == stopped
    only = evaluate(runbooks, ["hybrid"], progress=stop)[0].execution
    assert find_execution(store, "hybrid") == only  # there is no other, and it says why not
    assert "is incomplete" in refused(compare, workspace, "dense", "hybrid")


def test_another_collection_is_refused(evaluated, other):
    workspace, dense, _ = evaluated
    newer = evaluate(other)[0].execution
    assert refused(compare, workspace, dense.execution.id, newer.id) == (
        f"{dense.execution.id} is of runbooks, {newer.id} of tiny. "
        "Compare executions of one collection."
    )


def test_a_provisional_side_leaves_no_mean_of_differences(tiny, collection_of):
    texts = {"a": "apple and pear", "b": "apple", "c": "pear"}
    root = tiny(texts, {"q1": "apple", "q2": "pear"}, [("q1", "b", 2), ("q2", "c", 2)])
    index(collection_of(root))
    one, two = (evaluate(collection_of(root))[0].execution for _ in range(2))
    found = compare(Workspace.at(root), one.id, two.id)
    delta = found.delta(3, "precision")
    assert found.mean(3, "precision", named=True) == ("0.33-0.67 provisional",) * 2
    (row, _) = charts.category_rows(found, "precision", 3)
    assert (row["side"], row["words"], row["n"]) == ("baseline", "0.33-0.67", 2)
    assert [row["value"], row["most"]] == pytest.approx([1 / 3, 2 / 3])
    (row, _) = charts.category_rows(found, "hit", 3)
    assert (row["value"], row["most"], row["words"]) == (1.0, 1.0, "1.000")
    assert found.mean(3, "precision") == ("0.33-0.67",) * 2
    assert found.mean(3, "hit") == ("1.000", "1.000")
    assert (delta.n, delta.undecided, delta.delta, delta.baseline) == (2, 2, None, None)


def test_a_cutoff_beyond_what_was_searched_is_refused(tiny, collection_of, edit):
    """The ranks of the old execution end at 20, so nothing is known of its first 30."""
    texts = {f"c{n:02}": "apple " * (n + 1) for n in range(40)}
    root = tiny(texts, {"q1": "apple"}, [("q1", "c00", 2)], settings="#")
    index(collection_of(root))
    old = evaluate(collection_of(root))[0].execution
    edit(root / "data/tiny/collection.toml", "#", "[scoring]\ncutoffs = [3, 30]")
    edit(root / "data/tiny/collection.toml", 'mode = "sparse"', 'mode = "sparse"\ndepth = 40')
    new = evaluate(collection_of(root))[0].execution
    assert refused(compare, Workspace.at(root), old.id, new.id) == (
        f"the execution {old.id} kept 20 ranks, too few for K = 30. "
        "Run it again: desk evaluate tiny."
    )
