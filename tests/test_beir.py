"""BEIR folders in and out."""

import json
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.text import fault_in_id, fault_in_text
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.loading import load
from app.workspace import Workspace
from tests.conftest import SPARSE, judgment, lines_of
from tests.exchanging import empty, tree

DOCUMENTS = [
    {"_id": "d1", "title": "Apples", "text": "An apple tree needs pruning in winter."},
    {"_id": "d2", "title": "", "text": "A pear ripens off the tree.", "metadata": {}},
    {"_id": "d3", "text": "Plums are dried to make prunes."},
]
QUERIES = [
    {"_id": "1", "text": "When is an apple tree pruned?", "metadata": {"url": "http://x"}},
    {"_id": "2", "text": "What becomes of dried plums?"},
    {"_id": "3", "text": "Who asks and is never judged?"},
]
HEADER = "query-id\tcorpus-id\tscore\n"
QRELS = {"test": [("1", "d1", 2), ("1", "d2", 0)], "dev": [("2", "d3", 1)]}


@pytest.fixture
def folder(tmp_path):
    """Writes a BEIR folder."""

    def write(documents=DOCUMENTS, queries=QUERIES, qrels=QRELS):
        root = tmp_path / "beir"
        (root / "qrels").mkdir(parents=True)
        (root / "corpus.jsonl").write_text(lines_of(documents), encoding="utf-8")
        (root / "queries.jsonl").write_text(lines_of(queries), encoding="utf-8")
        for split, rows in qrels.items():
            lines = "".join("\t".join(map(str, row)) + "\n" for row in rows)
            (root / f"qrels/{split}.tsv").write_text(HEADER + lines, encoding="utf-8")
        return root

    return write


@pytest.fixture
def workspace(tmp_path):
    return empty(tmp_path / "workspace")


def taken(root, name="new"):
    return load(Workspace.at(root).collection(name))


def grades(loaded):
    return {(q, key.chunk): label.grade for (q, key), label in loaded.labels.pairs.items()}


def test_a_folder_becomes_a_collection(folder, workspace, desk):
    answer = desk(workspace, "import", "new", "beir", folder())
    assert answer.code == 0, answer.err
    loaded = taken(workspace)
    assert [(k.document, k.version, k.chunk) for k in loaded.corpus.chunks] == [
        (name, "as-is-v1", name) for name in ("d1", "d2", "d3")
    ]
    first = next(iter(loaded.corpus.chunks.values()))
    assert (first.title, first.text) == ("Apples", DOCUMENTS[0]["text"])
    assert [(q.id, q.category, q.split) for q in loaded.questions.values()] == [
        ("1", "general", "held-out"), ("2", "general", "development")
    ]  # fmt: skip
    assert grades(loaded) == {("1", "d1"): 2, ("1", "d2"): 0, ("2", "d3"): 1}
    assert "1 left out (without a judgment)" in answer.out
    assert desk(workspace, "index", "new").code == 0
    sparse = desk(workspace, "evaluate", "new", "-c", "sparse", "--k", "1", "--json").json
    assert sparse["executions"][0]["means"][0]["answerable"] == 2


def test_questions_without_a_judgment_come_when_asked_for(folder, workspace, desk):
    assert desk(workspace, "import", "new", "beir", folder(), "--all-questions").code == 0
    assert list(taken(workspace).questions) == ["1", "2", "3"]


def test_the_only_split_is_development_whatever_its_name(folder, workspace, desk):
    path = folder(qrels={"test": [("1", "d1", 1), ("2", "d3", 1)]})
    assert desk(workspace, "import", "new", "beir", path).code == 0
    assert {q.split for q in taken(workspace).questions.values()} == {"development"}


def test_a_category_a_reviewer_and_another_scale(folder, workspace, desk):
    path = folder(qrels={"test": [("1", "d1", 3), ("2", "d3", 1), ("2", "d1", -1)]})
    words = ("--category", "shop", "--reviewer", "Ben", "--grades", "0=0,1=1,2=1,3=2,-1=skip")
    assert desk(workspace, "import", "new", "beir", path, *words).code == 0
    loaded = taken(workspace)
    assert {q.category for q in loaded.questions.values()} == {"shop"}
    assert grades(loaded) == {("1", "d1"): 2, ("2", "d3"): 1}
    assert [p.name for p in (workspace / "labels/new/judgments").glob("*.jsonl")] == ["ben.jsonl"]


def test_labels_may_be_declared_complete(folder, workspace, desk):
    assert desk(workspace, "import", "new", "beir", folder(), "--complete").code == 0
    loaded = taken(workspace)
    scoring = loaded.labels.scoring
    assert (scoring.completeness, scoring.complete_as_of) == ("complete", loaded.corpus.revision)
    key = list(loaded.corpus.chunks)[2]
    found = loaded.labels.label("1", key, loaded.corpus.chunks[key].text_hash)
    assert (found.state, found.grade) == ("implicit", 0)
    assert (workspace / f"labels/new/complete/{loaded.corpus.revision}.jsonl").is_file()


def test_labels_of_chunks_without_a_text_are_kept(folder, workspace, desk):
    path = folder(qrels={"test": [("1", "d1", 1), ("1", "d9", 2)]})
    assert desk(workspace, "import", "new", "beir", path).code == 0
    (gone,) = [k for (_, k), label in taken(workspace).labels.pairs.items() if label.departed]
    assert gone.chunk == "d9"


REFUSED = {
    "a blank text": ({"documents": [*DOCUMENTS, {"_id": "d4", "text": " "}]}, "corpus.jsonl:4"),
    "a document twice": ({"documents": [*DOCUMENTS, DOCUMENTS[0]]}, "corpus.jsonl:4"),
    "no id": ({"documents": [{"text": "x"}, *DOCUMENTS]}, "corpus.jsonl:1"),
    "no JSON": ({"documents": [*DOCUMENTS, "{"]}, "corpus.jsonl:4"),
    "half a character": (
        {"documents": ['{"_id":"d0","text":"\\ud800"}', *DOCUMENTS]}, "corpus.jsonl:1",
    ),
    "a question twice": ({"queries": [*QUERIES, {"_id": "1", "text": "What?"}]}, "queries.jsonl:4"),
    "a query of no JSON": ({"queries": ["[]", *QUERIES]}, "queries.jsonl:1"),
    "a blank question": ({"queries": [{"_id": "1", "text": ""}]}, "queries.jsonl:1"),
    "an unknown question": ({"qrels": {"test": [("1", "d1", 1), ("7", "d1", 1)]}}, "test.tsv:3"),
    "a grade outside": ({"qrels": {"test": [("1", "d1", 7), ("2", "d3", 1)]}}, "test.tsv:2"),
    "a grade twice": ({"qrels": {"test": [("1", "d1", 1), ("1", "d1", 2)]}}, "test.tsv:3"),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_where_a_part_is_refused_nothing_is_left_behind(folder, workspace, desk, fault):
    words, place = REFUSED[fault]
    before = tree(workspace)
    answer = desk(workspace, "import", "new", "beir", folder(**words))
    assert answer.code == 2 and answer.errors[0].startswith(f"error: {place}: "), answer.err
    assert "unexpected" not in answer.err and tree(workspace) == before
    assert sorted(p.name for p in workspace.iterdir() if p.name != "labels") == ["data"]
    assert not [p for p in (workspace / "data").iterdir() if p.name != "desk.log"]


@pytest.mark.parametrize("fault", REFUSED)
def test_and_the_rest_is_taken_where_the_user_says_so(folder, workspace, desk, fault):
    answer = desk(workspace, "import", "new", "beir", folder(**REFUSED[fault][0]), "--skip-refused")
    if fault == "a blank question":
        assert "unexpected" not in answer.err  # its labels have no question then
        return
    assert answer.code == 0, answer.err
    loaded = taken(workspace)
    assert len(loaded.corpus.chunks) == 3 and loaded.labels.pairs


def test_a_dry_run_writes_nothing(folder, workspace, desk):
    before = tree(workspace)
    answer = desk(workspace, "import", "new", "beir", folder(), "--dry-run")
    assert answer.code == 0 and answer.out.count("A dry run: nothing was written.") == 4
    assert tree(workspace) == before and not (workspace / "labels").exists()


def test_a_name_that_is_taken_or_none_is_refused(folder, runbooks, desk):
    path, before = folder(), tree(runbooks)
    for name, words in (("runbooks", "is a collection runbooks already"), ("../x", "may have")):
        answer = desk(runbooks, "import", name, "beir", path)
        assert answer.code == 2 and words in answer.errors[0]
    assert tree(runbooks) == before


@pytest.mark.parametrize("part", ["corpus.jsonl", "queries.jsonl"])
def test_a_folder_without_a_part_is_refused(folder, workspace, desk, part):
    path = folder()
    (path / part).unlink()
    answer = desk(workspace, "import", "new", "beir", path)
    assert answer.code == 2 and f"there is no {part}" in answer.errors[0]


def test_a_sheet_of_judgments_without_a_header_is_refused(folder, workspace, desk):
    path = folder()
    (path / "qrels/test.tsv").write_text("1\td1\t2\n")
    answer = desk(workspace, "import", "new", "beir", path)
    assert answer.code == 2 and "the columns are not query-id, corpus-id, score" in answer.errors[0]
    assert not (workspace / "data/new").exists()


def out_and_in(desk, root, there, name, folders, *words):
    """Exports a collection, imports it elsewhere and exports it again."""
    first, second = folders
    assert desk(root, "export", name, "beir", first).code == 0
    answer = desk(there, "import", "new", "beir", first, *words)
    assert (answer.code, answer.errors) == (0, [])
    assert desk(there, "export", "new", "beir", second).code == 0
    return taken(root, name), taken(there)


def test_out_of_a_markdown_collection_in_and_out_again(desk, runbooks, workspace, tmp_path):
    folders = tmp_path / "first", tmp_path / "second"
    before, after = out_and_in(desk, runbooks, workspace, "runbooks", folders, "--complete")
    assert after.corpus.chunks.keys() == before.corpus.eligible.keys()
    assert after.questions == before.questions
    assert grades(after) == grades(before)
    index(Workspace.at(workspace).collection("new"))
    mine = evaluate(Workspace.at(runbooks).collection("runbooks"), ["dense"], cutoffs=[1, 3, 5])
    theirs = evaluate(Workspace.at(workspace).collection("new"), ["dense"], cutoffs=[1, 3, 5])
    assert theirs[0].means == mine[0].means
    assert tree(folders[1]) == tree(folders[0])


@pytest.mark.parametrize(
    "names",
    [
        ("a b", "a%20b"),
        ("a|b|c", "a%7Cb%7Cc"),
        ('["a","b","c"]', "a"),
        ("é", "e\u0301"),
        ("1", "01"),
    ],
    ids=str,
)
def test_ids_that_look_alike_stay_apart(desk, tiny, workspace, tmp_path, names):
    texts = {name: f"text {n}" for n, name in enumerate(names)}
    labels = [(names[0], names[1], 2), (names[1], names[0], 1)]
    root = tiny(texts, questions=dict.fromkeys(names, "What?"), labels=labels)
    before, after = out_and_in(desk, root, workspace, "tiny", (tmp_path / "1", tmp_path / "2"))
    assert tree(tmp_path / "2") == tree(tmp_path / "1")
    assert grades(after) == grades(before) and len(grades(before)) == 2


hostile = st.text(min_size=1, max_size=8) | st.sampled_from(
    ["a b", "a%20b", "a|b|c", '["a","b","c"]', "#1", '"', "'=1", "=1+1", "-1", "@x", "\u2028", "é",
     "e\u0301", "1.0", "true", "\ufeffx", "a;b,c", "%", "\U0001f600"]
)  # fmt: skip
ids = hostile.filter(lambda name: not fault_in_id(name))
texts = hostile.filter(lambda text: text.strip() and not fault_in_text(text))


@settings(deadline=None, max_examples=30, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    corpus=st.dictionaries(st.tuples(ids, ids), texts, min_size=1, max_size=4),
    asked=st.dictionaries(ids, st.tuples(texts, st.booleans()), min_size=1, max_size=4),
    graded=st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(0, 2)),
)
def test_hostile_ids_and_texts_survive(desk, tmp_path_factory, corpus, asked, graded):
    base = tmp_path_factory.mktemp("hostile")
    data, kept = base / "a/data/tiny", base / "a/labels/tiny"
    data.mkdir(parents=True)
    (kept / "judgments").mkdir(parents=True)
    (base / "b/data").mkdir(parents=True)
    lines = [{"doc": d, "id": c, "text": text, "h": d} for (d, c), text in corpus.items()]
    (data / "corpus.jsonl").write_text(lines_of(lines), encoding="utf-8")
    (data / "collection.toml").write_text(
        'format = 1\n[source]\nkind = "jsonl"\npath = "corpus.jsonl"\nfields = { document = "doc", '
        f'chunk = "id", text = "text", section = "h" }}\n[chunking]\nrule = "as-is-v1"\n{SPARSE}'
    )
    questions = [
        {"format": 1, "id": name, "category": name, "text": text}
        | ({"split": "held-out"} if held else {})
        for name, (text, held) in asked.items()
    ]
    (kept / "questions.jsonl").write_text(lines_of(questions), encoding="utf-8")
    events = [
        judgment([*asked][q], "", grade, n)
        | {"chunk": [[*corpus][c][0], "as-is-v1", [*corpus][c][1]]}
        for n, ((q, c), grade) in enumerate(graded.items())
        if q < len(asked) and c < len(corpus)
    ]
    (kept / "judgments/ann.jsonl").write_text(lines_of(events), encoding="utf-8")
    folders = base / "first", base / "second"
    try:
        before, after = out_and_in(desk, base / "a", base / "b", "tiny", folders)
    finally:
        shutil.rmtree(base / "b/labels", ignore_errors=True)
    assert tree(folders[1]) == tree(folders[0])
    assert list(after.corpus.chunks) == list(before.corpus.chunks)


def test_what_cannot_be_said_in_a_folder_is_counted(tiny, desk, tmp_path):
    labels = (("q1", "apple", 2), ("q1", "apple", 0))
    events = [
        judgment(*one, n) | {"author": a}
        for n, (one, a) in enumerate(zip(labels, "ab", strict=True))
    ]
    answer = desk(tiny(labels=events), "export", "tiny", "beir", tmp_path / "out", "--json")
    assert answer.json["left_out"] == {"disputed": 1}
    assert [json.loads(line)["_id"] for line in (tmp_path / "out/corpus.jsonl").open()] == [
        "apple", "pear", "plum", "quince"
    ]  # fmt: skip
