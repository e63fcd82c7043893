"""Stale judgments of one reviewer: found, shown with what changed, confirmed in one append."""

from functools import partial
from shutil import copytree, ignore_patterns

import pytest

from app.core.errors import InvalidInput
from app.core.evidence import intact
from app.flows.archive import keep_labeled
from app.flows.loading import load
from app.flows.renewing import confirm, groups, stale_of
from app.workspace import Workspace
from tests.conftest import QUESTIONS, lines_of
from tests.renewing import FILE, Desk, rows, text_of


@pytest.fixture
def desk_of(tiny, collection_of):
    return partial(Desk.of, tiny, collection_of)


def test_one_footer_in_twelve_chunks_is_confirmed_once(desk_of):
    desk = desk_of()
    given = [desk.grade(f"c{n}", n % 3, note=f"note {n}") for n in range(12)]
    desk.keep()
    assert desk.stale() == []
    desk.corpus(*rows("9 June"))
    loaded = desk.load()
    assert {label.state for label in loaded.labels.pairs.values()} == {"stale"}
    found = desk.stale()
    (group,) = groups(found)
    assert [one.event.event for one in group.items] == [one.event for one in given]
    first = found[0]
    assert (first.why, first.unknown, first.suggestions) == (("text",), None, ())
    assert first.old_text == text_of(0) and first.chunk.text == text_of(0, "9 June")
    assert [(p.kind, p.text) for p in first.text_parts if p.kind != "same"] == [
        ("removed", "3 May"), ("added", "9 June"),
    ]  # fmt: skip
    before = desk.lines()
    saved = confirm(loaded, "ann", group.items)
    assert desk.lines()[:12] == before and len(desk.lines()) == 24
    assert saved.notice is None and len(saved.events) == 12
    by_old = {event.replaces: event for event in saved.events}
    for number, old in enumerate(given):
        new = by_old[old.event]
        assert (new.grade, new.note, new.blind) == (old.grade, f"note {number}", True)
        assert new.text_hash == loaded.corpus.chunks[new.key].text_hash != old.text_hash
    assert desk.stale() == []
    pairs = desk.load().labels.pairs
    assert sorted(label.grade for label in pairs.values()) == sorted([0, 1, 2] * 4)


def test_different_changes_are_different_groups(desk_of):
    desk = desk_of()
    for number in range(4):
        desk.grade(f"c{number}", 1)
    desk.keep()
    changed = rows("9 June", 4)
    changed[3]["text"] = text_of(3).replace("words", "no words")
    desk.corpus(*changed)
    assert [len(group.items) for group in groups(desk.stale())] == [3, 1]


def test_another_grade_for_what_was_confirmed(desk_of):
    desk = desk_of()
    desk.grade("c0", 2)
    desk.grade("c1", 0)
    desk.corpus(*rows("9 June"))
    saved = confirm(desk.load(), "ann", desk.stale(), grade=1)
    assert [event.grade for event in saved.events] == [1, 1]
    assert {label.grade for label in desk.load().labels.pairs.values()} == {1}


def test_cannot_judge_is_confirmed_with_its_reason_or_graded(desk_of):
    desk = desk_of()
    for chunk in ("c0", "c1"):
        desk.grade(chunk, 1, kind="cannot-judge", grade=None, reason="broken text")
    desk.corpus(*rows("9 June"))
    one, other = desk.stale()
    (kept,) = confirm(desk.load(), "ann", [one]).events
    assert (kept.kind, kept.reason, kept.grade) == ("cannot-judge", "broken text", None)
    (graded,) = confirm(desk.load(), "ann", [other], grade=2).events
    assert (graded.kind, graded.reason, graded.grade) == ("grade", None, 2)


def test_evidence_that_stands_keeps_a_judgment_from_being_stale(desk_of):
    desk = desk_of()
    desk.grade("c0", 2, evidence=[{"quote": "It has words."}])
    desk.corpus(*rows("9 June"))
    assert desk.stale() == []
    assert {label.grade for label in desk.load().labels.pairs.values()} == {2}


def test_evidence_goes_along_where_it_stands_and_is_dropped_where_not(desk_of):
    desk = desk_of()
    quotes = [{"quote": "It has words.", "facts": ["f"], "start": 1, "end": 14},
              {"quote": "Last reviewed on 3 May 2026."}]  # fmt: skip
    desk.grade("c1", 2, evidence=quotes)
    desk.corpus(*rows("9 June"))
    (event,) = confirm(desk.load(), "ann", desk.stale()).events
    (kept,) = event.evidence
    joined = "\n\n".join(text_of(n, "9 June") for n in range(12))
    assert (kept.quote, kept.facts) == ("It has words.", ["f"])
    assert joined[kept.start : kept.end] == kept.quote and kept.start > len(text_of(0))
    assert desk.load().labels.pairs


def test_evidence_that_is_required_and_gone_is_not_confirmed_away(desk_of):
    desk = desk_of(settings='[labels]\nevidence = "required"\n')
    (desk.root / FILE.format("ann")).write_text("")
    loaded = desk.load()
    key = next(iter(loaded.corpus.eligible))
    text = loaded.corpus.chunks[key].text_hash
    line = {
        "format": 1, "event": "e1", "time": "t", "author": "ann", "kind": "grade", "question": "q1",
        "chunk": [*("d", "v1", "c0")], "grade": 2, "text_hash": text,
        "question_hash": loaded.questions["q1"].hash,
        "evidence": [{"quote": "Last reviewed on 3 May 2026."}],
    }  # fmt: skip
    (desk.root / FILE.format("ann")).write_text(lines_of([line]))
    desk.corpus(*rows("9 June"))
    with pytest.raises(InvalidInput, match="the grade 2 of d c0 needs evidence"):
        confirm(desk.load(), "ann", desk.stale())
    assert len(desk.lines()) == 1
    assert confirm(desk.load(), "ann", desk.stale(), grade=0).events[0].evidence == []


def test_a_question_that_was_reworded(desk_of):
    desk = desk_of()
    desk.grade("c0", 2)
    desk.grade("c1", 0)
    desk.grade("c2", 0, question="q2")
    desk.keep()
    desk.ask("q1", text="When is an orange tree pruned?", need="The season.")
    found = desk.stale()
    assert [one.key.chunk for one in found] == ["c0", "c1"]
    assert found[0].why == ("question",) and found[0].text_parts == ()
    assert found[0].old_question == QUESTIONS["q1"] and found[0].question.need == "The season."
    parts = [(p.kind, p.text) for p in found[0].question_parts if p.kind != "same"]
    assert parts == [
        ("removed", "apple"), ("added", "orange"), ("added", "\nNeed: The season."),
    ]  # fmt: skip
    (group,) = groups(found)
    confirm(desk.load(), "ann", group.items)
    assert desk.stale() == [] and len(desk.load().labels.pairs) == 3


def test_guidelines_count_only_where_the_settings_say_so(desk_of):
    desk = desk_of()
    guidelines = desk.root / "labels/tiny/guidelines.md"
    guidelines.write_text("Grade fairly.")
    desk.grade("c0", 2)
    guidelines.write_text("Grade harshly.")
    assert desk.stale() == []
    path = desk.root / "data/tiny/collection.toml"
    settings = "[labels]\nguidelines_matter = true\n[configurations"
    path.write_text(path.read_text().replace("[configurations", settings))
    assert [one.why for one in desk.stale()] == [("guidelines",)]
    confirm(desk.load(), "ann", desk.stale())
    assert desk.stale() == []


# --- Cut anew ---------------------------------------------------------------


def cut_anew():
    """Other ids and another version: two parts in one chunk, and one with half of its words."""
    both = f"{text_of(0)}\n\n{text_of(1)}"
    return [
        {"id": "n0", "doc": "d", "cut": "v2", "text": both},
        {"id": "n1", "doc": "d", "cut": "v2", "text": "Another text altogether, of no use."},
    ]


def test_a_document_cut_anew_carries_evidence_and_suggests_the_rest(desk_of):
    desk = desk_of()
    desk.grade("c0", 2, evidence=[{"quote": "Part 0 is about thing 0."}])
    rest = desk.grade("c1", 1)
    desk.grade("c5", 0)
    desk.keep()
    desk.corpus(*cut_anew())
    labels = desk.load().labels
    assert [k.chunk for (_, k), label in labels.pairs.items() if label.carried] == ["n0"]
    found = desk.stale()
    # Its author's word on n0 is the one that was carried; it is not asked for again.
    assert [one.event.event for one in found][:1] == [rest.event]
    assert found[0].why == ("re-chunked",) and found[0].key.chunk == "n0"
    assert [(k.chunk, share) for k, share in found[0].suggestions] == [("n0", 1.0)]
    assert labels.pairs["q1", found[0].event.key].departed, "a suggestion counts for nothing"
    confirm(desk.load(), "ann", found[:1])
    pairs = desk.load().labels.pairs
    assert pairs["q1", found[0].key].grade == 1 and not pairs["q1", found[0].key].carried
    assert found[0].event.event not in {one.event.event for one in desk.stale()}


def test_less_than_half_of_the_words_suggests_nothing(desk_of):
    desk = desk_of()
    desk.grade("c0", 1)
    desk.keep()
    desk.corpus(*cut_anew()[1:])
    assert desk.stale() == []


# --- Real files -------------------------------------------------------------


def test_a_sentence_added_all_over_the_handbook(repository, tmp_path):
    name, author = "handbook", "sample-reviewer-a"
    for part in ("data", "labels"):
        made = ignore_patterns("vectors")
        copytree(repository / part / name, tmp_path / part / name, ignore=made)

    def read():
        return load(Workspace.at(tmp_path).collection(name))

    assert keep_labeled(read()) == ()
    for path in (tmp_path / "data" / name / "corpus").glob("*.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(".\n\n", ". Looked through in June.\n\n"), encoding="utf-8")
    loaded = read()
    chunks, pairs = loaded.corpus.chunks, loaded.labels.pairs
    kept = [
        (placed.event.question, placed.event.key)
        for placed in loaded.collection.ledger.read().events
        if (chunk := chunks.get(placed.event.key)) is not None
        and chunk.text_hash != placed.event.text_hash
        and placed.event.kind == "grade"
        and intact(placed.event.evidence, chunk.text)
    ]
    assert len(kept) > 50 and "stale" not in {pairs[pair].state for pair in kept}
    largest = groups(stale_of(loaded, author))[0]
    assert len(largest.items) > 100
    assert [(p.kind, p.text) for p in largest.items[0].text_parts][1:] == [
        ("added", " Looked through in June."),
    ]  # fmt: skip
    confirm(loaded, author, largest.items)
    renewed = {(one.event.question, one.key) for one in largest.items}
    assert "stale" not in {read().labels.pairs[pair].state for pair in renewed}
