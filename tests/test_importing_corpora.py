"""Source texts people have, made a collection."""

import json

import pytest

from app.flows.loading import load
from app.workspace import Workspace
from tests.conftest import TEXTS, lines_of
from tests.exchanging import empty, tree, written

ROWS = [{"id": name, "text": text} for name, text in TEXTS.items()]


@pytest.fixture
def workspace(tmp_path):
    return empty(tmp_path / "workspace")


@pytest.fixture
def take(workspace, desk, tmp_path):
    """Imports a corpus given as records or as the text of a file; the answer of the command."""

    def run(content, *words, file="texts.jsonl"):
        path = tmp_path / file
        if isinstance(content, list):
            content = lines_of(content)
        if content is not None:
            path.write_text(content, encoding="utf-8")
        return desk(workspace, "import", "new", "corpus", path, *words)

    return run


def chunks(root):
    """The chunks of the new collection: its keys with title, section and text."""
    corpus = Workspace.at(root).collection("new").corpus()
    return {
        (k.document, k.version, k.chunk): (c.title, c.section, c.text)
        for k, c in corpus.chunks.items()
    }


def plain(name):
    return name, "as-is-v1", name


def test_lines_of_json_become_a_collection_that_can_be_searched(take, workspace, desk):
    answer = take(ROWS)
    assert (answer.code, answer.errors) == (0, [])
    assert "texts.jsonl: 4 rows read, chunks of new: 4 new" in answer.out
    assert chunks(workspace) == {plain(n): ("", "", text) for n, text in TEXTS.items()}
    kept = workspace / "labels/new"
    question = {"format": 1, "id": "q1", "category": "c", "text": "What of dried plums?"}
    (kept / "questions.jsonl").write_text(lines_of([question]))
    assert (kept / "guidelines.md").is_file()
    assert desk(workspace, "index", "new").code == 0
    assert desk(workspace, "evaluate", "new").code == 0
    found = desk(workspace, "evaluate", "new", "-c", "sparse", "--k", "1", "--json").json
    (one,) = found["executions"][0]["questions"]
    assert one["outcome"] == "not applicable" and one["ranking"][0]["chunk"] == [*plain("plum")]


@pytest.mark.parametrize("name", ["doc_id", "docno", "chunk_id", "_id", "Doc ID", "id"])
def test_usual_names_of_the_id_are_known(take, workspace, name):
    assert take([{name: "a", "text": "x"}]).code == 0
    assert chunks(workspace) == {plain("a"): ("", "", "x")}


def test_other_names_are_given(take, workspace):
    rows = [{"nr": 7, "body": "x", "file": "f.py", "path": "a/f.py", "part": "top", "text": "no"}]
    words = ["chunk=nr", "text=body", "document=file", "title=path", "section=part"]
    answer = take(rows, *[word for name in words for word in ("--column", name)])
    assert answer.code == 0
    assert chunks(workspace) == {("f.py", "as-is-v1", "7"): ("a/f.py", "top", "x")}


@pytest.mark.parametrize("name", ["größe", "\U0001f600", 'a"b', "a\\b", "a\u007fb", "a = b"])
def test_a_column_may_be_called_anything(take, workspace, name):
    answer = take([{"id": "a", name: "x"}], "--column", f"text={name}")
    assert (answer.code, answer.errors) == (0, [])
    assert chunks(workspace) == {plain("a"): ("", "", "x")}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["text=body"], 'the file has no column "body"'),
        (["body=text"], 'there is no column "body" here'),
        (["text"], '"text" does not name a column'),
    ],
    ids=str,
)
def test_a_column_that_is_not_there_is_refused(take, workspace, words, reason):
    before = tree(workspace)
    answer = take(ROWS, *[word for name in words for word in ("--column", name)])
    assert answer.code == 2 and reason in answer.errors[0] and tree(workspace) == before


def test_without_a_text_column_the_remedy_names_the_columns_there(take, workspace):
    answer = take([{"id": "a", "body": "x"}])
    assert answer.code == 2 and answer.errors == [
        'error: texts.jsonl: there is no column text. Columns there: "id", "body". Say which one '
        "it is: --column text=THEIRS."
    ]


def test_a_version_of_its_own_is_part_of_the_key(take, workspace):
    rows = [{"id": "a", "version": v, "text": f"text {v}"} for v in ("v1", "v2")]
    assert take(rows).code == 0
    assert list(chunks(workspace)) == [("a", "v1", "a"), ("a", "v2", "a")]


@pytest.mark.parametrize(
    "text",
    [
        'id,text,title\na,"x, y\nz",T\nb,=1+1,\n',
        '\ufeffid;text;title\r\na;"x, y\nz";T\r\nb;\'=1+1;\r\n',
        'id\ttext\ttitle\na\t"x, y\nz"\tT\nb\t\'=1+1\t\n',
    ],
    ids=["commas", "semicolons", "tabs"],
)
def test_csv(take, workspace, text):
    answer = take(text, file="texts.csv")
    assert answer.code == 0, answer.err
    assert chunks(workspace) == {plain("a"): ("T", "", "x, y\nz"), plain("b"): ("", "", "=1+1")}


def test_xlsx_with_numbers_as_ids(take, workspace, tmp_path):
    rows = [["id", "text", "title"], [1, "one", 2024], [2.5, "two", None]]
    written(tmp_path / "texts.xlsx", rows)
    answer = take(None, file="texts.xlsx")
    assert answer.code == 0, answer.err
    assert chunks(workspace) == {plain("1"): ("2024", "", "one"), plain("2.5"): ("", "", "two")}


def test_a_folder_of_markdown(take, workspace, tmp_path, desk):
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "one.md").write_text("---\nid: first\n---\n# Apples\n\nPrune them in winter.\n")
    (folder / "deep/two.md").write_text("# Plums\n\nDry them.\n")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    answer = take(None, file="notes")
    assert answer.code == 0, answer.err
    rule = "section-paragraphs-80w-overlap1-v1"
    assert list(chunks(workspace)) == [("deep/two", rule, "plums/p0"), ("first", rule, "apples/p0")]
    assert sorted(p.name for p in (workspace / "data/new/corpus").rglob("*.*")) == [
        "one.md",
        "two.md",
    ]
    assert desk(workspace, "index", "new").code == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.md", b"\xff\xfe"),
        ("bad.md", b"---\nid: [\n---\nx\n"),
        ("same.md", b"---\nid: a\n---\nx\n"),
    ],
    ids=["no UTF-8", "no YAML", "an id twice"],
)
@pytest.mark.parametrize("skip", [(), ("--skip-refused",)], ids=["", "skipping"])
def test_a_folder_with_a_refused_file_is_refused_as_a_whole(
    take, workspace, tmp_path, name, content, skip
):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("Some text.\n")
    (folder / name).write_bytes(content)
    before = tree(workspace)
    answer = take(None, *skip, file="notes")
    assert answer.code == 2 and "unexpected" not in answer.err
    assert answer.errors and tree(workspace) == before


def test_a_folder_without_markdown_is_refused(take, workspace, tmp_path):
    (tmp_path / "notes").mkdir()
    answer = take(None, file="notes")
    assert answer.code == 2 and "the corpus is empty" in answer.errors[0]
    assert not (workspace / "data/new").exists()


def test_complete_labels_are_complete_as_of_this_corpus(take, workspace):
    assert take(ROWS, "--complete").code == 0
    collection = Workspace.at(workspace).collection("new")
    revision = load(collection).corpus.revision
    labels = collection.settings.labels
    assert (labels.completeness, labels.complete_as_of) == ("complete", revision)
    snapshot = workspace / f"labels/new/complete/{revision}.jsonl"
    assert len(snapshot.read_text().splitlines()) == 4


FAULTS = {
    '{"id":"apple","text":"again"}': "the chunk apple",
    '{"id":"x","text":" \\n "}': "the text is blank",
    '{"id":"x"}': 'the field "text" is missing',
    '{"text":"x"}': 'the field "id" is missing',
    '{"id":" x","text":"x"}': "begins or ends with a blank",
    '{"id":"x","text":7}': 'the field "text" is int, not text',
    '{"id":"x","text":"\\ud800"}': "the lone surrogate U+D800",
    '{"id":"x","text":"a\\u0000b"}': "holds a NUL character",
    '{"id":"\\u0007x","text":"x"}': "holds a control character",
    "{": "the line is not JSON",
    "[1]": "the line is JSON, but not an object",
    '{"id":"x","text":"x","size":NaN}': "the line is not usable JSON",
}


@pytest.mark.parametrize("line", FAULTS)
def test_a_line_that_is_refused_is_told_with_its_place(take, workspace, line):
    before = tree(workspace)
    lines = [ROWS[0], line, *ROWS[1:]]
    answer = take(lines)
    assert answer.code == 2 and len(answer.errors) == 1
    assert (
        answer.errors[0].startswith("error: texts.jsonl:2: ") and FAULTS[line] in answer.errors[0]
    )
    assert "1 refused. Nothing was written" in answer.out
    assert tree(workspace) == before
    answer = take(lines, "--skip-refused")
    assert answer.code == 0 and "4 new, 0 there already, 1 refused. Imported." in answer.out
    assert chunks(workspace) == {plain(n): ("", "", text) for n, text in TEXTS.items()}


def test_where_every_line_is_refused_nothing_is_written(take, workspace):
    before = tree(workspace)
    for words in ((), ("--skip-refused",)):
        answer = take(['{"id":"x","text":""}', "{"], *words)
        assert answer.code == 2 and "unexpected" not in answer.err and tree(workspace) == before


def test_other_columns_are_kept_for_the_filter(take, workspace, edit):
    rows = [{**row, "status": "old" if row["id"] == "pear" else "new"} for row in ROWS]
    answer = take(rows)
    assert "note: Columns kept for filters only, see [eligible]: status." in answer.notes
    path = workspace / "data/new/collection.toml"
    edit(path, "[eligible]\n", '[eligible]\nstatus = "new"\n')
    corpus = Workspace.at(workspace).collection("new").corpus()
    assert {k.chunk for k in corpus.eligible} == {"apple", "plum", "quince"}


def test_a_dry_run_writes_nothing(take, workspace):
    before = tree(workspace)
    answer = take(ROWS, "--dry-run", "--complete")
    assert answer.code == 0 and "4 new" in answer.out and "A dry run" in answer.out
    assert tree(workspace) == before


@pytest.mark.parametrize("name", ["runbooks", "New", "../x", ".hidden", ""])
def test_a_name_that_is_taken_or_none_is_refused(runbooks, desk, tmp_path, name):
    (tmp_path / "texts.jsonl").write_text(lines_of(ROWS))
    before = tree(runbooks)
    answer = desk(runbooks, "import", name, "corpus", tmp_path / "texts.jsonl")
    assert answer.code == 2 and len(answer.errors) == 1 and tree(runbooks) == before


def test_labels_that_are_there_already_stay(take, workspace):
    kept = workspace / "labels/new"
    kept.mkdir(parents=True)
    line = json.dumps({"format": 1, "id": "q1", "category": "c", "text": "What?"}) + "\n"
    (kept / "questions.jsonl").write_text(line)
    assert take(ROWS).code == 0
    assert (kept / "questions.jsonl").read_text() == line


def test_a_file_that_is_another_collections_corpus_is_taken_as_it_is(take, workspace, repository):
    source = repository / "data/runbooks/corpus"
    answer = take(None, file=source)
    assert answer.code == 0 and "11 new" in answer.out
