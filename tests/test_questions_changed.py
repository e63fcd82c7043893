"""Questions that people changed, in a workspace: labels, checks, signatures, export and import."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.flows.loading import load
from tests.conftest import judgment, lines_of
from tests.exchanging import IDS, TEXTS, collection, json_lines, tree, workspace
from tests.test_question_events import FILED, LINES, PLACE, Q1, line
from tests.test_round_trips import ENDINGS, export
from tests.test_round_trips import bring as brought


@pytest.fixture
def root(tiny):
    """A workspace with labels of both questions and of one that was added; events by line."""

    def build(*events, labels=()):
        root = tiny(
            labels=[judgment("q1", "apple", 2, "a1"), judgment("q2", "plum", 2, "a2"), *labels]
        )
        folder = root / "labels/tiny/events"
        folder.mkdir()
        (folder / "ann.jsonl").write_text(lines_of(events))
        return root

    return build


def test_labels_of_a_retired_question_are_no_error_and_reappear(root, collection_of):
    folder = root(line("e1", "retire-question"))
    loaded = load(collection_of(folder))
    assert list(loaded.questions) == ["q2"] and loaded.labels.judgments == 1
    assert {name for name, _ in loaded.labels.pairs} == {"q2"}
    with (folder / "labels/tiny/events/ann.jsonl").open("a") as file:
        file.write(lines_of([line("e2", text=Q1["text"], replaces="e1")]))
    labels = load(collection_of(folder)).labels
    assert labels.judgments == 2 and labels.kinds["q1"] == "answerable"


def test_when_every_labeled_question_is_retired_the_labels_are_not_foreign(root, collection_of):
    base = FILED["q2"].question.record_digest
    folder = root(
        line("e1", "retire-question"), line("e2", "retire-question", question="q2", base=base)
    )
    loaded = load(collection_of(folder))
    assert (loaded.questions, loaded.labels.judgments) == ({}, 0)


def test_what_is_told_of_questions_reaches_the_labels_and_the_check(root, desk, edit):
    folder = root(line("e1"))
    edit(folder / PLACE, "When is", "When exactly is")
    answer = desk(folder, "check", "tiny", "--json")
    assert answer.code == 1  # not indexed; the change of a question is no finding
    assert [one for one in answer.json["notices"] if one.startswith(f"{PLACE}:1: the question")]


def test_a_refused_line_of_events_keeps_nobody_from_grading(root, collection_of):
    folder = root(line("e1"))
    (folder / "labels/tiny/events/bob.jsonl").write_text("{\n")
    loaded = load(collection_of(folder))
    assert loaded.questions["q1"].text == "What of e1?"
    with pytest.raises(InvalidInput, match=r"events/bob.jsonl:1: the line is not JSON"):
        loaded.labels  # noqa: B018 - the property raises


def test_signatures_tell_questions_from_the_corpus(root, collection_of):
    folder = root(line("e1"))
    collection = collection_of(folder)
    source, questions = collection.source_signature(), collection.question_signature()
    with (folder / "labels/tiny/events/ann.jsonl").open("a") as file:
        file.write("\n")
    assert collection.source_signature() == source
    assert collection.question_signature() != questions
    questions = collection.question_signature()
    (folder / PLACE).write_text(lines_of([Q1]))
    assert collection.question_signature() != questions


@pytest.mark.parametrize("ending", ["jsonl", "csv", "xlsx", "zip"])
def test_events_of_every_kind_go_out_and_come_back(root, tiny, desk, tmp_path, ending):
    events = [
        LINES[0] | {"text_hash": "0" * 64}, *LINES[1:3], line("e8", question="x", base=None),
        *LINES[3:],
    ]  # fmt: skip
    ours = root(*events, labels=[judgment("x", "pear", 1, "a3")])
    path, kind = tmp_path / f"l.{ending}", ("labels", "export", "tiny", "labels")
    words = ("labels", "bundle", "tiny") if ending == "zip" else kind[1:]
    assert desk(ours, *words, path).code == 0
    before = {n: raw for n, raw in tree(ours).items() if n.endswith("ann.jsonl")}
    for name in before:
        (ours / name).unlink()
    answer = desk(ours, "import", "tiny", "labels", path)
    assert answer.code == 0 and "10 new" in answer.out, answer.err
    again = tmp_path / f"again.{ending}"
    assert desk(ours, *words, again).code == 0
    if ending != "xlsx":
        assert again.read_bytes() == path.read_bytes()
    found = [json.loads(one) for one in (ours / "labels/tiny/events/ann.jsonl").open()]
    kept = [{k: v for k, v in one.items() if v is not None} for one in found]
    assert kept == [{k: v for k, v in one.items() if v is not None} for one in events]


def questions_of(answer):
    return [json.loads(one) for one in answer.read_text().splitlines()]


def test_an_export_of_questions_gives_those_in_effect(root, desk, tmp_path):
    base = FILED["q2"].question.record_digest
    folder = root(
        line("e1", text="When?"),
        line("e2", "retire-question", question="q2", base=base),
        line("e3", question="x", base=None),
    )
    path = tmp_path / "q.jsonl"
    assert desk(folder, "export", "tiny", "questions", path).code == 0
    assert [(one["id"], one["text"]) for one in questions_of(path)] == [
        ("q1", "When?"), ("x", "What of e3?"),
    ]  # fmt: skip


def bring(desk, folder, tmp_path, records, *words):
    path = tmp_path / "in.jsonl"
    path.write_text(lines_of(records))
    return desk(folder, "import", "tiny", "questions", path, *words)


@pytest.mark.parametrize("text", ["New?", Q1["text"]])
def test_an_import_is_compared_with_what_is_in_effect_and_then_counts(
    root, desk, tmp_path, collection_of, text
):
    """Also where it says what the file says: the change over it is changed in turn."""
    folder = root(line("e1", text="When?"))
    before = tree(folder)
    answer = bring(desk, folder, tmp_path, [Q1 | {"text": "When?"}])
    assert answer.code == 0 and "0 new, 1 there already" in answer.out and tree(folder) == before
    answer = bring(desk, folder, tmp_path, [Q1 | {"text": text}])
    assert answer.code == 2 and "is there already and says something else" in answer.err
    assert tree(folder) == before
    assert bring(desk, folder, tmp_path, [Q1 | {"text": text}], "--update").code == 0
    assert collection_of(folder).questions()["q1"].text == text
    answer = bring(desk, folder, tmp_path, [Q1 | {"text": text}])
    assert answer.code == 0 and "1 there already" in answer.out


def test_an_import_brings_a_retired_question_back_only_where_that_is_said(
    root, desk, tmp_path, collection_of
):
    folder = root(line("e1", "retire-question"))
    answer = bring(desk, folder, tmp_path, [Q1])
    assert answer.code == 2 and 'the question "q1" was retired' in answer.err
    assert bring(desk, folder, tmp_path, [Q1], "--update").code == 0
    assert list(collection_of(folder).questions()) == ["q1", "q2"]
    (said,) = questions_of(folder / "labels/tiny/events/imported.jsonl")
    assert (said["author"], said["replaces"]) == ("imported", "e1")


def test_an_import_of_a_question_that_was_added_gives_the_file_its_say(
    root, desk, tmp_path, collection_of
):
    folder = root(line("e1", question="x", base=None))
    changed = {"format": 1, "id": "x", "category": "general", "text": "Filed?"}
    assert bring(desk, folder, tmp_path, [changed], "--update").code == 0
    asked = collection_of(folder).asked()
    assert list(asked.questions) == ["q1", "q2", "x"] and asked.questions["x"].text == "Filed?"
    assert [one for one in asked.notices if "was changed there after ann saved it" in one]
    assert not (folder / "labels/tiny/events/imported.jsonl").exists()


def test_a_bundle_gives_file_and_changes_to_a_workspace_without_them(
    root, desk, tmp_path, collection_of
):
    base = FILED["q2"].question.record_digest
    folder = root(
        line("e1", text="When?"),
        line("e2", "retire-question", question="q2", base=base),
        line("e3", question="x", base=None),
        labels=[judgment("x", "pear", 1, "a3")],
    )
    assert desk(folder, "labels", "bundle", "tiny", tmp_path / "b.zip").code == 0
    wanted = collection_of(folder).asked()
    # Taken in where everything is there, it changes nothing.
    for kind in ("questions", "labels"):
        answer = desk(folder, "import", "tiny", kind, tmp_path / "b.zip")
        assert answer.code == 0 and " 0 new" in answer.out
    for path in (folder / "labels/tiny").rglob("*.jsonl"):
        path.unlink()
    for kind in ("questions", "labels"):
        assert desk(folder, "import", "tiny", kind, tmp_path / "b.zip").code == 0
    found = collection_of(folder).asked()
    assert (found.questions, found.retired) == (wanted.questions, wanted.retired)
    assert found.notices == ()


def test_a_ledger_may_bring_its_questions_with_it(root, desk, tmp_path, collection_of):
    folder = root(line("e3", question="x", base=None), labels=[judgment("x", "pear", 1, "a3")])
    (folder / PLACE).write_text("")
    lines = (folder / "labels/tiny/judgments/ann.jsonl").read_text().splitlines(keepends=True)
    (folder / "labels/tiny/judgments/ann.jsonl").write_text(lines[-1])
    path = tmp_path / "l.jsonl"
    assert desk(folder, "export", "tiny", "labels", path).code == 0
    for made in (folder / "labels/tiny").rglob("*ann.jsonl"):
        made.unlink()
    answer = desk(folder, "import", "tiny", "labels", path)
    assert answer.code == 0 and "2 new" in answer.out
    assert load(collection_of(folder)).labels.kinds["x"] == "answerable"


CHANGES = st.lists(
    st.builds(
        lambda event, name, words, note, author: line(
            event, author=author, question=name, text=words, base=None, note=note,
            searched=[words], settles=[event],
        )
        | {"value": {"format": 1, "id": name, "category": name, "text": words, "tags": [name],
                     "facts": [{"id": name, "text": note}], "unsupported_as_of": name}},
        IDS, IDS, TEXTS, TEXTS, st.sampled_from(["ann", "=cid", "żan/na"]),
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda one: one["event"],
)  # fmt: skip


@ENDINGS
@settings(deadline=None, max_examples=25)
@given(changes=CHANGES, practised=st.dictionaries(IDS, st.integers(0, 2), max_size=2))
def test_changes_of_any_words_go_out_and_come_back(tmp_path_factory, ending, changes, practised):
    folder = tmp_path_factory.mktemp("changes")
    ours, theirs = (
        workspace(folder / name, [("d", "v", "c", "Text.")], []) for name in ("ours", "theirs")
    )
    # (An event id of its own: what is drawn is never so long.)
    events = [*changes, LINES[4] | {"event": "practised " * 9 + "x", "given": practised}]
    (ours / "labels/tiny/events").mkdir()
    (ours / "labels/tiny/events/all.jsonl").write_text(json_lines(events), encoding="utf-8")
    first = export(ours, "labels", folder / f"first.{ending}")
    assert brought(theirs, "labels", folder / f"first.{ending}").new == len(events)
    assert export(theirs, "labels", folder / f"second.{ending}") == first
    assert collection(theirs).questions() == collection(ours).questions()
