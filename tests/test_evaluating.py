"""Evaluate: executions over the runbooks and tiny collections, end to end."""

import json
from dataclasses import replace
from itertools import product
from math import fsum, log2

import duckdb
import httpx
import pytest

from app.core.errors import InvalidInput
from app.flows.evaluating import evaluate, rescore
from app.flows.indexing import index
from app.flows.listing import list_executions
from app.flows.loading import load
from app.workspace import Workspace

RULE = "section-paragraphs-80w-overlap1-v1"
RELEVANT = {
    ("drain-deadline", "worker-shutdown", "shutdown/p0"),
    ("drain-deadline", "worker-shutdown", "shutdown/p1"),
    ("cancel-draining", "worker-shutdown", "shutdown/p1"),
    ("shutdown-sequence", "worker-shutdown", "shutdown/p0"),
    ("shutdown-sequence", "worker-shutdown", "shutdown/p1"),
    ("bounded-producer", "worker-shutdown", "capacity/p0"),
    ("http-pooling", "http-client-lifetime", "clients/p0"),
    ("retry-budget", "http-request-retries", "retries/p0"),
    ("restart-recovery", "durable-work-queue", "recovery/p0"),
}
UNSUPPORTED = ["ingress-timeout", "retention-days"]
OLLAMA = '[configurations.dense]\nembedder = "ollama:embeddinggemma"\n'


def label_lines(root):
    """(question, chunk) -> grade, read from the label file alone."""
    path = root / "labels/runbooks/judgments/sample-reviewer.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {(one["question"], tuple(one["chunk"])): one["grade"] for one in lines}


def plain(ranked, grades, k):
    """Precision, recall, RR and nDCG of grades in rank order, by plain arithmetic."""
    top = ranked[:k]
    hits = [n for n, grade in enumerate(top, start=1) if grade >= 1]
    relevant = sum(1 for grade in grades if grade >= 1)
    gain = fsum((2**g - 1) / log2(n + 1) for n, g in enumerate(top, start=1))
    ideal = sorted(grades, reverse=True)[:k]
    best = fsum((2**g - 1) / log2(n + 1) for n, g in enumerate(ideal, start=1))
    return {
        "precision": len(hits) / k,
        "recall": len(hits) / relevant,
        "rr": 1 / hits[0] if hits else 0.0,
        "ndcg": gain / best,
    }


def test_what_is_published_about_the_runbooks(runbooks, collection_of):
    loaded = load(collection_of(runbooks))
    assert len(loaded.corpus.chunks) == 11 and len(loaded.corpus.eligible) == 7
    relevant = {(q, key.document, key.chunk)
                for q in loaded.questions for key in loaded.labels.relevant(q)}  # fmt: skip
    assert relevant == RELEVANT and {key.version for key in loaded.corpus.chunks} == {RULE}
    unsupported = [q for q, kind in loaded.labels.kinds.items() if kind == "unsupported"]
    assert unsupported == UNSUPPORTED and len(loaded.questions) == 9


def test_every_number_is_plain_arithmetic_on_the_printed_rankings(runbooks, desk):
    grades = label_lines(runbooks)
    answer = desk(runbooks, "evaluate", "runbooks", "--json")
    assert answer.code == 0
    for execution in answer.json["executions"]:
        means = {(m["k"], m["category"]): m for m in execution["means"]}
        for k in (1, 3, 5):
            expected = []
            for one in execution["questions"]:
                if one["k"] != k or one["outcome"] != "scored":
                    continue
                name = one["question"]
                ranked = [grades.get((name, tuple(h["chunk"])), 0) for h in one["ranking"]]
                assert [h["grade"] for h in one["ranking"]] == ranked
                known = [grade for (question, _), grade in grades.items() if question == name]
                wanted = plain(ranked, known, k)
                assert {metric: one[metric] for metric in wanted} == pytest.approx(
                    wanted, abs=1e-12
                )
                expected.append(wanted)
            assert len(expected) == 7
            for metric, name in (("precision",) * 2, ("recall",) * 2, ("rr", "mrr"), ("ndcg",) * 2):
                value = fsum(one[metric] for one in expected) / 7
                assert means[k, None][name] == pytest.approx(value, abs=1e-12)


def test_the_dense_means_of_the_runbooks(runbooks, desk):
    answer = desk(runbooks, "evaluate", "runbooks", "-c", "dense", "--json")
    (execution,) = answer.json["executions"]
    assert (execution["points"], execution["eligible"]) == (11, 7)
    means = {m["k"]: m for m in execution["means"] if m["category"] is None}
    found = {k: [round(m[n], 3) for n in ("precision", "recall", "mrr", "ndcg")]
             for k, m in means.items()}  # fmt: skip
    assert found == {
        1: [0.714, 0.571, 0.714, 0.714],
        3: [0.381, 0.857, 0.786, 0.804],
        5: [0.257, 1.0, 0.814, 0.860],
    }
    attainable = {k: [round(v, 3) for v in m["attainable"].values()] for k, m in means.items()}
    assert attainable == {1: [1.0, 0.857], 3: [0.429, 1.0], 5: [0.257, 1.0]}


def test_unsupported_questions_stand_apart(runbooks, desk):
    (execution,) = desk(runbooks, "evaluate", "runbooks", "-c", "dense", "--json").json[
        "executions"
    ]
    apart = {(one["question"], one["k"]): one for one in execution["unsupported"]}
    assert set(apart) == set(product(UNSUPPORTED, (1, 3, 5)))
    assert all(one["hits"] == k and one["accepted"] is None for (_, k), one in apart.items())
    for one in execution["questions"]:
        if one["question"] in UNSUPPORTED:
            assert (one["outcome"], one["reason"]) == ("not applicable", "unsupported")
            assert one["precision"] is one["ndcg"] is None
    for mean in execution["means"]:
        if mean["category"] is None:
            assert (mean["scored"], mean["answerable"], mean["unsupported"]) == (7, 7, 2)


def test_a_threshold_cuts_hits_and_decides_acceptance(runbooks, desk, edit):
    settings = runbooks / "data/runbooks/collection.toml"
    edit(settings, 'embedder = "bundled"\n\n', 'embedder = "bundled"\nthreshold = 0.51\n\n')
    (execution,) = desk(runbooks, "evaluate", "runbooks", "-c", "dense", "--json").json[
        "executions"
    ]
    apart = {one["question"]: one for one in execution["unsupported"] if one["k"] == 5}
    rejected, accepted = apart["ingress-timeout"], apart["retention-days"]
    # Processors differ in the last of the six digits.
    assert rejected["top_score"] == pytest.approx(0.504775, abs=3e-6)
    assert (rejected["accepted"], rejected["hits"]) == (False, 0)
    assert accepted["accepted"] is True and accepted["hits"] >= 1
    assert accepted["top_score"] >= accepted["threshold"] == 0.51
    scores = [h["score"] for one in execution["questions"] for h in one["ranking"]]
    assert scores and min(scores) >= 0.51


def test_a_pooled_collection_bounds_what_nobody_judged(runbooks, desk, edit):
    settings = runbooks / "data/runbooks/collection.toml"
    edit(settings, 'completeness = "complete"', 'completeness = "pooled"')
    text = settings.read_text().splitlines()
    settings.write_text("\n".join(line for line in text if "complete_as_of" not in line))
    answer = desk(runbooks, "evaluate", "runbooks", "-c", "dense", "--json")
    (execution,) = answer.json["executions"]
    means = {m["k"]: m for m in execution["means"] if m["category"] is None}
    assert means[3]["provisional"] and means[3]["ndcg"] is None
    assert means[3]["unjudged_as_0"]["ndcg"] == pytest.approx(0.804418536)
    chosen = ("drain-deadline", "restart-recovery")
    for one in (q for q in execution["questions"] if q["question"] in chosen):
        assert one["provisional"] == (one["judged"] < 1)
        name, k = one["question"], one["k"]
        known = {c: g for (q, c), g in label_lines(runbooks).items() if q == name}
        hits = [tuple(h["chunk"]) for h in one["ranking"]]
        open_hits = [chunk for chunk in hits if chunk not in known]
        others = 7 - len(known) - len(open_hits)  # eligible chunks that are neither
        found = []
        for grades in product(range(3), repeat=len(open_hits)):
            completed = known | dict(zip(open_hits, grades, strict=True))
            for rest in product(range(3), repeat=others):
                ranked = [completed[chunk] for chunk in hits]
                found.append(plain(ranked, [*completed.values(), *rest], k))
        for metric in ("precision", "recall", "rr", "ndcg"):
            values = [completion[metric] for completion in found]
            assert one["bounds"][metric] == pytest.approx([min(values), max(values)])
            low, high = one["known_bounds"][metric]
            assert low <= one["unjudged_as_0"][metric] + 1e-12 and high <= max(values) + 1e-12


def test_an_execution_with_the_same_fingerprint_is_reused(runbooks, collection_of, edit):
    first = evaluate(collection_of(runbooks), ["sparse"])[0]
    again = evaluate(collection_of(runbooks), ["sparse"], reuse=True)[0]
    assert again.reused and again.execution == first.execution and again.means == first.means
    assert not evaluate(collection_of(runbooks), ["sparse"])[0].reused
    edit(runbooks / "labels/runbooks/questions.jsonl", "Is unfinished", "Is any unfinished")
    assert not evaluate(collection_of(runbooks), ["sparse"], reuse=True)[0].reused


def test_a_split_keeps_only_its_questions_in_the_scores(runbooks, collection_of, edit):
    path = runbooks / "labels/runbooks/questions.jsonl"
    lines = path.read_text().replace('"development"', '"held-out"', 3)
    path.write_text(lines)
    found = evaluate(collection_of(runbooks), ["sparse"], split="held-out")[0]
    assert found.means[0].scored == 3
    assert len({q.question for q in found.scored.questions}) == 3
    again = evaluate(collection_of(runbooks), ["sparse"], reuse=True)[0]
    assert again.reused and again.means[0].scored == 7
    with pytest.raises(InvalidInput) as caught:
        evaluate(collection_of(runbooks), split="test")
    assert str(caught.value) == (
        "no question has the split test. Splits here: development, held-out."
    )


def test_other_cutoffs(runbooks, collection_of):
    found = evaluate(collection_of(runbooks), ["sparse"], cutoffs=[2, 30, 2])[0]
    assert [m.k for m in found.means if m.category is None] == [2, 30]
    assert found.execution.provenance["depth"] == 35
    with pytest.raises(InvalidInput) as caught:
        evaluate(collection_of(runbooks), cutoffs=[0])
    assert str(caught.value) == "K needs whole numbers from 1 to 10000. For example --k 1,3,5."


def test_a_failed_question_makes_the_execution_incomplete(tiny, collection_of, desk, ollama_server):
    root = tiny(configurations=OLLAMA)
    index(collection_of(root))

    def down(path, body):
        if path == "/api/embed" and "dried plums" in body["input"][0]:
            raise httpx.ConnectError("refused")

    ollama_server.fail = down
    answer = desk(root, "evaluate", "tiny", "--json")
    assert answer.code == 2
    (execution,) = answer.json["executions"]
    assert execution["status"] == "incomplete"
    failed = {q["question"]: q for q in execution["questions"] if q["k"] == 1}
    assert failed["q1"]["outcome"] == "scored"
    assert failed["q2"]["outcome"] == "failed" and failed["q2"]["ranking"] == []
    assert failed["q2"]["reason"].startswith("Ollama does not answer at ")
    for mean in execution["means"]:
        assert (mean["failed"], mean["precision"], mean["ndcg"]) == (1, None, None)
    ollama_server.fail = None
    assert not evaluate(collection_of(root), reuse=True)[0].reused


def test_ctrl_c_keeps_what_was_searched(runbooks, collection_of):
    def stop(what, done, total):
        if what.startswith("Searching") and done == 3:
            raise KeyboardInterrupt

    found = evaluate(collection_of(runbooks), progress=stop)
    assert [one.execution.status for one in found] == ["incomplete"]
    outcomes = [q for q in found[0].scored.questions if q.k == 1]
    assert len(outcomes) == 9 and [q.outcome for q in outcomes].count("failed") == 6
    assert {q.reason for q in outcomes if q.outcome == "failed"} == {
        "not searched: the execution was stopped"
    }
    assert found[0].means[0].values["ndcg"] is None
    listed = list_executions(Workspace.at(runbooks))
    assert [one.execution.id for one in listed] == [found[0].execution.id]
    assert evaluate(collection_of(runbooks), ["sparse"])[0].notices == ()


def test_a_hit_outside_the_filter_fails_the_execution(runbooks, collection_of):
    """The engine is real; the filter is lost on the way to it."""

    def without_filter(identity, make):
        engine = make()
        search = engine.search_many
        engine.search_many = lambda one, *words: search(replace(one, filters={}), *words)
        return engine

    found = evaluate(collection_of(runbooks), ["sparse"], engine_for=without_filter)[0]
    assert found.execution.status == "incomplete"
    reasons = [q.reason for q in found.scored.questions if q.outcome == "failed"]
    assert reasons and all(
        reason.startswith("eligibility violation: ")
        and reason.endswith(" but does not pass the filter") for reason in reasons
    )  # fmt: skip


def test_a_changed_label_rescores_the_same_ranking(runbooks, collection_of, edit):
    first = evaluate(collection_of(runbooks), ["dense"])[0]
    path = runbooks / "labels/runbooks/judgments/sample-reviewer.jsonl"
    lines = path.read_text().splitlines()
    recovery = next(line for line in lines if '"question":"restart-recovery"' in line)
    edit(path, recovery, recovery.replace('"grade":2', '"grade":1'))
    second = evaluate(collection_of(runbooks), ["dense"], reuse=True)[0]
    assert second.reused and second.execution.id == first.execution.id
    assert second.label_revision != first.label_revision
    ranked = [[hit.hit for hit in q.ranking] for q in first.scored.questions]
    assert ranked == [[hit.hit for hit in q.ranking] for q in second.scored.questions]
    with duckdb.connect(str(Workspace.at(runbooks).store_path)) as connection:
        assert connection.execute("select count(*) from label_sets").fetchone() == (2,)
        assert connection.execute("select count(*) from executions").fetchone() == (1,)


def test_a_ranking_comes_back_from_the_store_as_it_was_scored(runbooks, collection_of):
    first = evaluate(collection_of(runbooks), ["hybrid"])[0]
    again = rescore(load(collection_of(runbooks)), first.execution, [1, 3, 5])
    assert again.scored.questions == first.scored.questions and again.means == first.means
    rankings = [[one.ranking for one in e.scored.questions] for e in (first, again)]
    assert rankings[0] == rankings[1] and rankings[0][0]


def test_the_optional_checks(runbooks, collection_of, edit):
    edit(runbooks / "data/runbooks/collection.toml", 'mode = "sparse"',
         'mode = "sparse"\nprefix_check = true\nexact_twin = true')  # fmt: skip
    found = evaluate(collection_of(runbooks), ["sparse"])[0]
    checks = found.execution.provenance["checks"]
    assert checks == {
        "prefix": {"differing": []},
        "ann_recall": {"1": 1.0, "3": 1.0, "5": 1.0},
        "ann_recall_n": {"1": 9, "3": 9, "5": 9},
    }
