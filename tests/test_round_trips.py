"""Export, import into an empty workspace, export again: the same bytes, whatever ids and texts."""

import zipfile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.core.text import text_hash
from app.flows.exchange.exporting import Choice, send_out
from app.flows.exchange.importing import Options, bring_in
from app.flows.loading import load
from app.workspace import Workspace
from tests.exchanging import IDS, TEXTS, collection, workspace

ENDINGS = pytest.mark.parametrize("ending", ["jsonl", "csv", "tsv", "xlsx"])
REVIEWERS = ["ann", "bob roe", "=cid", "żan/na", ".d|e", "@é"]
REASONS = ["ambiguous question", "broken text"]

FACTS = st.lists(
    st.fixed_dictionaries({"id": IDS, "text": TEXTS}), max_size=2, unique_by=lambda fact: fact["id"]
)
QUESTIONS = st.lists(
    st.fixed_dictionaries(
        {"format": st.just(1), "id": IDS, "text": TEXTS, "category": IDS},
        optional={
            "tags": st.lists(IDS, max_size=3),
            "need": TEXTS | st.none(),
            "facts": FACTS,
            "source": st.sampled_from(["log", "expert", "synthetic"]),
            "split": st.sampled_from(["development", "held-out"]),
            "unsupported_as_of": IDS,
        },
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda question: question["id"],
)
EVIDENCE = st.lists(
    st.fixed_dictionaries(
        {"quote": TEXTS},
        optional={
            "start": st.integers(0, 9) | st.none(),
            "end": st.integers(0, 9),
            "facts": st.lists(IDS, max_size=2),
        },
    ),
    max_size=2,
)


def content(path):
    """The bytes of a file; of a workbook those of its parts, but for the time it was saved at."""
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as packed:
        return [(n, packed.read(n)) for n in packed.namelist() if n != "docProps/core.xml"]


def export(root, kind, path):
    send_out(collection(root), kind, path, Choice())
    return content(path)


def bring(root, kind, path, **options):
    (found,) = bring_in(Workspace.at(root), "tiny", kind, path, Options(**options))
    assert found.written, found.refused.problems
    return found


@ENDINGS
@settings(deadline=None, max_examples=60)
@given(questions=QUESTIONS)
@example(questions=[{"format": 1, "id": "=1", "text": "_x000D_x000D_", "category": "a"}])
@example(questions=[{"format": 1, "id": "1", "text": "a", "category": "b", "need": None}])
@example(questions=[{"format": 1, "id": "1", "text": "a", "category": "b", "tags": []}])
@example(questions=[{"format": 1, "id": "1", "text": "a", "category": "1.0", "tags": ["[a", "b"]}])
def test_questions_come_back(tmp_path_factory, ending, questions):
    folder = tmp_path_factory.mktemp("questions")
    chunks = [("d", "v", "c", "Some text.")]
    ours = workspace(folder / "ours", chunks, questions)
    theirs = workspace(folder / "theirs", chunks, [])
    first = export(ours, "questions", folder / f"first.{ending}")
    assert bring(theirs, "questions", folder / f"first.{ending}").new == len(questions)
    assert collection(theirs).questions() == collection(ours).questions()
    assert export(theirs, "questions", folder / f"second.{ending}") == first


@st.composite
def ledgers(draw):
    """Chunks, questions, and events of every kind about them."""
    keys = draw(st.lists(st.tuples(IDS, IDS, IDS), min_size=1, max_size=3, unique=True))
    chunks = [(*key, f"{n} {draw(TEXTS)}") for n, key in enumerate(keys)]
    names = draw(st.lists(IDS, min_size=1, max_size=2, unique=True))
    questions = [
        {"format": 1, "id": name, "text": f"{draw(TEXTS)}?", "category": "c"} for name in names
    ]
    unknown = draw(st.lists(st.tuples(IDS, IDS, IDS), max_size=2, unique=True))
    ids = draw(st.lists(IDS, min_size=1, max_size=7, unique=True))
    events = []
    for name in ids[1:]:
        author = draw(st.sampled_from(REVIEWERS))
        kind = draw(st.sampled_from(["grade", "grade", "cannot-judge", "later", "withdraw"]))
        about = draw(st.sampled_from([*chunks, *(key for key in unknown if key not in keys)]))
        event = {
            "format": 1, "event": name, "time": "2026-01-01T00:00:00.000Z", "author": author,
            "kind": kind, "question": draw(st.sampled_from(names)), "chunk": list(about[:3]),
            "blind": draw(st.booleans()), "evidence": draw(EVIDENCE),
            "adjudication": about != chunks[0] and draw(st.booleans()),
        }  # fmt: skip
        event |= {"grade": draw(st.integers(0, 2))} if kind == "grade" else {}
        event |= {"reason": draw(st.sampled_from(REASONS))} if kind == "cannot-judge" else {}
        event |= {"note": draw(TEXTS)} if draw(st.booleans()) else {}
        if len(about) == 3:
            event["no_text"] = True
        elif draw(st.booleans()):
            event["text_hash"] = text_hash(about[3])
        if draw(st.booleans()):
            event["question_hash"] = "0" * 64
        mine = [one["event"] for one in events if one["author"] == author]
        if mine and draw(st.booleans()):
            event["replaces"] = draw(st.sampled_from(mine))
        events.append(event)
    certain = {
        "format": 1, "event": ids[0], "time": "2026-01-02T00:00:00.000Z", "author": "zoe",
        "kind": "grade", "question": names[0], "chunk": list(keys[0]), "grade": 2,
        "adjudication": True,
    }  # fmt: skip
    return chunks, questions, [*events, certain]


def retirements(chunks, questions, notes):
    """One by text, one by the id of a chunk that is not there."""
    base = {"format": 1, "time": "t", "author": "=cid", "kind": "retire-label"}
    about = [(chunks[-1][:3], {"text_hash": text_hash(chunks[-1][3])}), (("g", "o", "ne"), {})]
    return [
        base | more | {"event": f"retired {number}", "note": note, "chunk": list(key)}
        | {"question": questions[-1]["id"]}
        for number, (note, (key, more)) in enumerate(zip(notes, about, strict=True))
    ]  # fmt: skip


SMALL = (
    [("d|%", "# v", "c\u2028d", "Text.")],
    [{"format": 1, "id": "q %20", "text": "Which?", "category": "c"}],
    [
        {
            "format": 1, "event": "1", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
            "kind": "grade", "question": "q %20", "chunk": ["d|%", "# v", "c\u2028d"], "grade": 2,
        }
    ],
)  # fmt: skip


@ENDINGS
@settings(deadline=None, max_examples=40)
@given(made=ledgers(), notes=st.tuples(TEXTS, TEXTS))
@example(made=SMALL, notes=("_x000D_x000D_", "=1\r"))
def test_every_event_comes_back(tmp_path_factory, ending, made, notes):
    folder = tmp_path_factory.mktemp("labels")
    chunks, questions, events = made
    events = [*events, *retirements(chunks, questions, notes)]
    ours = workspace(folder / "ours", chunks, questions, events)
    theirs = workspace(folder / "theirs", chunks, questions)
    first = export(ours, "labels", folder / f"first.{ending}")
    assert bring(theirs, "labels", folder / f"first.{ending}").new == len(events)
    assert export(theirs, "labels", folder / f"second.{ending}") == first
    one, other = (load(collection(root)).labels for root in (ours, theirs))
    assert other.revision == one.revision and other.pairs == one.pairs
    assert bring(ours, "labels", folder / f"second.{ending}").known == len(events)


@settings(deadline=None, max_examples=50)
@given(made=ledgers())
def test_qrels_come_back_with_their_map(tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("qrels")
    chunks, questions, events = made
    ours = workspace(folder / "ours", chunks, questions, events)
    theirs = workspace(folder / "theirs", chunks, questions)
    first, second = folder / "first.txt", folder / "second.txt"
    raw = export(ours, "labels", first)
    assert raw and raw.isascii() and all(len(line.split()) == 4 for line in raw.splitlines())
    assert bring(theirs, "labels", first).new == len(raw.splitlines())
    assert export(theirs, "labels", second) == raw
    assert content(folder / "second.txt.map.jsonl") == content(folder / "first.txt.map.jsonl")


@ENDINGS
def test_events_of_every_kind_survive(tmp_path, ending):
    chunks = [
        ("d", "v", name, text) for name, text in (("a", "One."), ("b", "One."), ("c", "Two."))
    ]
    question = {"format": 1, "id": "q", "category": "c", "text": "Which?"}
    base = {"format": 1, "time": "2026-01-01T00:00:00.000Z", "question": "q", "author": "ann"}
    said = [
        {"event": "1", "kind": "grade", "grade": 0, "chunk": ["d", "v", "a"]},
        {"event": "2", "kind": "grade", "grade": 2, "chunk": ["d", "v", "a"], "author": "bob"},
        {"event": "3", "kind": "grade", "grade": 1, "chunk": ["d", "v", "b"], "adjudication": True},
        {"event": "4", "kind": "cannot-judge", "reason": "broken text", "chunk": ["d", "v", "c"]},
        {"event": "5", "kind": "later", "chunk": ["d", "v", "c"], "replaces": "4"},
        {"event": "6", "kind": "withdraw", "chunk": ["d", "v", "c"], "replaces": "5"},
        {"event": "7", "kind": "grade", "grade": 2, "chunk": ["x", "y", "z"], "no_text": True},
        {"event": "8", "kind": "retire-label", "chunk": ["x", "y", "z"], "note": "gone"},
    ]
    ours = workspace(tmp_path / "ours", chunks, [question], [base | one for one in said])
    theirs = workspace(tmp_path / "theirs", chunks, [question])
    export(ours, "labels", tmp_path / f"l.{ending}")
    assert bring(theirs, "labels", tmp_path / f"l.{ending}").new == len(said)
    found = [
        *collection(theirs).ledger.read().events,
        *collection(theirs).events.read().events,
    ]
    kept = {placed.event.event: placed.event.model_dump(exclude_unset=True) for placed in found}
    assert kept == {one["event"]: base | one for one in said}
    labels = load(collection(theirs)).labels
    states = {key.chunk: (label.state, label.grade) for (_, key), label in labels.pairs.items()}
    assert states == {"a": ("judged", 1), "b": ("judged", 1)}


@pytest.mark.parametrize("name", ["l.jsonl", "l.csv", "l.tsv", "l.xlsx", "qrels.txt"])
def test_the_runbooks_come_back_by_the_command(runbooks, desk, tmp_path, name):
    def revision():
        return desk(runbooks, "check", "runbooks", "--json").json["label_revision"]

    def export_to(path):
        assert desk(runbooks, "export", "runbooks", "labels", path, "--force").code == 0
        return content(path)

    before, first = revision(), export_to(tmp_path / name)
    for path in (runbooks / "labels/runbooks/judgments").glob("*.jsonl"):
        path.unlink()
    assert revision() != before
    assert desk(runbooks, "import", "runbooks", "labels", tmp_path / name).code == 0
    assert revision() == before and export_to(tmp_path / name) == first


@ENDINGS
def test_questions_of_the_runbooks_come_back_by_the_command(runbooks, desk, tmp_path, ending):
    path = runbooks / "labels/runbooks/questions.jsonl"
    lines, name = path.read_text(), tmp_path / f"q.{ending}"
    assert desk(runbooks, "export", "runbooks", "questions", name).code == 0
    first = content(name)
    path.write_text("")
    assert desk(runbooks, "import", "runbooks", "questions", name).code == 0
    assert desk(runbooks, "export", "runbooks", "questions", name, "--force").code == 0
    assert content(name) == first
    again = desk(runbooks, "check", "runbooks")
    path.write_text(lines)
    assert again.code == 0 and again.out == desk(runbooks, "check", "runbooks").out
