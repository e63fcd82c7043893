"""Files that are no whole execution: one sentence, and nothing is written."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.core.model import ChunkKey, Hit, Ranking
from tests.conftest import QUESTIONS, tiny_in
from tests.exchanging import tree
from tests.runs import saved


@pytest.fixture(scope="module")
def made(tmp_path_factory, desk):
    """What `roots` copies, made once."""
    folder = tmp_path_factory.mktemp("damaged") / "made"
    root = tiny_in(folder / "tiny-workspace")
    shutil.copytree(root, folder / "there")
    hits = [
        Hit(n, ChunkKey(c, "as-is-v1", c), 1 / n) for n, c in enumerate(("apple", "pear"), start=1)
    ]
    execution = saved(root, [Ranking(name, tuple(hits)) for name in QUESTIONS], QUESTIONS)
    for ending in ("json", "parquet"):
        words = (folder / f"out.{ending}", "--execution", execution.id)
        assert desk(root, "export", "tiny", "execution", *words).code == 0
    return folder


@pytest.fixture
def roots(made, tmp_path):
    """A workspace with a file of an execution in both formats, and one it may go to."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path, tmp_path / "there"


@pytest.fixture
def refused(roots, desk):
    """Imports a damaged file; what was said."""

    def run(path):
        _, there = roots
        before = tree(there)
        answer = desk(there, "import", "tiny", "execution", path)
        assert (answer.code, len(answer.errors)) == (2, 1), answer
        assert "unexpected" not in answer.errors[0] and "desk.log" not in answer.errors[0]
        assert answer.errors[0].startswith(f"error: {path.name}: ")
        assert tree(there) == before
        return answer.errors[0]

    return run


def head(**more):
    return lambda value: value["head"].update(more)


def provenance(**more):
    return lambda value: value["head"]["provenance"].update(more)


def cell(table, column, content, row=0):
    def change(value):
        value[table][row][column] = content

    return change


def twice(table):
    return lambda value: value[table].append(value[table][0])


DAMAGE = {
    "format 2": head(format=2),
    "format as text": head(format="1"),
    "no format": lambda value: value["head"].pop("format"),
    "an unknown key": head(more=1),
    "no id": lambda value: value["head"].pop("execution"),
    "a blank id": head(execution=" "),
    "an unknown status": head(status="done"),
    "more eligible chunks": head(eligible=5),
    "fewer points than chunks": head(points=-1),
    "points beyond any number": head(points=10**20),
    "no configuration": provenance(configuration=None),
    "a configuration that is nothing": provenance(configuration={}),
    "a threshold that is no number": provenance(
        configuration={"mode": "sparse", "threshold": "high"}
    ),
    "no depth": lambda value: value["head"]["provenance"].pop("depth"),
    "a depth that is no number": provenance(depth="deep"),
    "a head that is a list": lambda value: value.update(head=[]),
    "no hits table": lambda value: value.pop("hit"),
    "no texts table": lambda value: value.pop("text"),
    "a table that is a number": lambda value: value.update(chunk=3),
    "a row that is too short": lambda value: value["hit"][0].pop(),
    "a row that is too long": lambda value: value["hit"][0].append(1),
    "a row that is text": lambda value: value["hit"].append("q1"),
    "another text": cell("text", 1, "Another text."),
    "no text": cell("text", 1, None),
    "a text with half a character": cell("text", 1, "\ud800"),
    "a hash of no text": cell("text", 0, "f" * 64),
    "a hit of an unasked question": cell("hit", 0, "q9"),
    "a hit of no question": cell("hit", 0, None),
    "a question twice": twice("question"),
    "a question without words": cell("question", 1, None),
    "a blank question id": cell("question", 0, ""),
    "a chunk twice": lambda value: value["chunk"].__setitem__(1, value["chunk"][0]),
    "a hit on an unknown chunk": cell("hit", 4, "nobody"),
    "a hit twice": twice("hit"),
    "a rank of 0": cell("hit", 1, 0),
    "a rank that is missing": cell("hit", 1, None),
    "a rank beyond any ranking": cell("hit", 1, 10**9),
    "a rank left out": cell("hit", 1, 3),
    "a rank that is text": cell("hit", 1, "first"),
    "a score that is missing": cell("hit", 5, None),
    "a score that is text": cell("hit", 5, "high"),
    "a score that is no number": cell("hit", 5, float("nan")),
    "a time that is missing": cell("question", 3, None),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_no_export_would_hold_is_refused(roots, refused, damage):
    folder, _ = roots
    value = json.loads((folder / "out.json").read_bytes())
    DAMAGE[damage](value)
    path = folder / "bad.json"
    path.write_text(json.dumps(value))
    refused(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.json", b""),
        ("bad.json", b"{}"),
        ("bad.json", b"[]"),
        ("bad.json", b"null"),
        ("bad.json", b'"head"'),
        ("bad.json", b"\xff\xfe{"),
        ("bad.json", b"[" * 100_000),
        ("bad.parquet", b""),
        ("bad.parquet", b"PAR1"),
        ("bad.parquet", b"q1 Q0 apple 1 1 x\n" * 20),
        ("bad.txt", b"{}"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_files_of_another_kind_are_refused(roots, refused, name, content):
    folder, _ = roots
    (folder / name).write_bytes(content)
    assert "the file is not an exported execution" in refused(folder / name)


@pytest.mark.parametrize("ending", ["json", "parquet"])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_is_refused(roots, refused, ending, share):
    folder, _ = roots
    whole = (folder / f"out.{ending}").read_bytes()
    path = folder / f"cut.{ending}"
    path.write_bytes(whole[: int(len(whole) * share)])
    assert "the file is not an exported execution" in refused(path)


def parquet_with(folder, change):
    table = pq.read_table(folder / "out.parquet")
    path = folder / "bad.parquet"
    pq.write_table(change(table), path)
    return path


PARQUET = {
    "no head": lambda table: table.replace_schema_metadata({}),
    "a head that is no JSON": lambda table: table.replace_schema_metadata({"desk": "{"}),
    "no kinds": lambda table: table.drop_columns(["kind"]),
    "no scores": lambda table: table.drop_columns(["score"]),
    "no rows": lambda table: table.slice(0, 0),
    "ranks as texts": lambda table: table.set_column(
        table.schema.get_field_index("rank"), "rank", table["rank"].cast(pa.string())
    ),
    "scores left blank": lambda table: table.set_column(
        table.schema.get_field_index("score"), "score", pa.nulls(len(table), pa.float64())
    ),
}


@pytest.mark.parametrize("damage", PARQUET)
def test_tables_of_another_kind_are_refused(roots, refused, damage):
    folder, _ = roots
    refused(parquet_with(folder, PARQUET[damage]))


def test_a_file_of_a_newer_program_says_so(roots, refused):
    folder, _ = roots
    value = json.loads((folder / "out.json").read_bytes())
    value["head"]["format"] = 2
    (folder / "new.json").write_text(json.dumps(value))
    assert refused(folder / "new.json") == (
        "error: new.json: the file has format 2, not 1. Update the program."
    )


def test_what_is_whole_is_taken(roots, desk):
    folder, there = roots
    assert desk(there, "import", "tiny", "execution", folder / "out.json").code == 0
    assert desk(there, "import", "tiny", "execution", folder / "out.parquet").code == 0
    (one,) = desk(there, "executions", "--json").json["executions"]
    assert one["means"]
