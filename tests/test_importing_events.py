"""`desk import C labels`: events of another ledger, as JSON lines, as a sheet, in a bundle."""

import json

import pytest

from app.core.text import canonical
from tests.conftest import judgment
from tests.exchanging import errors, import_file, json_lines, ledger, tree

GRADE = judgment("q1", "apple", 2, 1, author="bob", note="é\n=1")
CANNOT = judgment("q1", "pear", None, 2, kind="cannot-judge", reason="broken text", author="bob")
LATER = judgment("q2", "plum", None, 3, kind="later", author="cid")
WITHDRAWN = judgment("q1", "apple", None, 4, kind="withdraw", author="bob", replaces="e1")
SETTLED = judgment("q1", "apple", 1, 5, author="dan", adjudication=True, blind=False)
RETIRED = {
    "format": 1, "event": "r1", "time": "2026-01-01T00:00:00.000Z", "author": "dan",
    "kind": "retire-label", "question": "q1", "chunk": ["gone", "as-is-v1", "gone"],
    "note": "dissolved",
}  # fmt: skip
EVENTS = [GRADE, CANNOT, LATER, WITHDRAWN, SETTLED, RETIRED]


@pytest.fixture
def root(tiny):
    """A workspace with three labels of ann, e0 to e2 by position."""
    return tiny(labels=[judgment("q1", "apple", 2, "a0"), judgment("q2", "plum", 2, "a1")])


@pytest.fixture
def bring(root, desk):
    """Imports labels from a file of that name and content."""

    def run(name, content, *words):
        content = json_lines(content) if name.endswith(".jsonl") and content[:1] != "{" else content
        return import_file(desk, root, "labels", name, content, *words)

    return run


def judged(root, name, kind="judgments"):
    return (root / f"labels/tiny/{kind}/{name}.jsonl").read_text(encoding="utf-8")


def lines(*events):
    return "".join(canonical(one) + "\n" for one in events)


def test_events_go_to_the_files_of_their_authors_as_they_are(root, bring):
    before = tree(root)
    answer = bring("l.jsonl", EVENTS)
    said = "l.jsonl: 6 rows read, labels of tiny: 6 new, 0 there already, 0 refused. Imported."
    assert (answer.code, answer.out.strip()) == (0, said)
    assert judged(root, "bob") == lines(GRADE, CANNOT, WITHDRAWN)
    assert (judged(root, "cid"), judged(root, "dan")) == (lines(LATER), lines(SETTLED))
    assert judged(root, "dan", "events") == lines(RETIRED)
    assert {name: raw for name, raw in tree(root).items() if name in before} == before


def test_a_dry_run_of_events_writes_nothing(root, bring):
    before = tree(root)
    answer = bring("l.jsonl", EVENTS, "--dry-run")
    assert answer.code == 0 and "6 new" in answer.out and tree(root) == before


def test_events_taken_in_twice_are_there_once(root, bring):
    bring("l.jsonl", EVENTS)
    before = tree(root)
    again = bring("l.jsonl", [*EVENTS, *EVENTS])
    assert again.code == 0 and "0 new, 12 there already" in again.out and tree(root) == before


@pytest.mark.parametrize(
    "other",
    [
        {**GRADE, "grade": 1},
        {**GRADE, "author": "cid"},
        {**GRADE, "note": "é\n=2"},
        {**RETIRED, "event": "e1"},
        {**GRADE, "event": "r1"},
        {**RETIRED, "note": "gone"},
    ],
)
def test_an_event_that_says_something_else_is_refused(root, bring, other):
    bring("l.jsonl", EVENTS)
    before = tree(root)
    answer = bring("m.jsonl", [GRADE, other])
    assert answer.code == 2 and tree(root) == before
    assert errors(answer) == [
        f'm.jsonl:2: the event "{other["event"]}" is there already and says something else. '
        "Give the line an id of its own."
    ]


def test_an_event_that_stands_twice_in_a_file(root, bring):
    before = tree(root)
    answer = bring("l.jsonl", [GRADE, {**GRADE, "grade": 0}, GRADE])
    assert answer.code == 2 and tree(root) == before and "1 new, 1 there already" in answer.out
    assert errors(answer)[0].startswith('l.jsonl:2: the event "e1" is there already')


def test_what_a_line_leaves_out_by_default_is_the_same_event(root, bring):
    bring("l.jsonl", [GRADE])
    whole = {**GRADE, "blind": True, "evidence": [], "replaces": None, "adjudication": False}
    assert "0 new, 1 there already" in bring("m.jsonl", [whole]).out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({**GRADE, "question": "q9"}, 'the question "q9" is unknown'),
        ({**GRADE, "chunk": ["x", "as-is-v1", "x"]}, "the chunk x"),
        ({**GRADE, "grade": 3}, "grade 3 is outside 0..2"),
        ({**GRADE, "author": "Bob"}, 'author "Bob" must be written "bob"'),
        ({**GRADE, "kind": "guess"}, 'kind is "guess", not'),
        ({**GRADE, "grad": 1}, 'unknown key "grad". Did you mean grade?'),
        ({**CANNOT, "reason": None}, "cannot-judge needs a reason"),
        ({**RETIRED, "note": None}, "note is null, not string"),
        ({**GRADE, "time": "\ud800"}, "time"),
        ({**GRADE, "question_hash": "\ud800"}, "question_hash"),
        ({**GRADE, "no_text": True, "text_hash": "a"}, "no_text contradicts text_hash"),
        ({"event": "e1"}, "the key format is missing"),
    ],
)
def test_what_is_no_event_is_refused_by_line(root, bring, line, message):
    before = tree(root)
    answer = bring("l.jsonl", json.dumps(LATER) + "\n\n" + json.dumps(line) + "\n")
    assert answer.code == 2 and errors(answer)[0].startswith(f"l.jsonl:3: {message}")
    assert tree(root) == before


def test_a_line_that_is_cut_short_is_refused(root, bring):
    before = tree(root)
    answer = bring("l.jsonl", json.dumps(GRADE) + "\n" + json.dumps(CANNOT)[:40])
    assert answer.code == 2 and errors(answer)[0].startswith("l.jsonl:2: the line is not JSON")
    assert tree(root) == before


def test_a_label_that_only_a_refused_line_would_take_back_is_refused_too(root, bring):
    unknown = judgment("q1", "nope", 1, 6, author="bob")
    bad = {**unknown, "event": "e7", "grade": 9, "replaces": "e6"}
    answer = bring("l.jsonl", [GRADE, unknown, bad], "--skip-refused")
    assert answer.code == 0 and judged(root, "bob") == lines(GRADE)
    assert [line.split(" ")[0] for line in errors(answer)] == ["l.jsonl:3:", "l.jsonl:2:"]


def test_a_taken_back_label_needs_no_chunk(root, bring):
    gone = judgment("q1", "nope", 1, 6, author="bob")
    back = judgment("q1", "nope", None, 7, author="bob", kind="withdraw", replaces="e6")
    assert bring("l.jsonl", [gone, back]).code == 0
    assert judged(root, "bob") == lines(gone, back)


def test_a_retired_label_needs_no_chunk(root, bring):
    gone = judgment("q1", "gone", 1, 6, author="bob")
    assert bring("l.jsonl", [gone]).code == 2
    assert bring("l.jsonl", [gone, RETIRED]).code == 0
    assert judged(root, "bob") == lines(gone) and judged(root, "dan", "events") == lines(RETIRED)


def test_a_torn_line_is_set_aside_before_events_are_added(root, bring):
    path = root / "labels/tiny/judgments/bob.jsonl"
    path.write_text(lines(GRADE) + '{"torn')
    assert bring("l.jsonl", [GRADE, CANNOT]).code == 0
    assert judged(root, "bob") == lines(GRADE, CANNOT)
    assert path.with_name("bob.jsonl.torn").read_text() == '{"torn\n'


@pytest.fixture
def sheet(root, bring, desk, tmp_path):
    """The ledger as an exported sheet of that ending, and its rows."""

    def export(ending):
        bring("l.jsonl", EVENTS)
        path = tmp_path / f"out.{ending}"
        assert desk(root, "export", "tiny", "labels", path).code == 0
        return path

    return export


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
def test_an_exported_sheet_is_known_when_it_comes_back(root, sheet, desk, ending):
    path = sheet(ending)
    before = tree(root)
    answer = desk(root, "import", "tiny", "labels", path)
    assert answer.code == 0 and "8 rows read" in answer.out and "0 new, 8 there" in answer.out
    assert tree(root) == before


def test_a_grade_that_was_changed_in_the_sheet_is_refused(root, sheet, desk, edit):
    path = sheet("csv")
    edit(path, "apple,as-is-v1,apple,2,grade,bob", "apple,as-is-v1,apple,0,grade,bob")
    before = tree(root)
    answer = desk(root, "import", "tiny", "labels", path)
    assert answer.code == 2 and tree(root) == before
    assert 'the event "e1" is there already and says something else' in answer.err


def test_a_row_that_was_added_to_the_sheet_is_told(root, sheet, desk):
    path = sheet("csv")
    with path.open("a") as file:
        file.write("q1,,quince,as-is-v1,quince,0,grade,bob" + "," * 13 + "\r\n")
    answer = desk(root, "import", "tiny", "labels", path)
    assert answer.code == 2 and "the key event is missing" in answer.err


def test_a_bundle_comes_in(root, bring, desk, tmp_path):
    bring("l.jsonl", EVENTS)
    assert desk(root, "labels", "bundle", "tiny", tmp_path / "b.zip").code == 0
    before = tree(root)
    again = desk(root, "import", "tiny", "labels", tmp_path / "b.zip")
    assert again.code == 0 and "8 rows read" in again.out and "0 new, 8 there" in again.out
    for name in ("bob", "cid"):
        (root / f"labels/tiny/judgments/{name}.jsonl").unlink()
    back = desk(root, "import", "tiny", "labels", tmp_path / "b.zip")
    assert back.code == 0 and "4 new, 4 there already" in back.out and tree(root) == before


def test_a_damaged_bundle_is_refused(root, bring):
    before = tree(root)
    answer = bring("b.zip", b"PK\x03\x04")
    assert answer.code == 2 and "the file is no .zip, or a damaged one" in answer.err
    assert tree(root) == before


def test_json_counts_events(root, bring):
    (found,) = bring("l.jsonl", [GRADE, GRADE, {**CANNOT, "question": "q9"}], "--json").json[
        "imports"
    ]
    counts = [found[name] for name in ("read", "new", "known", "refused", "written")]
    assert counts == [3, 1, 1, 1, False] and found["problems"][0]["place"] == "l.jsonl:3"
    assert [one["event"] for one in ledger(root)] == ["ea0", "ea1"]
