"""What reviewers are asked for, one at a time and many at once."""

import json
import threading

import pytest

from app.core.coverage import Pair
from app.core.errors import InvalidInput, LabelConflict
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.evaluating import evaluate
from app.flows.labeling import Said
from app.flows.listing import list_executions
from app.flows.loading import load
from app.flows.pooling import Pool, Work, deciding_pairs, pool_of
from app.workspace import Workspace
from tests.conftest import judgment

GRADE = Said("grade", 1)
NO_LOT = "[queue]\noverlap = 0.0\naudit = 0.0\n"


@pytest.fixture
def bench_of(tiny, collection_of):
    """A bench over a tiny workspace, all of whose pairs are to be judged; and its folder."""

    def build(labels=(), settings=NO_LOT, **more):
        root = tiny(labels=labels, settings=settings, **more)
        loaded = load(collection_of(root))
        return Bench(loaded, pool_of(loaded), Claims()), root

    return build


def work(bench, reviewer, times, **wish):
    """Grade some items one after the other; returns (question, chunk) of each."""
    seen = []
    for _ in range(times):
        item = bench.turn(reviewer, Wish(**wish)).item
        if item is None:
            break
        seen.append((item.question, item.key.chunk))
        bench.say(reviewer, item, GRADE)
    return seen


def test_all_chunks_of_a_question_come_together_each_once(bench_of):
    bench, _ = bench_of()
    seen = work(bench, "ann", 99)
    assert len(seen) == len(set(seen)) == 8
    assert len({question for question, _ in seen[:4]}) == 1


def test_two_reviewers_share_the_work(bench_of):
    bench, _ = bench_of()
    seen = work(bench, "ann", 3) + work(bench, "bob", 3) + work(bench, "ann", 9)
    assert len(seen) == len(set(seen)) == 8
    assert bench.turn("bob", Wish()).item is None
    count = bench.turn("bob", Wish()).progress
    assert (count.settled, count.total, count.mine, count.left) == (8, 8, 3, 0)


def test_an_overlap_asks_two_for_each_pair(bench_of):
    bench, _ = bench_of(settings="[queue]\noverlap = 1.0\naudit = 0.0")
    assert len(work(bench, "ann", 99)) == len(work(bench, "bob", 99)) == 8
    assert work(bench, "cid", 99) == []
    first = bench.turn("cid", Wish())
    assert first.item is None and not first.blocked and first.progress.settled == 8


def test_an_audit_draws_judged_pairs_once_more_and_last(bench_of):
    bench, _ = bench_of(settings="[queue]\noverlap = 0.0\naudit = 1.0")
    half = work(bench, "ann", 4)
    rest = work(bench, "bob", 99)
    assert len(rest) == 8 and set(rest[4:]) == set(half)
    assert len(work(bench, "ann", 99)) == 4  # what bob judged first
    assert work(bench, "cid", 99) == []


def test_what_is_on_another_screen_does_not_come(bench_of):
    bench, _ = bench_of(texts={"apple": "An apple."}, questions={"q1": "What?"})
    shown = bench.turn("ann", Wish()).item
    second = bench.turn("bob", Wish())
    assert shown is not None and second.item is None and second.blocked
    third = bench.turn("bob", Wish(scope="all"))
    assert third.item == shown  # a second opinion may be given at once
    bench.say("ann", shown, GRADE)
    assert not bench.turn("bob", Wish()).blocked


def test_what_was_left_on_a_screen_is_free_after_a_while():
    now = [0.0]
    claims = Claims(lambda: now[0])
    pair: Pair = ("q", "t")
    claims.hold("ann", pair)
    assert (claims.others("bob", pair), claims.others("ann", pair)) == (1, 0)
    now[0] = 200.0
    assert claims.others("bob", pair) == 0
    claims.hold("ann", pair)
    claims.hold("ann", ("q", "other"))
    assert claims.others("bob", pair) == 0


def test_what_was_put_off_comes_last(bench_of):
    bench, _ = bench_of()
    first = bench.turn("ann", Wish()).item
    bench.say("ann", first, Said("later"))
    assert bench.turn("ann", Wish()).progress.left == 8
    seen = work(bench, "ann", 7)
    assert (first.question, first.key.chunk) not in seen
    last = bench.turn("ann", Wish())
    assert last.item == first and last.put_off
    bench.say("ann", first, GRADE)
    assert bench.turn("ann", Wish()).item is None


def test_unable_to_judge_leaves_the_pair_to_another(bench_of):
    bench, _ = bench_of(texts={"apple": "An apple."}, questions={"q1": "What?"})
    unable = Said("cannot-judge", reason="broken text")
    bench.say("ann", bench.turn("ann", Wish()).item, unable)
    assert bench.turn("ann", Wish()).item is None
    bench.say("bob", bench.turn("bob", Wish()).item, unable)
    assert bench.turn("cid", Wish()).item is None  # now it is the adjudicator's


def test_what_was_passed_comes_after_everything_else(bench_of):
    bench, _ = bench_of()
    first = bench.turn("ann", Wish()).item
    second = bench.turn("ann", Wish(passed={first.pair})).item
    assert second != first
    for _ in range(7):
        bench.say("ann", bench.turn("ann", Wish(passed={first.pair})).item, GRADE)
    assert bench.turn("ann", Wish(passed={first.pair})).item == first


def test_a_link_shows_its_item_judged_or_not(bench_of):
    bench, _ = bench_of()
    item = bench.turn("ann", Wish("q2")).item
    assert item.question == "q2"
    bench.say("ann", item, GRADE)
    again = bench.turn("ann", Wish("q2", key=item.key))
    assert again.item == item and again.own.grade == 1
    assert bench.turn("bob", Wish("q2", key=item.key)).own is None
    gone = item.key.__class__("no", "such", "chunk")
    assert bench.turn("ann", Wish("q2", key=gone)).item.question == "q2"


def test_a_question_somebody_asked_for_comes_whole(bench_of):
    bench, _ = bench_of(labels=[("q1", "apple", 2), ("q1", "pear", 0)])
    first = bench.turn("bob", Wish("q1")).item
    assert first.key.chunk not in ("apple", "pear")
    seen = work(bench, "bob", 4, question="q1", pinned=True)
    assert {question for question, _ in seen} == {"q1"} and len(set(seen)) == 4
    assert work(bench, "bob", 1, question="q1", pinned=True)[0][0] == "q2"


def test_a_judgment_is_replaced_only_by_who_saw_it(bench_of):
    bench, root = bench_of()
    item = bench.turn("ann", Wish()).item
    saved, why = bench.say("ann", item, GRADE)
    assert why is Work.DEEPER
    with pytest.raises(LabelConflict, match="perhaps in another tab"):
        bench.say("ann", item, Said("grade", 2))
    again, _ = bench.say("ann", item, Said("grade", 2), saved.event.event)
    assert again.event.replaces == saved.event.event
    bench.undo("ann")
    assert bench.turn("ann", Wish(item.question, key=item.key)).own.grade == 1
    bench.undo("ann")
    with pytest.raises(LabelConflict, match="was taken back meanwhile"):
        bench.say("ann", item, GRADE, again.event.event)


def test_evidence_is_asked_for_where_it_is_required(bench_of):
    bench, _ = bench_of(settings='[labels]\nevidence = "required"')
    item = bench.turn("ann", Wish()).item
    with pytest.raises(InvalidInput, match="needs evidence in this collection"):
        bench.say("ann", item, Said("grade", 2))
    assert bench.say("ann", item, Said("grade", 0))[0].event.grade == 0


def test_another_process_is_seen_at_the_next_turn(bench_of):
    bench, root = bench_of()
    before = bench.turn("ann", Wish("q1")).progress
    line = json.dumps(judgment("q1", "apple", 2, 1, author="bob"))
    (root / "labels/tiny/judgments/bob.jsonl").write_text(line + "\n")
    after = bench.turn("ann", Wish("q1")).progress
    assert after.settled == before.settled + 1 and after.mine == 0
    (root / "labels/tiny/judgments/bob.jsonl").unlink()
    assert bench.turn("ann", Wish("q1")).progress == before


def test_classes_of_work_come_in_their_order(bench_of):
    bench, _ = bench_of(questions={f"q{n}": f"What of {n}?" for n in range(4)})
    texts = list(bench.loaded.corpus.by_hash)
    pool = {
        "q0": {texts[0]: Work.DEEPER},
        "q1": {texts[1]: Work.WITHIN, texts[2]: Work.DEEPER},
        "q2": {texts[0]: Work.DEEPER, texts[3]: Work.DECIDING},
        "q3": {},
    }
    bench.renew(Pool(pool, frozenset(), from_runs=True))
    seen = [question for question, _ in work(bench, "ann", 99)]
    assert seen == ["q2", "q2", "q1", "q1", "q0"]


def test_what_can_decide_a_comparison_comes_first(bench_of):
    bench, _ = bench_of(labels=[("q2", "plum", 2)])
    texts = {chunk.key.chunk: chunk.text_hash for chunk in bench.loaded.corpus.eligible.values()}
    first = {"q1": {texts["pear"]}, "q2": {texts["plum"], texts["apple"]}}
    assert bench.turn("bob", Wish(first=first)).deciding == 2
    shown = bench.turn("bob", Wish(first=first)).item
    _, why = bench.say("bob", shown, GRADE, first=first)
    assert why is Work.DECIDING
    put_off = bench.turn("bob", Wish(first=first)).item
    bench.say("bob", put_off, Said("later"))
    assert bench.turn("bob", Wish(first=first)).deciding == 1  # put off is not judged
    assert bench.turn("bob", Wish(first=first)).item != put_off
    bench.say("bob", put_off, GRADE)
    seen = {(one.question, one.key.chunk) for one in (shown, put_off)}
    assert seen == {("q1", "pear"), ("q2", "apple")}
    assert bench.turn("bob", Wish(first=first)).deciding == 0
    assert len(work(bench, "bob", 99, first=first)) == 5  # and then the rest


def test_many_at_once_judge_every_pair_once_and_lose_nothing(bench_of):
    bench, root = bench_of(
        texts={f"c{n}": f"Text number {n}." for n in range(20)},
        questions={f"q{n}": f"What of {n}?" for n in range(8)},
    )
    seen = {}

    def session(name):
        seen[name] = work(bench, name, 20)

    names = [f"reviewer-{n}" for n in range(8)]
    threads = [threading.Thread(target=session, args=(name,)) for name in names]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    everything = [pair for pairs in seen.values() for pair in pairs]
    assert len(everything) == len(set(everything)) == 160
    for name in names:
        lines = (root / f"labels/tiny/judgments/{name}.jsonl").read_text().splitlines()
        on_disk = [(json.loads(one)["question"], json.loads(one)["chunk"][2]) for one in lines]
        assert on_disk == seen[name]


def test_the_pool_is_what_was_returned_and_knows_no_rank(runbooks):
    collection = Workspace.at(runbooks).collection("runbooks")
    toml = runbooks / "data/runbooks/collection.toml"
    toml.write_text(toml.read_text().replace('completeness = "complete"', 'completeness = "pooled"')
                    .replace("complete_as_of", "#"))  # fmt: skip
    evaluate(Workspace.at(runbooks).collection("runbooks"))
    loaded = load(Workspace.at(runbooks).collection("runbooks"))
    pool = pool_of(loaded)
    assert pool.from_runs and pool.implicit == frozenset()
    works = {work for pairs in pool.pairs.values() for work in pairs.values()}
    assert works == {Work.WITHIN, Work.DEEPER}
    ids = {one.execution.configuration: one.execution.id
           for one in list_executions(Workspace.at(runbooks))}  # fmt: skip
    apart = deciding_pairs(loaded, ids["dense"], ids["hybrid"])
    assert 0 < sum(map(len, apart.values())) < sum(map(len, pool.pairs.values()))
    assert apart == deciding_pairs(loaded, ids["hybrid"], ids["dense"])
    works = {pool.pairs[question][t] for question, texts in apart.items() for t in texts}
    assert works == {Work.WITHIN}
    assert deciding_pairs(loaded, ids["dense"], ids["dense"]) == {}
    assert deciding_pairs(loaded, "no", "such") == {}
    assert collection.name == "runbooks"
    assert all(3 <= list(pairs.values()).count(Work.WITHIN) <= 7 for pairs in pool.pairs.values())
