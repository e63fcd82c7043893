"""Judgments: what a line may say, and which person and file it belongs to."""

import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.core.judgments import Judgment, Retirement, file_name, new_judgment, now, reviewer_id
from app.core.model import ChunkKey
from app.core.questions import parse_record

LINE = {
    "format": 1,
    "event": "e1",
    "time": "2024-05-01T12:00:00.000Z",
    "author": "ann",
    "kind": "grade",
    "question": "q1",
    "chunk": ["d", "v", "c"],
    "grade": 2,
}
REASONS = "'ambiguous question', 'needs more context', 'outside my expertise', 'broken text' or "


def parse(model=Judgment, without=(), **changes):
    value = {k: v for k, v in {**LINE, **changes}.items() if k not in without}
    problems = []
    record = parse_record(model, json.loads(json.dumps(value)), "ann.jsonl:3", problems)
    assert (record is None) == bool(problems)
    return record or [str(problem) for problem in problems]


def test_a_short_line_by_hand_is_enough():
    judgment = parse()
    assert (judgment.key, judgment.value) == (ChunkKey("d", "v", "c"), 2)
    assert judgment.blind and not judgment.adjudication
    assert judgment.text_hash is judgment.question_hash is judgment.replaces is None


@pytest.mark.parametrize("grade", [0, 1, 2])
def test_grades_of_the_scale(grade):
    assert parse(grade=grade).value == grade


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"grade": 7}, "grade 7 is outside 0..2. Correct the line."),
        ({"grade": -1}, "grade -1 is outside 0..2. Correct the line."),
        ({"grade": 1.5}, 'grade "1.5" is not a whole number. Correct the line.'),
        ({"grade": 1.0}, 'grade "1.0" is not a whole number. Correct the line.'),
        ({"grade": True}, 'grade "True" is not a whole number. Correct the line.'),
        ({"grade": "2"}, "grade \"'2'\" is not a whole number. Correct the line."),
        ({"grade": [2]}, 'grade "[2]" is not a whole number. Correct the line.'),
        ({"grade": None}, "the grade is missing. Correct the line."),
        ({"kind": "later"}, "a later has no grade. Correct the line."),
        ({"kind": "withdraw"}, "a withdraw has no grade. Correct the line."),
        ({"kind": "cannot-judge"}, "a cannot-judge has no grade. Correct the line."),
        ({"kind": "cannot-judge", "grade": None}, "cannot-judge needs a reason. Correct the line."),
        ({"reason": "broken text"}, "a grade has no reason. Correct the line."),
        (
            {"kind": "later", "grade": None, "reason": "broken text"},
            "a later has no reason. Correct the line.",
        ),
        (
            {"kind": "cannot-judge", "grade": None, "reason": "dull"},
            f"reason is \"dull\", not {REASONS}'other language'. Correct the line.",
        ),
        (
            {"kind": "maybe"},
            "kind is \"maybe\", not 'grade', 'cannot-judge', 'later' or 'withdraw'. "
            "Correct the line.",
        ),
        ({"format": 2}, 'format is "2", not 1. Correct the line.'),
        ({"grde": 2}, 'unknown key "grde". Did you mean grade?'),
        ({"zzzz": 2}, 'unknown key "zzzz". Remove it.'),
        ({"evidence": [{"quote": " "}]}, "evidence.0.quote is blank. Correct the line."),
        ({"author": ""}, 'author "" is blank. Correct the line.'),
        ({"author": "Ann"}, 'author "Ann" must be written "ann". Correct the line.'),
        ({"author": "ann  lee"}, 'author "ann  lee" must be written "ann lee". Correct the line.'),
        ({"author": "Straße"}, 'author "Straße" must be written "strasse". Correct the line.'),
        ({"author": "jose\u0301"}, 'author "jose\u0301" must be written "josé". Correct the line.'),
        ({"author": "x" * 61}, f'author "{"x" * 59}…" has over 60 characters. Correct the line.'),
        ({"author": "a\u202eb"}, 'author "a\\u202eb" holds a control character. Correct the line.'),
        ({"question": " "}, 'question " " is blank. Correct the line.'),
        ({"event": "a\nb"}, 'event "a\\nb" holds a control character. Correct the line.'),
        ({"question": 5}, 'question is "5", not string. Correct the line.'),
        ({"blind": 1}, 'blind is "1", not boolean. Correct the line.'),
        ({"note": "a\ud800"}, "note holds the lone surrogate U+D800, which is no character. "),
        ({"chunk": ["d", "v"]}, "chunk is not a list of document, version and chunk. Correct "),
        ({"chunk": ["d", "v", ""]}, "chunk has a chunk id that is blank. Correct the line."),
        ({"chunk": [" d", "v", "c"]}, "chunk has a document id that begins or ends with a blank."),
        ({"chunk": "d v c"}, "chunk is \"'d v c'\", not list. Correct the line."),
        ({"replaces": ""}, 'replaces "" is blank. Correct the line.'),
    ],
    ids=str,
)
def test_lines_that_are_refused(changes, sentence):
    (told,) = parse(**changes)
    assert told.startswith(f"ann.jsonl:3: {sentence}")


@pytest.mark.parametrize("name", ["format", "event", "time", "author", "kind", "question", "chunk"])
def test_keys_that_must_be_there(name):
    assert parse(without=[name]) == [f"ann.jsonl:3: the key {name} is missing. Add {name}."]


def test_a_missing_grade():
    assert parse(without=["grade"]) == ["ann.jsonl:3: the grade is missing. Correct the line."]


@pytest.mark.parametrize("kind", ["later", "withdraw"])
def test_events_without_a_grade(kind):
    with pytest.raises(TypeError, match="has no grade"):
        _ = parse(kind=kind, without=["grade"]).value


def test_cannot_judge_with_its_reason():
    judgment = parse(kind="cannot-judge", without=["grade"], reason="broken text", note="cut off")
    assert (judgment.reason, judgment.grade) == ("broken text", None)


def test_a_retirement_needs_its_note():
    assert parse(Retirement, without=["grade", "note"], kind="retire-label") == [
        "ann.jsonl:3: the key note is missing. Add note."
    ]
    retired = parse(Retirement, without=["grade"], kind="retire-label", note="gone for good")
    assert retired.key == ChunkKey("d", "v", "c") and retired.text_hash is None


def test_a_retirement_may_name_its_text():
    retired = parse(
        Retirement, without=["grade"], kind="retire-label", note="gone for good", text_hash="t"
    )
    assert retired.text_hash == "t"


def test_the_author_of_a_retirement_is_an_identity_too():
    more = {"kind": "retire-label", "note": "gone for good", "author": "Ann"}
    assert parse(Retirement, without=["grade"], **more) == [
        'ann.jsonl:3: author "Ann" must be written "ann". Correct the line.'
    ]


def test_a_new_judgment_is_a_line_that_can_be_read():
    key = ChunkKey("d|ü", "v", "c/p0")
    pinned = {"text_hash": "t", "question_hash": "q", "guidelines": None}
    made = new_judgment("ann", "q1", key, grade=1, replaces="e0", **pinned)
    again = parse(**made.model_dump())
    assert again == made
    assert (made.key, made.value, made.replaces) == (key, 1, "e0")
    with pytest.raises(ValueError, match="outside"):
        new_judgment("ann", "q1", key, grade=3, **pinned)


def test_time_is_utc_to_the_millisecond():
    assert len(now()) == len("2024-05-01T12:00:00.000Z") and now().endswith("Z")


# --- reviewers and their files ----------------------------------------------


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("Ann", "ann"),
        ("  Ann \t Lee\n", "ann lee"),
        ("JOSE\u0301", "josé"),
        ("José", "josé"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("x" * 60, "x" * 60),
    ],
)
def test_one_person_is_one_identity(name, identity):
    assert reviewer_id(name) == identity


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", 'the name "" is blank. Enter a name.'),
        (" \n", 'the name " \\n" is blank. Enter a name.'),
        ("\u00a0", 'the name "\u00a0" is blank. Enter a name.'),
        ("a\x07b", 'the name "a\\u0007b" holds a control character. Enter a name.'),
        ("a\x9bb", 'the name "a\\u009bb" holds a control character. Enter a name.'),
        ("a\u202eb", 'the name "a\\u202eb" holds a control character. Enter a name.'),
        ("a\ud800", 'the name "a\\ud800" holds the lone surrogate U+D800, which is no character. '),
        ("x" * 61, f'the name "{"x" * 59}…" has over 60 characters. Enter a name.'),
    ],
)
def test_names_that_are_refused(name, sentence):
    with pytest.raises(InvalidInput) as caught:
        reviewer_id(name)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("ann", "ann.jsonl"),
        ("ann lee", "ann_lee.jsonl"),
        ("ann@example.org", "ann@example.org.jsonl"),
        ("../x", "%2E.%2Fx.jsonl"),
        ("..", "%2E..jsonl"),
        (".hidden", "%2Ehidden.jsonl"),
        ("/etc/passwd", "%2Fetc%2Fpasswd.jsonl"),
        ("a\\b", "a%5Cb.jsonl"),
        ("c:x", "c%3Ax.jsonl"),
        ("josé", "jos%C3%A9.jsonl"),
        ("a%2fb", "a%252fb.jsonl"),
        ("con", "%63on.jsonl"),
        ("com1.x", "%63om1.x.jsonl"),
        ("conny", "conny.jsonl"),
    ],
)
def test_file_names(author, name):
    assert file_name(author) == name


NAMES = st.text(min_size=1, max_size=60).filter(lambda name: accepted(name) is not None)


def accepted(name):
    try:
        return reviewer_id(name)
    except InvalidInput:
        return None


@given(NAMES)
def test_an_identity_is_its_own(name):
    identity = reviewer_id(name)
    assert accepted(unicodedata.normalize("NFD", name)) == identity
    assert accepted(f"  {name} ") == identity
    assert accepted(identity) == identity


@settings(deadline=None)
@given(NAMES)
def test_every_reviewer_has_a_plain_visible_file_in_the_folder(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("names")
    path = folder / file_name(reviewer_id(name))
    assert path.resolve().parent == folder and not path.name.startswith(".")
    assert path.name.isascii() and not set(path.name) & set('/\\:*?"<>| ')


@pytest.mark.parametrize("letter", ["x", "я", "字", "😀"])
def test_the_longest_name_has_a_file_name_that_fits(tmp_path, letter):
    name = file_name(reviewer_id(letter * 60))
    (tmp_path / f"{name}.lock").touch()
    (tmp_path / f"{name}.torn").touch()


def test_two_reviewers_have_two_files():
    assert file_name("ann lee") != file_name("ann_lee")
