"""Executions as files: out of one workspace, into another, and out again the same."""

import json
import shutil

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.model import ChunkKey, Hit, Ranking
from app.core.text import fault_in_id, fault_in_text
from app.engines import executions
from app.engines.store import Store
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.workspace import Workspace
from tests.conftest import QUESTIONS, SPARSE, lines_of
from tests.exchanging import tree
from tests.runs import saved

ENDINGS = ("parquet", "json")


def store_of(root):
    return Store.at(root / "data/desk.duckdb")


def listed(root):
    return executions.listed(store_of(root)) if (root / "data/desk.duckdb").exists() else []


@pytest.fixture
def elsewhere(runbooks, tmp_path):
    """Another workspace with the same collection, and no execution."""
    root = tmp_path / "elsewhere"
    shutil.copytree(runbooks, root)
    return root


@pytest.fixture
def exported(runbooks, elsewhere, desk, tmp_path):
    """Exports an execution of the runbooks; returns its file and the execution."""

    def run(ending="json", configuration="sparse"):
        execution = evaluate(Workspace.at(runbooks).collection("runbooks"), [configuration])[0]
        path = tmp_path / f"out.{ending}"
        words = ("export", "runbooks", "execution", path, "--execution", execution.execution.id)
        assert desk(runbooks, *words).code == 0
        return path, execution.execution

    return run


def again(desk, root, execution, path):
    words = ("export", execution.collection, "execution", path, "--execution", execution.id)
    assert desk(root, *words).code == 0
    return path.read_bytes()


@pytest.mark.parametrize("configuration", ["sparse", "dense"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_out_in_and_out_again_is_the_same(
    desk, exported, elsewhere, tmp_path, ending, configuration
):
    path, execution = exported(ending, configuration)
    answer = desk(elsewhere, "import", "runbooks", "execution", path)
    assert answer.code == 0 and "Imported" in answer.out
    assert listed(elsewhere) == [execution]
    assert again(desk, elsewhere, execution, tmp_path / f"again.{ending}") == path.read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_also_beside_other_executions_with_other_numbers(
    desk, exported, elsewhere, tmp_path, ending
):
    path, execution = exported(ending)
    questions = elsewhere / "labels/runbooks/questions.jsonl"
    lines = questions.read_text().splitlines(keepends=True)
    questions.write_text("".join(reversed(lines)))
    run = tmp_path / "my.run"
    run.write_text("retry-budget Q0 recovery/p0 1 1 x\nhttp-pooling Q0 nobody 1 1 x\n")
    assert desk(elsewhere, "import", "runbooks", "run", run).code == 0
    here = Workspace.at(elsewhere).collection("runbooks")
    evaluate(here, ["dense", "sparse"])
    assert desk(elsewhere, "import", "runbooks", "execution", path).code == 0
    assert again(desk, elsewhere, execution, tmp_path / f"again.{ending}") == path.read_bytes()
    assert len(listed(elsewhere)) == 4
    mine = {r.question: r for r in executions.rankings(store_of(elsewhere), execution)[0]}
    root = path.parent / "runbooks-workspace"
    assert mine == {r.question: r for r in executions.rankings(store_of(root), execution)[0]}


def test_it_is_scored_and_compared_where_it_arrives(desk, exported, elsewhere):
    path, execution = exported()
    answer = desk(elsewhere, "import", "runbooks", "execution", path)
    assert f"sparse: execution {execution.id}, complete" in answer.out
    local = evaluate(Workspace.at(elsewhere).collection("runbooks"), ["sparse"])[0].execution
    found = desk(elsewhere, "compare", execution.id, local.id, "--json").json
    assert {row["delta"] for row in found["means"] if row["n"]} == {0}
    ids = {one["execution"] for one in desk(elsewhere, "executions", "--json").json["executions"]}
    assert ids == {execution.id, local.id}


def test_without_retained_texts_no_text_is_in_the_file(exported, runbooks, edit):
    edit(
        runbooks / "data/runbooks/collection.toml", "format = 1", "format = 1\nretain_text = false"
    )
    path, _ = exported("json")
    value = json.loads(path.read_bytes())
    assert value["text"] == [] and len(value["chunk"]) == 7
    assert {(title, section) for *_, title, section in value["chunk"]} == {("", "")}
    assert "linger until the machine" not in path.read_text()


def test_a_text_another_collection_retains_is_not_in_the_file(exported, runbooks, edit):
    for part in ("data", "labels"):
        shutil.copytree(runbooks / part / "runbooks", runbooks / part / "open")
    evaluate(Workspace.at(runbooks).collection("open"), ["sparse"])
    edit(
        runbooks / "data/runbooks/collection.toml", "format = 1", "format = 1\nretain_text = false"
    )
    path, _ = exported("json")
    assert "linger until the machine" not in path.read_text()


def test_an_execution_that_is_there_is_left_as_it_is(desk, exported, elsewhere):
    path, execution = exported()
    for _ in range(2):
        answer = desk(elsewhere, "import", "runbooks", "execution", path, "--json")
        (one,) = answer.json["imports"]
        assert answer.code == 0 and one["refused"] == 0
    assert (one["new"], one["known"]) == (0, one["read"]) and one["read"] > 0
    assert listed(elsewhere) == [execution]


@pytest.mark.parametrize("change", ["title", "retain_text", "trailing blank"])
def test_it_is_there_also_where_the_corpus_is_kept_otherwise(desk, indexed, tmp_path, edit, change):
    texts = [{"id": n, "text": t, "title": "T"} for n, t in (("apple", "An apple."), ("b", "B."))]
    labels, fields = [("q1", "apple", 2)], ', title = "title"'
    root = indexed(texts, labels=labels, fields=fields)
    there = tmp_path / "there"
    shutil.copytree(root, there)
    data = there / "data/tiny"
    if change == "title":
        edit(data / "corpus.jsonl", '"title": "T"', '"title": "Tea"')
    elif change == "retain_text":
        edit(data / "collection.toml", "format = 1", "format = 1\nretain_text = false")
    else:
        edit(data / "corpus.jsonl", "An apple.", "An apple. ")
    execution = evaluate(Workspace.at(root).collection("tiny"))[0].execution
    evaluate(Workspace.at(there).collection("tiny"))
    path = tmp_path / "out.json"
    again(desk, root, execution, path)
    for _ in range(2):
        answer = desk(there, "import", "tiny", "execution", path)
        assert (answer.code, answer.errors) == (0, [])


def test_the_same_id_with_another_content_is_refused(desk, exported, elsewhere, tmp_path):
    path, execution = exported()
    assert desk(elsewhere, "import", "runbooks", "execution", path).code == 0
    value = json.loads(path.read_bytes())
    value["hit"][0][-1] += 1.0
    path.write_text(json.dumps(value))
    before = again(desk, elsewhere, execution, tmp_path / "before.json")
    answer = desk(elsewhere, "import", "runbooks", "execution", path)
    assert answer.code == 2 and answer.errors == [
        f"error: out.json: there is another execution {execution.id} already. Look at it: desk "
        "executions."
    ]
    assert again(desk, elsewhere, execution, tmp_path / "after.json") == before


def test_a_dry_run_writes_nothing(desk, exported, elsewhere):
    path, _ = exported()
    before = tree(elsewhere)
    answer = desk(elsewhere, "import", "runbooks", "execution", path, "--dry-run")
    assert answer.code == 0 and "A dry run: nothing was written." in answer.out
    assert tree(elsewhere) == before


def test_another_corpus_revision_is_told_and_not_compared(desk, exported, elsewhere, edit):
    path, execution = exported()
    texts = elsewhere / "data/runbooks/corpus"
    (texts / "new.md").write_text("---\nid: new\nstatus: published\n---\n# New\n\nA new text.\n")
    index(Workspace.at(elsewhere).collection("runbooks"))
    local = evaluate(Workspace.at(elsewhere).collection("runbooks"), ["sparse"])[0].execution
    answer = desk(elsewhere, "import", "runbooks", "execution", path)
    assert answer.code == 0
    (note,) = [note for note in answer.notes if "another revision of the corpus" in note]
    assert execution.corpus_revision[:12] in note and local.corpus_revision[:12] in note
    answer = desk(elsewhere, "compare", execution.id, local.id)
    assert answer.code == 2 and "different revisions of the corpus" in answer.errors[0]


def test_it_belongs_to_the_collection_it_is_imported_into(desk, exported, elsewhere):
    path, execution = exported()
    for part in ("data", "labels"):
        (elsewhere / part / "runbooks").rename(elsewhere / part / "renamed")
    answer = desk(elsewhere, "import", "renamed", "execution", path)
    assert answer.code == 0 and [n for n in answer.notes if "a collection called runbooks" in n]
    assert [one.collection for one in listed(elsewhere)] == ["renamed"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_incomplete_executions_travel_with_the_reasons(desk, tiny, tmp_path, ending):
    root, there = tiny(), tmp_path / "there"
    shutil.copytree(root, there)
    hits = (Hit(1, ChunkKey("pear", "as-is-v1", "pear"), 0.1 + 0.2),)
    found = [Ranking("q1", hits, None, 0.1, 1e-9), Ranking("q2", failure='the "server"\nis gone')]
    execution = saved(root, found, QUESTIONS, status="incomplete")
    path = tmp_path / f"out.{ending}"
    again(desk, root, execution, path)
    assert desk(there, "import", "tiny", "execution", path).code == 0
    assert listed(there) == [execution]
    assert executions.rankings(store_of(there), execution) == (found, QUESTIONS)
    run = tmp_path / "my.run"
    run.write_text("q1 Q0 apple 1 1 x\nq2 Q0 plum 1 1 x\n")
    assert desk(there, "import", "tiny", "run", run).code == 0
    answer = desk(there, "compare", "x", execution.id)
    assert answer.code == 2 and f"the execution {execution.id} is incomplete" in answer.errors[0]


hostile = st.text(min_size=1, max_size=12) | st.sampled_from(
    [
        "\u2028",
        "a\r\nb",
        "\ufeffx",
        '"',
        "\\",
        "\U0001f600",
        "e\u0301",
        "a\tb",
        "[1]",
        "=1+1",
        "NaN",
    ]
)
texts = hostile.filter(lambda text: text.strip() and not fault_in_text(text))
ids = hostile.filter(lambda name: not fault_in_id(name))


@settings(deadline=None, max_examples=10, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    corpus=st.dictionaries(ids, texts, min_size=1, max_size=4),
    asked=st.dictionaries(ids, texts, min_size=1, max_size=3),
    failure=texts,
    scores=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
)
def test_hostile_ids_and_texts_survive(desk, tmp_path_factory, corpus, asked, failure, scores):
    roots = [tmp_path_factory.mktemp("hostile") for _ in range(2)]
    for root in roots:
        data = root / "data/tiny"
        data.mkdir(parents=True)
        lines = [{"id": name, "text": text, "title": failure} for name, text in corpus.items()]
        (data / "corpus.jsonl").write_text(lines_of(lines), encoding="utf-8")
        (data / "collection.toml").write_text(
            'format = 1\n[source]\nkind = "jsonl"\npath = "corpus.jsonl"\nfields = { chunk = "id", '
            f'text = "text", title = "title" }}\n[chunking]\nrule = "as-is-v1"\n{SPARSE}'
        )
    pairs = zip(corpus, sorted(scores, reverse=True), strict=False)
    hits = [Hit(n, ChunkKey(c, "as-is-v1", c), s) for n, (c, s) in enumerate(pairs, start=1)]
    first, *others = [Ranking(name, tuple(hits)) for name in asked]
    execution = saved(roots[0], [first, *(Ranking(o.question, (), failure) for o in others)], asked)
    for ending in ENDINGS:
        path, back = roots[0] / f"out.{ending}", roots[1] / f"back.{ending}"
        once = again(desk, roots[0], execution, path)
        assert desk(roots[1], "import", "tiny", "execution", path, "--json").code == 0
        assert again(desk, roots[1], execution, back) == once
    stored = [executions.rankings(store_of(root), execution) for root in roots]
    assert stored[0] == stored[1]


def test_a_parquet_file_says_what_it_is(exported):
    path, execution = exported("parquet")
    table = pq.read_table(path)
    assert set(table["kind"].to_pylist()) == {"question", "hit", "chunk", "text"}
    assert json.loads(table.schema.metadata[b"desk"])["execution"] == execution.id
