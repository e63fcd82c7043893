"""Disputes and their decisions: what waits, what is written, what is refused."""

import json
import threading
from contextlib import suppress
from functools import partial

import pytest

from app.core.errors import InvalidInput, LabelConflict
from app.flows import adjudicating, decisions, retiring
from app.flows.adjudicating import WITH_UNSETTLED, disputes
from tests.conftest import TEXTS
from tests.reviewing import filled, read, said, write

DISPUTED = (("ann", 2), ("bob", 0))


@pytest.fixture
def judged(tiny):
    """Builds a tiny workspace from judgments; returns its folder."""
    return partial(filled, tiny)


def names(found):
    return [(one.question, one.key.chunk, one.state) for one in found]


def apart(name, *given, question="q1"):
    return [said(author, name, grade, question) for author, grade in given or DISPUTED]


def label(root, name="apple", question="q1"):
    loaded = read(root)
    key = next(key for key in loaded.corpus.chunks if key.chunk == name)
    found = loaded.labels.pairs.get((question, key))
    return (found.state, found.grade) if found else None


def conflict(job, *words):
    with pytest.raises(LabelConflict) as caught:
        job(*words)
    return str(caught.value)


def lines(root, folder, author):
    path = root / f"labels/tiny/{folder}/{author}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_disputed_and_not_judgeable_pairs_wait_widest_first(judged):
    root = judged(
        *apart("quince", ("ann", 0), ("bob", 1)), *apart("apple"), *apart("pear", ("ann", 2)),
        *apart("plum", ("ann", "cannot-judge"), ("bob", "cannot-judge")),
        *apart("pear", ("ann", 1), ("bob", 2), question="q2"),
    )  # fmt: skip
    assert names(disputes(read(root))) == [
        ("q1", "apple", "disputed"), ("q1", "plum", "cannot-judge"), ("q1", "quince", "disputed"),
    ]  # fmt: skip
    assert ("q2", "pear", "unsettled") in names(disputes(read(root), WITH_UNSETTLED))


def test_letters_do_not_follow_names_and_differ_from_pair_to_pair(judged):
    texts = {f"c{n}": f"text {n}" for n in range(30)}
    root = judged(*(e for name in texts for e in apart(name)), texts=texts)
    firsts = [one.judgments[0].author for one in disputes(read(root))]
    assert len(firsts) == 30 and 5 < firsts.count("ann") < 25
    assert firsts == [one.judgments[0].author for one in disputes(read(root))]


def test_a_decision_is_an_adjudication_pinned_to_what_was_shown_and_settles_the_pair(judged):
    root = judged(*apart("apple"))
    (dispute,) = disputes(read(root))
    done = adjudicating.decide(read(root), "cem", dispute, 1, "  Only half of the rule. ")
    (line,) = lines(root, "judgments", "cem")
    assert line == done.event.model_dump()
    assert (line["adjudication"], line["blind"], line["grade"]) == (True, False, 1)
    assert line["note"] == "Only half of the rule." and line["replaces"] is None
    assert line["text_hash"] == dispute.chunk.text_hash
    assert line["question_hash"] == read(root).questions["q1"].hash
    assert label(root) == ("judged", 1) and disputes(read(root)) == []


def test_twins_are_one_dispute_and_get_one_decision(judged):
    texts = {**TEXTS, "copy": TEXTS["apple"]}
    root = judged(*apart("apple"), texts=texts)
    (dispute,) = disputes(read(root))
    assert {key.chunk for key in dispute.keys} == {"apple", "copy"}
    adjudicating.decide(read(root), "cem", dispute, 2, "It says when.")
    assert label(root) == label(root, "copy") == ("judged", 2)


@pytest.mark.parametrize("words", ["", "  \n", "\ud800"])
def test_a_decision_without_a_rationale_is_refused(judged, words):
    root = judged(*apart("apple"))
    (dispute,) = disputes(read(root))
    with pytest.raises(InvalidInput, match="the rationale"):
        adjudicating.decide(read(root), "cem", dispute, 1, words)
    with pytest.raises(InvalidInput, match="the note"):
        retiring.retire(read(root), "cem", dispute, words)
    assert not (root / "labels/tiny/judgments/cem.jsonl").exists()


def test_only_adjudicators_decide_retire_take_back_and_propose(judged):
    root = judged(*apart("apple"), *apart("pear"))
    dispute, other = disputes(read(root))
    event = adjudicating.decide(read(root), "cem", other, 1, "Half.").event
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nadjudicators = ["ben"]\n')
    (decision,) = decisions.decisions(read(root))
    for job in (
        lambda: adjudicating.decide(read(root), "cem", dispute, 1, "Half."),
        lambda: retiring.retire(read(root), "cem", dispute, "Broken."),
        lambda: adjudicating.take_back(read(root), "cem", event.event),
        lambda: decisions.propose(read(root), "cem", decision),
    ):
        with pytest.raises(InvalidInput, match="you may read but not adjudicate"):
            job()
    assert adjudicating.decide(read(root), "ben", dispute, 1, "Half.").event.author == "ben"


@pytest.mark.parametrize("what", ["grade", "changed grade", "decision", "retirement"])
def test_a_pair_that_moved_on_since_it_was_shown_is_not_decided(judged, what):
    events = apart("apple")
    root = judged(*events)
    (shown,) = disputes(read(root))
    if what == "grade":
        write(root, said("dan", "apple", 2))
    elif what == "changed grade":
        write(root, said("bob", "apple", 1, replaces=events[1]["event"]))
    elif what == "decision":
        adjudicating.decide(read(root), "eve", shown, 2, "It says when.")
    else:
        retiring.retire(read(root), "eve", shown, "Broken.")
    told = conflict(adjudicating.decide, read(root), "cem", shown, 1, "Half.")
    assert "apple was judged or decided since it was shown. Nothing was saved" in told
    assert conflict(retiring.retire, read(root), "cem", shown, "Broken.") == told
    assert not (root / "labels/tiny/judgments/cem.jsonl").exists()


@pytest.mark.parametrize("what", ["chunk", "question"])
def test_a_text_or_question_that_changed_since_it_was_shown_is_not_decided(judged, edit, what):
    root = judged(*apart("apple"))
    (shown,) = disputes(read(root))
    if what == "chunk":
        edit(root / "data/tiny/corpus.jsonl", "in winter", "in spring")
    else:
        edit(root / "labels/tiny/questions.jsonl", "When is", "Why is")
    told = conflict(adjudicating.decide, read(root), "cem", shown, 1, "Half.")
    assert f"the {what}" in told and "has changed since it was shown" in told


def test_of_two_decisions_at_once_one_is_written(judged, monkeypatch):
    root = judged(*apart("apple"))
    (shown,) = disputes(read(root))
    refused = []
    both, check = threading.Barrier(2), adjudicating.require_open

    def check_and_meet(loaded, dispute):
        check(loaded, dispute)
        with suppress(threading.BrokenBarrierError):  # nobody else may come as far as this
            both.wait(0.3)

    monkeypatch.setattr(adjudicating, "require_open", check_and_meet)

    def decide(author, grade):
        try:
            adjudicating.decide(read(root), author, shown, grade, "Because.")
        except LabelConflict:
            refused.append(author)

    threads = [threading.Thread(target=decide, args=one) for one in (("eve", 0), ("fay", 2))]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(refused) == 1 and label(root)[0] == "judged"


def test_adjudications_that_differ_stay_in_dispute_until_one_follows_the_other(judged):
    last_word = {"adjudication": True, "blind": False}
    root = judged(
        *apart("apple"), said("eve", "apple", 0, **last_word), said("fay", "apple", 2, **last_word)
    )
    (dispute,) = disputes(read(root))
    event = adjudicating.decide(read(root), "fay", dispute, 0, "Eve is right.").event
    assert event.replaces in {j.event for j in dispute.judgments if j.author == "fay"}
    assert label(root) == ("judged", 0)


def test_a_retired_pair_is_neither_open_nor_relevant(judged):
    root = judged(*apart("plum", ("ann", "cannot-judge"), ("bob", "cannot-judge")))
    (dispute,) = disputes(read(root))
    retiring.retire(read(root), "cem", dispute, "The text is broken.")
    (line,) = lines(root, "events", "cem")
    assert (line["kind"], line["note"]) == ("retire-label", "The text is broken.")
    assert label(root, "plum") == ("retired", 0) and disputes(read(root)) == []


def write_event(root, author, event):
    path = root / f"labels/tiny/events/{author}.jsonl"
    with path.open("a") as file:
        file.write(json.dumps(event) + "\n")


def test_a_retired_pair_is_brought_back_by_whoever_may_decide(judged):
    root = judged(*apart("apple"), *apart("pear"))
    before = read(root).labels.revision
    first, second = disputes(read(root))
    event = retiring.retire(read(root), "cem", first, "Broken.").event
    retiring.retire(read(root), "cem", second, "Broken.")
    retiring.bring_back(read(root), "ann", event.event)
    (line,) = lines(root, "events", "ann")
    assert (line["kind"], line["restores"]) == ("restore-label", [event.event])
    assert [d.key.chunk for d in disputes(read(root))] == [first.key.chunk]
    assert [d.key.chunk for d in decisions.decisions(read(root))] == [second.key.chunk]
    assert "not retired any more" in conflict(retiring.bring_back, read(root), "eve", event.event)
    retiring.bring_back(read(root), "cem", decisions.decisions(read(root))[0].event.event)
    # As if nobody had retired anything.
    assert read(root).labels.revision == before


def test_a_pair_that_two_retired_comes_back_whole_and_no_other(judged):
    root = judged(*apart("apple"))
    (dispute,) = disputes(read(root))
    event = retiring.retire(read(root), "cem", dispute, "Broken.").event
    (line,) = lines(root, "events", "cem")
    # Another clone's, and one of a text that stood under the id before.
    write_event(root, "eve", line | {"event": "eves", "author": "eve", "time": "2026-03-01"})
    write_event(root, "cem", line | {"event": "older", "text_hash": "0" * 64, "time": "2026-01-01"})
    retiring.bring_back(read(root), "ann", event.event)
    (back,) = lines(root, "events", "ann")
    assert sorted(back["restores"]) == sorted([event.event, "eves"])
    assert len(disputes(read(root))) == 1
    assert [d.event.event for d in decisions.decisions(read(root))] == ["older"]


@pytest.mark.parametrize("text", [True, False])
def test_a_pair_whose_chunk_has_left_is_retired_and_not_graded(judged, edit, text):
    more = {} if text else {"text_hash": None, "no_text": True}
    root = judged(*(said(a, "gone" if not text else "apple", g, **more) for a, g in DISPUTED))
    if text:
        write(root, said("ann", "pear", 0))
        lines_left = (root / "data/tiny/corpus.jsonl").read_text().splitlines()[1:]
        (root / "data/tiny/corpus.jsonl").write_text("\n".join(lines_left) + "\n")
    else:
        write(root, said("ann", "pear", 0))
    (dispute,) = disputes(read(root))
    assert dispute.chunk is None
    with pytest.raises(InvalidInput, match="no longer here to be graded"):
        adjudicating.decide(read(root), "cem", dispute, 1, "Half.")
    retiring.retire(read(root), "cem", dispute, "Dissolved.")
    assert disputes(read(root)) == [] and read(root).labels.pairs.keys()


def test_taking_back_an_adjudication_opens_the_dispute_again(judged):
    root = judged(*apart("apple"))
    (dispute,) = disputes(read(root))
    event = adjudicating.decide(read(root), "ann", dispute, 0, "Winter is not said.").event
    assert "not yours" in conflict(adjudicating.take_back, read(root), "bob", event.event)
    adjudicating.take_back(read(root), "ann", event.event)
    assert label(root) == ("disputed", None)
    (again,) = disputes(read(root))
    assert {j.event for j in again.judgments} == {j.event for j in dispute.judgments}
    assert "already taken back" in conflict(adjudicating.take_back, read(root), "ann", event.event)


def test_one_cannot_take_back_a_grade_as_if_it_were_an_adjudication(judged):
    grade = said("ann", "apple", 2)
    root = judged(grade)
    assert "not yours" in conflict(adjudicating.take_back, read(root), "ann", grade["event"])


def test_decisions_are_listed_under_names_and_stale_ones_said_so(judged, edit):
    root = judged(*apart("apple"), *apart("pear"))
    first, second = disputes(read(root))
    adjudicating.decide(read(root), "cem", first, 1, "Half.")
    retiring.retire(read(root), "cem", second, "Broken.")
    retired, decided = decisions.decisions(read(root))
    assert [j.author for j in decided.judgments] == ["ann", "bob"] and not decided.stale
    assert (decided.key.chunk, retired.key.chunk) == ("apple", "pear")
    edit(root / "labels/tiny/questions.jsonl", "When is", "Why is")
    assert decisions.decisions(read(root))[1].stale


def test_a_decision_is_proposed_as_an_example_once(judged):
    root = judged(*apart("apple"))
    adjudicating.decide(read(root), "cem", disputes(read(root))[0], 1, "Half.")
    (decision,) = decisions.decisions(read(root))
    example = decisions.propose(read(root), "ann", decision)
    (line,) = lines(root, "events", "ann")
    assert line == example.model_dump()
    assert (line["kind"], line["grade"], line["note"]) == ("example", 1, "Half.")
    assert line["text"] == TEXTS["apple"] and line["of"] == decision.event.event
    assert decisions.examples(read(root)) == [example]
    assert decisions.decisions(read(root))[0].example == example
    assert "was proposed before" in conflict(decisions.propose, read(root), "bob", decision)
    adjudicating.take_back(read(root), "cem", decision.event.event)
    assert "no longer stands" in conflict(decisions.propose, read(root), "bob", decision)
