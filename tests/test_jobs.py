"""Evaluations in the background: their end, their cancel, and what they leave behind."""

import threading

import pytest

from app.core.errors import InvalidInput, NotReady
from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.jobs import Job, Jobs
from app.flows.listing import list_executions
from app.flows.progress import Cancelled
from app.flows.searching import fresh_engine
from app.ui.kept import Kept
from app.workspace import Workspace
from tests.retrievers import Endpoint, external, hits

MANY = {f"q{n:02}": f"Question {n} about apples?" for n in range(40)}
LABELS = (("q00", "apple", 2), ("q01", "pear", 2))


SPARSE_FIRST = '[configurations.pipeline]\nmode = "sparse"\n'


@pytest.fixture
def jobs():
    """Jobs of a process, none of which outlives the test."""
    made, started = Jobs(), []
    begin = Job.begin

    def remembered(job):
        started.append(job)
        begin(job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Job, "begin", remembered)
        yield made
        for job in started:
            job.cancel()
            job.join(20)


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits("apple", "pear"))
    yield made
    made.stop()


class Gate:
    """An engine that lets so many searches through, and says when it holds the next."""

    def __init__(self, free):
        self.free, self.held, self.go = free, threading.Event(), threading.Event()

    def __call__(self, identity, make):
        engine = make()
        search = engine.search_many

        def slow(*words):
            self.free -= 1
            if self.free < 0:
                self.held.set()
                assert self.go.wait(20)
            return search(*words)

        engine.search_many = slow
        return engine


def ended(job, seconds=30):
    job.join(seconds)
    assert job.state != "running"
    return job


def stored(root):
    return [one.execution for one in list_executions(Workspace.at(root))]


def rankings(collection, execution):
    """Question, hits and failure of each; scores to 4 digits, for one and the same search of words
    may differ in the 6th from one filling of the engine to the next.
    """
    found, _ = executions.rankings(Store.at(collection.workspace.store_path), execution)
    return [
        (one.question, [(h.rank, h.key, float(f"{h.score:.4g}")) for h in one.hits], one.failure)
        for one in found
    ]


def kept_of(execution):
    """Provenance without what belongs to one run."""
    return dict(execution.provenance), execution.fingerprint, execution.status


@pytest.mark.parametrize("name", ["dense", "sparse", "hybrid"])
def test_it_is_the_same_as_the_command(runbooks, collection_of, jobs, name):
    kept = Kept()
    for _ in range(2):  # also where the engine is there already
        (one,) = evaluate(collection_of(runbooks), [name])
        job = ended(jobs.start(collection_of(runbooks), [name], kept.engine))
        (found,) = job.evaluations
        assert (job.state, job.problem, job.error) == ("finished", (), None)
        assert (job.what, job.done, job.total) == (f"Searching runbooks with {name}", 9, 9)
        assert kept_of(found.execution) == kept_of(one.execution)
        assert rankings(collection_of(runbooks), found.execution) == rankings(
            collection_of(runbooks), one.execution
        )
        assert found.means == one.means and found.notices == one.notices
        assert [q.values for q in found.scored.questions] == [
            q.values for q in one.scored.questions
        ]


def test_what_another_search_noticed_is_not_told_of_it(indexed, collection_of, jobs, endpoint):
    names = iter("abcdefgh")
    endpoint.say = lambda question, k: hits("apple", pipeline=next(names))
    root = indexed(configurations=external(endpoint=endpoint.url))
    kept = Kept()
    ended(jobs.start(collection_of(root), ["pipeline"], kept.engine))
    (found,) = ended(jobs.start(collection_of(root), ["pipeline"], kept.engine)).evaluations
    assert found.execution.provenance["checks"]["pipelines"] == ["c", "d"]


def test_cancelled_in_the_middle_it_keeps_what_was_searched(indexed, collection_of, jobs):
    root = indexed(questions=MANY, labels=LABELS)
    gate = Gate(7)
    job = jobs.start(collection_of(root), ["sparse"], gate)
    assert gate.held.wait(20)
    assert (job.state, job.done, job.total) == ("running", 7, 40)
    with pytest.raises(NotReady) as caught:
        jobs.start(collection_of(root), ["sparse"])
    assert str(caught.value) == (
        "an evaluation of tiny with sparse runs already. Wait for its end, or stop it."
    )
    jobs.dismiss("tiny")
    assert jobs.of("tiny") is job
    job.cancel()
    gate.go.set()
    (found,) = ended(job).evaluations
    assert job.state == "cancelled" and found.interrupted
    (execution,) = stored(root)
    assert (execution.id, execution.status) == (found.execution.id, "incomplete")
    failures = [failure for _, _, failure in rankings(collection_of(root), execution)]
    assert failures == [None] * 7 + ["not searched: the execution was stopped"] * 33
    job.cancel()  # does no harm
    again = ended(jobs.start(collection_of(root), ["sparse"], resume=True))
    assert again.evaluations[0].execution.provenance["resumed"] == execution.id
    assert again.state == "finished" and again.evaluations[0].execution.status == "complete"
    jobs.dismiss("tiny")
    assert jobs.of("tiny") is None


def test_ctrl_c_of_the_command_keeps_the_same(indexed, collection_of, jobs):
    root = indexed(questions=MANY, labels=LABELS)

    def stop(what, done, total):
        if done == 7:
            raise KeyboardInterrupt

    (one,) = evaluate(collection_of(root), ["sparse"], progress=stop)
    gate = Gate(7)
    job = jobs.start(collection_of(root), ["sparse"], gate)
    assert gate.held.wait(20)
    job.cancel()
    gate.go.set()
    (found,) = ended(job).evaluations
    assert kept_of(found.execution) == kept_of(one.execution)
    assert rankings(collection_of(root), found.execution) == rankings(
        collection_of(root), one.execution
    )
    assert issubclass(Cancelled, KeyboardInterrupt)


@pytest.mark.parametrize("free", [0, None])
def test_before_the_first_answer_nothing_is_stored(indexed, collection_of, jobs, free):
    root = indexed(questions=MANY, labels=LABELS)
    gate = Gate(0)

    def filling(identity, make):
        gate.held.set()
        assert gate.go.wait(20)
        return make()

    job = jobs.start(collection_of(root), ["sparse"], filling if free is None else gate)
    assert gate.held.wait(20)
    assert job.what == "Preparing tiny" and job.total == 0
    job.cancel()
    if free is None:
        ended(job, 5)  # nobody waits for the filling
    gate.go.set()
    ended(job)
    assert (job.state, job.evaluations, job.problem) == ("cancelled", (), ())
    assert stored(root) == []


def test_cancelled_between_two_configurations_the_first_is_kept(indexed, collection_of, jobs):
    two = '[configurations.one]\nmode = "sparse"\n[configurations.two]\nmode = "sparse"\n'
    root = indexed(configurations=two)
    opened = []

    def second(identity, make):
        opened.append(identity)
        if len(opened) == 2:
            jobs.of("tiny").cancel()
        return make()

    job = ended(jobs.start(collection_of(root), ["one", "two"], second))
    assert job.state == "cancelled"
    (found,) = job.evaluations
    assert found.execution.status == "complete" and [e.id for e in stored(root)] == [
        found.execution.id
    ]
    assert "two and what follows it was not run: the evaluation was cancelled." in found.notices


def test_too_late_a_cancel_changes_nothing(indexed, collection_of, jobs, monkeypatch):
    root = indexed()
    real = executions.save

    def late(*words, **more):
        jobs.of("tiny").cancel()
        real(*words, **more)

    monkeypatch.setattr("app.engines.executions.save", late)
    job = ended(jobs.start(collection_of(root), ["sparse"]))
    assert (job.state, job.cancelling) == ("finished", True)
    assert [one.status for one in stored(root)] == ["complete"]


def test_what_fails_is_told(indexed, tiny, collection_of, jobs, monkeypatch):
    root = tiny()
    job = ended(jobs.start(collection_of(root), ["sparse"]))
    assert job.state == "failed" and job.problem == (
        "the collection tiny is not indexed for the configuration sparse. Index it: desk index "
        "tiny.",
    )
    with pytest.raises(InvalidInput):
        jobs.start(collection_of(root), ["none"])

    def broken(*words, **more):
        raise RuntimeError("odd")

    monkeypatch.setattr("app.flows.jobs.evaluate", broken)
    job = ended(jobs.start(collection_of(root), ["sparse"]))
    assert (job.state, job.problem, str(job.error)) == ("failed", (), "odd")


def test_two_collections_at_once(runbooks, indexed, collection_of, jobs):
    root, gates = indexed(), [Gate(1), Gate(1)]
    started = [
        jobs.start(collection_of(where), ["sparse"], gate)
        for where, gate in zip((runbooks, root), gates, strict=True)
    ]
    assert all(gate.held.wait(20) for gate in gates)
    assert [job.state for job in started] == ["running", "running"]
    for gate in gates:
        gate.go.set()
    assert [ended(job).state for job in started] == ["finished", "finished"]
    assert len(stored(runbooks)) == len(stored(root)) == 1


def test_kept_engines_are_those_of_the_pages(indexed, collection_of, jobs):
    root, asked = indexed(), []

    def engine_for(identity, make):
        asked.append(identity)
        return fresh_engine(identity, make)

    ended(jobs.start(collection_of(root), [], engine_for))
    assert len(asked) == 1
