"""The list of questions to pick from: as they stand in the file, or worst first."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.questions import question_hash
from app.engines.store import Store
from app.flows import case_list
from app.flows.case_list import cases, scorable
from app.flows.evaluating import evaluate
from app.flows.listing import list_executions
from app.flows.loading import load
from app.flows.stored_scoring import score_execution
from tests.conftest import judgment, lines_of
from tests.retrievers import Endpoint, Reply, external, hits
from tests.test_pages_retrieve import CRASH, heading, link_of


def newest(loaded):
    """The newest execution of every configuration."""
    found = {}
    for one in list_executions(loaded.collection.workspace, loaded.collection.name):
        found.setdefault(one.execution.configuration, one.execution)
    return found


def ids(found):
    return [one.question for one in found]


@pytest.fixture
def loaded(evaluated, collection_of):
    return load(collection_of(evaluated))


def test_without_an_execution_they_stand_as_in_the_file(loaded):
    found = cases(loaded)
    assert ids(found) == list(loaded.questions)
    assert found[0].words.startswith("drain-deadline: What happens to accepted items")
    some = cases(loaded, "paraphrase")
    assert ids(some) == ["cancel-draining", "restart-recovery"]
    assert cases(loaded, "no such") == []


def test_worst_first_by_the_primary_metric_with_unsupported_ones_last(loaded):
    execution = newest(loaded)["dense"]
    found = cases(loaded, None, execution)
    assert sorted(ids(found)) == sorted(loaded.questions)
    assert found[0].question == "restart-recovery"
    assert found[0].words.startswith("nDCG@3 0.000 · restart-recovery: Is unfinished work")
    assert set(ids(found)[-2:]) == {"ingress-timeout", "retention-days"}
    assert found[-1].words.startswith("unsupported · ")
    scoring = loaded.collection.settings.scoring_settings([3])
    store = Store.at(loaded.collection.workspace.store_path)
    scored = score_execution(store, execution, loaded, scoring)
    values = {one.question: one.values["ndcg"] for one in scored.questions if one.values}
    shown = [values[name] for name in ids(found) if name in values]
    assert len(shown) == 7 and shown == sorted(shown) and shown[0] < shown[-1]
    # A category keeps the order.
    assert ids(cases(loaded, "paraphrase", execution)) == [
        one for one in ids(found) if loaded.questions[one].category == "paraphrase"
    ]


def test_another_grade_counts_at_once(loaded, evaluated, collection_of):
    execution = newest(loaded)["dense"]
    assert cases(loaded, None, execution)[0].question == "restart-recovery"
    path = evaluated / "labels/runbooks/judgments/late.jsonl"
    rule = "section-paragraphs-80w-overlap1-v1"
    text = loaded.questions["restart-recovery"]
    decided = judgment(
        "restart-recovery", "x", 2, 1, author="late", adjudication=True, blind=False,
        note="It says so.", question_hash=question_hash(text.text, text.need, text.facts),
    )  # fmt: skip
    decided["chunk"] = ["worker-shutdown", rule, "shutdown/p0"]
    path.write_text(lines_of([decided]))
    after = load(collection_of(evaluated))
    (now,) = [one for one in cases(after, None, execution) if one.question == "restart-recovery"]
    assert now.words.startswith("nDCG@3 0.613 · ")


def test_failed_ones_come_first_and_what_was_not_asked_not_at_all(indexed, collection_of):
    def say(question, k):
        return Reply({"error": "no"}, 500) if "plums" in question else hits("pear", "apple")

    endpoint = Endpoint(say)
    try:
        root = indexed(
            questions={"q1": "When is an apple tree pruned?", "q2": "What of dried plums?"},
            configurations=external(endpoint=endpoint.url, depth=6),
        )
        evaluate(collection_of(root))
    finally:
        endpoint.stop()
    loaded = load(collection_of(root))
    (execution,) = newest(loaded).values()
    found = cases(loaded, None, execution)
    assert ids(found) == ["q2", "q1"] and found[0].words.startswith("failed · q2: ")
    path = root / "labels/tiny/questions.jsonl"
    new = {"format": 1, "id": "q3", "category": "general", "text": "And quinces?"}
    path.write_text(path.read_text() + lines_of([new]))
    later = load(collection_of(root))
    assert ids(cases(later)) == ["q1", "q2", "q3"]
    assert ids(cases(later, None, execution)) == ["q2", "q1"]


def test_open_pairs_are_shown_as_a_range_and_counted_as_0(indexed, collection_of):
    root = indexed(
        {"a": "apple apple", "b": "apple pear", "c": "apple plum plum plum"},
        {"q1": "apple", "q2": "pear apple"},
        [("q1", "c", 2), ("q2", "b", 2)],
    )
    evaluate(collection_of(root))
    loaded = load(collection_of(root))
    (execution,) = newest(loaded).values()
    first, second = cases(loaded, None, execution)
    assert (first.question, second.question) == ("q1", "q2")
    assert "provisional" in first.words and first.words.startswith("nDCG@3 0.")


def test_only_executions_that_speak_of_this_corpus_and_reach_k(loaded):
    every = list(newest(loaded).values())
    assert len(every) == 3 and scorable(loaded, every) == every
    one = every[0]
    shallow = replace(one, provenance={**one.provenance, "depth": 2})
    assert scorable(loaded, [replace(one, corpus_revision="other"), shallow]) == []
    assert scorable(loaded, [replace(shallow, provenance={**shallow.provenance, "run": "x"})])


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_order_has_each_question_once_and_the_lowest_first(loaded, data):
    """Whatever the scores are, failed and absent ones among them."""
    names = list(loaded.questions)
    execution = newest(loaded)["dense"]
    scoring = loaded.collection.settings.scoring_settings([3])
    real = score_execution(
        Store.at(loaded.collection.workspace.store_path), execution, loaded, scoring
    )
    model = next(one for one in real.questions if one.outcome == "scored")
    made = {}
    for name in data.draw(st.lists(st.sampled_from(names), unique=True)):
        outcome = data.draw(st.sampled_from(["scored", "failed", "not applicable"]))
        value = data.draw(st.floats(0, 1))
        made[name] = replace(
            model, question=name, outcome=outcome, reason="undecided",
            as_zero={**model.as_zero, "ndcg": value},
            values={**model.values, "ndcg": value},
        )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case_list, "_scores", lambda *_: made)
        found = ids(cases(loaded, None, execution))
    assert sorted(found) == sorted(made)
    rank = {"failed": 0, "scored": 1, "not applicable": 2}
    keys = [
        (rank[made[name].outcome], made[name].as_zero["ndcg"] * (made[name].outcome == "scored"))
        for name in found
    ]
    assert keys == sorted(keys)


# --- On page Retrieve ------------------------------------------------------


@pytest.fixture
def retrieve(page):
    return partial(page, "retrieve")


def test_worst_first_begins_with_the_worst_and_steps_through(evaluated, retrieve):
    at = retrieve(question="retry-budget")
    orders = at.selectbox(key="pick-execution")
    assert orders.options[0] == "as in the file" and len(orders.options) == 4
    (dense,) = [one for one in orders.options if one.startswith("worst first in dense, 20")]
    orders.select(dense).run()
    assert heading(at) == CRASH and link_of(at)["question"] == "restart-recovery"
    assert at.button(key="step-previous").disabled
    names = [one.split(": ")[0].split(" · ")[-1] for one in at.selectbox("pick-question").options]
    assert names[0] == "restart-recovery" and len(names) == 9
    for name in names[1:]:
        at.button(key="step-next").click().run()
        assert link_of(at)["question"] == name
    assert at.button(key="step-next").disabled
    at.button(key="step-previous").click().run()
    assert link_of(at)["question"] == names[-2]
    # A link that names order and question opens just that.
    link = link_of(at)
    assert link_of(retrieve(**link)) == link
    at.selectbox(key="pick-execution").select("").run()
    assert link_of(at)["question"] == names[-2] and "execution" not in link_of(at)


def test_a_category_narrows_what_is_picked_from(retrieve):
    at = retrieve(category="paraphrase")
    assert [one.split(":")[0] for one in at.selectbox(key="pick-question").options] == [
        "cancel-draining", "restart-recovery",
    ]  # fmt: skip
    assert link_of(at)["question"] == "cancel-draining"
    at.button(key="step-next").click().run()
    assert heading(at) == CRASH and at.button(key="step-next").disabled
    at.selectbox(key="pick-category").select("technical-term").run()
    assert link_of(at)["question"] == "bounded-producer"


def test_two_executions_of_one_minute_can_be_told_apart(evaluated, retrieve, collection_of):
    evaluate(collection_of(evaluated), ["sparse"])
    evaluate(collection_of(evaluated), ["sparse"])
    loaded = load(collection_of(evaluated))
    listed = list_executions(loaded.collection.workspace, "runbooks")
    sparse = [one.execution.id for one in listed if one.execution.configuration == "sparse"]
    assert len(sparse) == 3
    for name in sparse:
        at = retrieve(execution=name)
        assert link_of(at)["execution"] == name
        assert len(set(at.selectbox(key="pick-execution").options)) == 6
