"""The history of judgments: one reviewer's own, and that of an item, as far as one may see it."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.grades import live
from app.core.model import ChunkKey
from app.flows import asking, labeling, retiring
from app.flows.drafts import draft_of
from app.flows.item_history import item_history, moment, own_judgments, own_standings, standings
from app.flows.labeling import Said, say
from app.flows.own import Own
from tests.conftest import QUESTIONS, TEXTS, lines_of
from tests.exchanging import workspace
from tests.reviewing import filled, read, said, write

APPLE = ChunkKey("apple", "as-is-v1", "apple")
TEAM = 'format = 1\n[roles]\nadjudicators = ["eve"]\n'


def of(root, viewer, question="q1", key=APPLE):
    return item_history(read(root), viewer, question, key)


def told(found):
    """Author and event of every step that is no change of the question."""
    return [(step.author, step.what.event) for step in found.steps]


def stands(root, reviewer):
    loaded = read(root)
    rows = own_judgments(loaded, reviewer)
    known = own_standings(loaded, reviewer, rows)
    return [(one.event, known[one.event].state, known[one.event].why) for one in rows]


def test_own_judgments_come_last_first_and_say_how_they_stand(tiny):
    root = filled(tiny)
    loaded = read(root)
    own = Own(loaded, "ann")
    apple, pear = (
        labeling.item(loaded, "q1", ChunkKey(n, "as-is-v1", n)) for n in ("apple", "pear")
    )
    first = say(loaded, own, apple, Said("grade", 2)).event.event
    second = say(loaded, own, apple, Said("grade", 1), reopened=first).event.event
    third = say(loaded, own, pear, Said("cannot-judge", reason="broken text")).event.event
    labeling.undo(loaded, own, third)
    assert stands(root, "ann") == [
        (third, "taken back", ""),
        (second, "in force", ""),
        (first, "replaced", "by grade 1"),
    ]


def test_a_judgment_of_what_has_changed_is_stale(tiny, edit):
    event = said("ann", "apple", 2)
    plum = said("ann", "plum", 1, "q2")
    root = filled(tiny, event, plum)
    edit(root / "data/tiny/corpus.jsonl", "in winter", "in summer")
    edit(root / "labels/tiny/questions.jsonl", "What becomes", "What comes")
    assert stands(root, "ann") == [
        (plum["event"], "stale", "the question has changed since"),
        (event["event"], "stale", "the text has changed since"),
    ]


def test_a_judgment_confirmed_for_a_changed_text_is_replaced(tiny):
    old = said("ann", "apple", 2, text_hash="0" * 64)
    root = filled(tiny, old)
    assert stands(root, "ann") == [(old["event"], "stale", "the text has changed since")]
    new = said("ann", "apple", 2, replaces=old["event"])
    write(root, new)
    assert stands(root, "ann")[1] == (old["event"], "replaced", "by grade 2")


def test_a_line_of_somebody_else_in_ones_file_is_not_ones_own(tiny):
    root = filled(tiny, said("ann", "apple", 2))
    with (root / "labels/tiny/judgments/ann.jsonl").open("a") as file:
        file.write(lines_of([said("bob", "apple", 0)]))
    assert [e.author for e in own_judgments(read(root), "ann")] == ["ann"]


def test_own_judgments_are_narrowed_by_question_and_words(tiny):
    events = said("ann", "apple", 2, note="Only half"), said("ann", "plum", 1, "q2")
    root = filled(tiny, *events, said("bob", "apple", 0, note="half"))
    loaded = read(root)
    assert [e.question for e in own_judgments(loaded, "ann", "q2")] == ["q2"]
    assert [e.question for e in own_judgments(loaded, "ann", words="HALF tree apple")] == ["q1"]
    assert own_judgments(loaded, "ann", words="half plums") == []
    assert {e.author for e in own_judgments(loaded, "ann")} == {"ann"}


def test_what_others_said_is_hidden_until_one_has_judged(tiny):
    bob = said("bob", "apple", 0, note="no")
    root = filled(tiny, bob)
    before = of(root, "ann")
    assert (before.judged, before.judgeable, before.steps) == (False, True, ())
    later = said("ann", "apple", "later")
    write(root, later)
    assert told(of(root, "ann")) == [("ann", later["event"])]
    mine = said("ann", "apple", 2)
    write(root, mine)
    after = of(root, "ann")
    assert after.judged
    assert told(after) == [(e["author"], e["event"]) for e in (bob, later, mine)]
    write(root, said("ann", "apple", "withdraw", replaces=mine["event"]))
    assert not of(root, "ann").judged
    assert {author for author, _ in told(of(root, "ann"))} == {"ann"}


def test_an_own_judgment_that_is_stale_opens_nothing(tiny, edit):
    root = filled(tiny, said("bob", "apple", 0), said("ann", "apple", 2))
    assert of(root, "ann").judged
    edit(root / "labels/tiny/questions.jsonl", "When is", "When was")
    found = of(root, "ann")
    assert not found.judged and {author for author, _ in told(found)} == {"ann"}


def test_a_named_adjudicator_sees_all_and_nobody_else_does(tiny):
    root = filled(tiny, said("bob", "apple", 0))
    assert not of(root, "eve").judged
    (root / "data/desk.toml").write_text(TEAM)
    assert of(root, "eve").judged and len(of(root, "eve").steps) == 1
    assert of(root, "ann").steps == ()


def test_a_text_that_stands_elsewhere_now_stays_hidden_until_it_is_judged_there(tiny):
    old = said("bob", "apple", 1)
    root = filled(tiny, old)
    moved = {**TEXTS, "apple": "Another text.", "quince": TEXTS["apple"]}
    texts = [{"id": name, "text": text} for name, text in moved.items()]
    (root / "data/tiny/corpus.jsonl").write_text(lines_of(texts))
    hash_now = read(root).corpus.chunks[APPLE].text_hash
    write(root, said("ann", "apple", 2, text_hash=hash_now))
    found = of(root, "ann")
    assert found.judged and found.elsewhere and {a for a, _ in told(found)} == {"ann"}
    write(root, said("ann", "apple", 0, text_hash=old["text_hash"]))
    found = of(root, "ann")
    assert not found.elsewhere and ("bob", old["event"]) in told(found)


def test_a_chunk_that_is_gone_is_shown_to_whom_judged_it(tiny):
    root = filled(tiny, said("bob", "apple", 0), said("ann", "apple", 2), said("cem", "pear", 1))
    texts = [{"id": name, "text": text} for name, text in TEXTS.items() if name != "apple"]
    (root / "data/tiny/corpus.jsonl").write_text(lines_of(texts))
    found = of(root, "ann")
    assert found.chunk is None and not found.judgeable and len(found.steps) == 2
    assert found.steps[0].standing.why == "its chunk has no text here now"
    assert of(root, "cem").steps == ()


def test_twins_share_one_history(tiny):
    texts = {**TEXTS, "twin": TEXTS["apple"]}
    root = filled(tiny, said("bob", "apple", 0), said("ann", "apple", 2), texts=texts)
    assert len(of(root, "ann", key=ChunkKey("twin", "as-is-v1", "twin")).steps) == 2


def test_changes_of_the_question_retirements_and_adjudications_are_woven_in_by_time(tiny):
    mine, decided = said("ann", "apple", 2), said("eve", "apple", 1, adjudication=True, blind=False)
    root = filled(tiny, mine, decided)
    retirement = {
        "format": 1, "event": "r1", "time": "2026-02-01T00:00:00.000Z", "author": "bob",
        "kind": "retire-label", "question": "q1", "chunk": ["apple", "as-is-v1", "apple"],
        "note": "Outdated.", "text_hash": mine["text_hash"],
    }  # fmt: skip
    (root / "labels/tiny/events").mkdir()
    (root / "labels/tiny/events/bob.jsonl").write_text(json.dumps(retirement) + "\n")
    loaded = read(root)
    question = loaded.questions["q1"]
    changed = replace(draft_of(question), category="fruit")
    asking.edit(loaded, "cem", question, changed, new_category=True)
    found = of(root, "ann")
    assert [step.author for step in found.steps] == ["ann", "eve", "bob", "cem"]
    assert found.steps[0].standing.why == "the pair is retired"
    assert "changed the category" in found.steps[-1].what.words
    hidden = of(root, "dan")
    assert [step.author for step in hidden.steps] == ["cem"]
    retiring.bring_back(loaded, "fay", "r1")
    back = of(root, "ann")
    assert [step.author for step in back.steps] == ["ann", "eve", "bob", "cem", "fay"]
    assert back.steps[0].standing.why == ""
    # Whoever comes first in the alphabet.
    (root / "labels/tiny/events/fay.jsonl").rename(root / "labels/tiny/events/abe.jsonl")
    text = (root / "labels/tiny/events/abe.jsonl").read_text().replace('"fay"', '"abe"')
    (root / "labels/tiny/events/abe.jsonl").write_text(text)
    assert [step.author for step in of(root, "ann").steps][-1] == "abe"


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01", ""])
def test_a_time_that_is_none_is_no_error(tiny, time):
    assert moment(time) is None
    root = filled(tiny, said("ann", "apple", 2, time=time or "then"), said("ann", "apple", 1))
    assert len(of(root, "ann").steps) == 2


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["apple", "pear"]), st.sampled_from([0, 1, 2, "later", "back"])),
        max_size=12,
    )
)
def test_in_force_or_stale_are_exactly_the_judgments_that_are_live(tmp_path_factory, acts):
    """The law: what the ledger holds in force is what the history says is in force."""
    root = workspace_of(tmp_path_factory.mktemp("law"))
    events, last = [], {}
    for name, act in acts:
        if act == "back" and name not in last:
            continue
        kind = "withdraw" if act == "back" else act
        one = said("ann", name, kind, **({"replaces": last[name]} if name in last else {}))
        last[name] = one["event"]
        if act == "back":
            del last[name]
        events.append(one)
    write(root, *events)
    loaded = read(root)
    placed = loaded.collection.ledger.read().events
    found = standings(loaded, [one.event for one in placed])
    alive = {event for event, one in found.items() if one.state in ("in force", "stale")}
    assert alive == {one.event.event for one in live(placed, loaded.corpus)}


def workspace_of(folder):
    chunks = [(name, "as-is-v1", name, text) for name, text in TEXTS.items()]
    questions = [
        {"format": 1, "id": name, "category": "general", "text": text}
        for name, text in QUESTIONS.items()
    ]
    root = workspace(folder / "root", chunks, questions)
    (root / "labels/tiny/judgments").mkdir()
    return root
