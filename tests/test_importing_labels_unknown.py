"""Labels on chunks that are not here, that may not be found, or on nothing this corpus has."""

from functools import partial

import pytest

import app.flows.exchange.labels as flow
from app.core.model import ChunkKey
from app.flows.loading import load
from tests.exchanging import errors, import_file, ledger, tree, written

V = "as-is-v1"
GONE = ChunkKey("gone", V, "gone").short()
CSV = "question,chunk,grade\nq1,apple,2\nq1,gone,1\n"
JSON = '{"question":"q1","chunk":"apple","grade":2}\n{"question":"q1","chunk":"gone","grade":1}\n'
TREC = "q1 0 apple 2\nq1 0 gone 1\n"
FORMATS = pytest.mark.parametrize(
    ("name", "content", "default"),
    [("l.csv", CSV, "refuse"), ("l.jsonl", JSON, "refuse"), ("qrels.txt", TREC, "keep")],
)


@pytest.fixture
def root(tiny):
    """A workspace without a label."""
    return tiny(labels=[])


@pytest.fixture
def bring(root, desk):
    """Imports labels from a file of that name and content."""
    return partial(import_file, desk, root, "labels")


def chunks(root):
    return [(one["chunk"][2], one.get("no_text", False)) for one in ledger(root, "imported")]


def check(root, answer, chosen, line):
    if chosen == "keep":
        assert answer.code == 0 and chunks(root) == [("apple", False), ("gone", True)]
        assert any(f"Chunks without a text here: 1, {GONE} for one" in n for n in answer.notes)
    elif chosen == "skip":
        assert answer.code == 0 and chunks(root) == [("apple", False)]
        assert "1 new, 0 there already, 1 left out (unknown chunk), 0 refused" in answer.out
    else:
        assert answer.code == 2 and not (root / "labels/tiny/judgments/imported.jsonl").exists()
        assert errors(answer)[0].startswith(f'{line}:{2 + (line == "l.csv")}: the chunk "gone" is')


@FORMATS
@pytest.mark.parametrize("chosen", ["keep", "skip", "refuse"])
def test_the_user_says_what_becomes_of_unknown_chunks(root, bring, name, content, default, chosen):
    check(root, bring(name, content, "--unknown", chosen), chosen, name)


@FORMATS
def test_without_a_word_qrels_keep_them_and_tables_refuse_them(root, bring, name, content, default):
    check(root, bring(name, content), default, name)


@pytest.mark.parametrize("chosen", ["keep", "skip", "refuse"])
def test_an_unknown_question_is_refused_whatever_is_said(root, bring, chosen):
    before = tree(root)
    answer = bring("qrels.txt", "q1 0 apple 2\nq9 0 apple 1\n", "--unknown", chosen)
    assert answer.code == 2 and tree(root) == before
    assert errors(answer)[0].startswith('qrels.txt:2: the question "q9" is unknown')


def test_a_label_without_a_text_says_so_and_pins_none(root, bring):
    bring("qrels.txt", "q1 0 apple 2\nq1 0 the%20book|v%7C1|a%20b 1\n")
    line = ledger(root, "imported")[1]
    assert line["chunk"] == ["the book", "v|1", "a b"]
    assert (line["no_text"], line["grade"]) == (True, 1) and "text_hash" not in line


def test_an_id_that_can_be_no_key_is_refused(root, bring):
    before = tree(root)
    answer = bring("qrels.txt", "q1 0 apple 2\nq1 0 a%0Ab 1\n")
    assert answer.code == 2 and tree(root) == before
    assert errors(answer) == [
        'qrels.txt:2: the id "a%0Ab" holds a control character. Correct the id.'
    ]
    cells = "question,document,chunk,grade\nq1,apple,apple,1\nq1,d,a\x01b,1\n"
    answer = bring("l.csv", cells, "--unknown", "keep")
    assert answer.code == 2 and tree(root) == before
    assert errors(answer)[0].startswith("l.csv:3: chunk has a chunk id that holds a control")


def test_labels_without_a_text_are_known_evidence(root, bring, desk, collection_of):
    bring("qrels.txt", "q1 0 apple 2\nq1 0 gone 1\nq2 0 away 2\nq2 0 zero 0\n")
    labels = load(collection_of(root)).labels
    names = {name: [key.chunk for key in labels.relevant(name)] for name in ("q1", "q2")}
    assert names == {"q1": ["apple", "gone"], "q2": ["away"]}
    assert labels.kinds == {"q1": "answerable", "q2": "answerable"}
    assert desk(root, "index", "tiny").code == 0
    answer = desk(root, "evaluate", "tiny", "--k", "3", "--json")
    (execution,) = answer.json["executions"]
    found = {one["question"]: one for one in execution["questions"]}
    assert {name: one["relevant"] for name, one in found.items()} == {"q1": 2, "q2": 1}
    recall = {name: one["unjudged_as_0"]["recall"] for name, one in found.items()}
    assert recall == {"q1": 0.5, "q2": 0.0}
    said = "Labeled pairs whose chunk has no text here: 3, "
    assert any(said in notice for notice in execution["notices"])


def test_a_label_waits_for_its_chunk(root, bring, collection_of):
    bring("qrels.txt", "q1 0 apple 2\nq1 0 gone 1\n")
    corpus = root / "data/tiny/corpus.jsonl"
    corpus.write_text(corpus.read_text() + '{"id":"gone","text":"Here again."}\n')
    labels = load(collection_of(root)).labels
    (label,) = [one for (_, key), one in labels.pairs.items() if key.chunk == "gone"]
    assert (label.state, label.grade, label.departed) == ("judged", 1, False)
    assert not any("has no text here" in notice for notice in labels.notices)


def test_a_chunk_that_may_not_be_found_is_refused(tiny, desk, tmp_path):
    texts = [{"id": "a", "text": "One.", "kind": "live"}, {"id": "b", "text": "Two.", "kind": "no"}]
    root = tiny(texts, labels=[], settings='[eligible]\nkind = "live"')
    before = tree(root)
    path = written(tmp_path / "l.csv", "question,chunk,grade\nq1,a,2\nq1,b,1\nq2,b,0\n")
    answer = desk(root, "import", "tiny", "labels", path, "--json")
    (found,) = answer.json["imports"]
    assert answer.code == 2 and tree(root) == before and (found["new"], found["refused"]) == (1, 2)
    assert [problem["place"] for problem in found["problems"]] == ["l.csv:3", "l.csv:4"]
    assert found["problems"][0]["message"].endswith(" is labeled but not eligible")
    answer = desk(root, "import", "tiny", "labels", path, "--skip-refused")
    assert answer.code == 0 and chunks(root) == [("a", False)]


def test_a_file_of_another_corpus_is_refused(root, bring):
    before = tree(root)
    answer = bring("qrels.txt", "".join(f"q1 0 other-{n} 1\n" for n in range(30)))
    assert answer.code == 2 and tree(root) == before
    assert "not one of the 30 labels names a chunk of this corpus" in answer.err


def test_a_file_of_another_corpus_is_told_once_and_tried_once(root, bring, monkeypatch):
    calls = []

    def resolve(*words):
        calls.append(words)
        return resolved(*words)

    resolved = flow.resolve
    monkeypatch.setattr(flow, "resolve", resolve)
    answer = bring("qrels.txt", "".join(f"q1 0 other-{n} 1\n" for n in range(30)))
    assert answer.code == 2 and len(answer.errors) == 1 and len(calls) <= 3


def test_beside_labels_that_meet_the_corpus_none_need_to(root, bring):
    bring("qrels.txt", "q1 0 apple 2\n")
    answer = bring("other.txt", "q1 0 gone 1\nq2 0 away 1\n")
    assert answer.code == 0 and len(chunks(root)) == 3


def test_labels_that_are_broken_already_are_told_first(root, bring):
    path = root / "labels/tiny/judgments/ann.jsonl"
    for line, message in (
        ("{\n", "labels/tiny/judgments/ann.jsonl:1: the line is not JSON"),
        (
            '{"format":1,"event":"e1","time":"t","author":"ann","kind":"grade","question":"q9",'
            f'"chunk":["apple","{V}","apple"],"grade":1}}\n',
            'labels/tiny/judgments/ann.jsonl:1: the question "q9" is unknown',
        ),
    ):
        path.write_text(line)
        before = tree(root)
        for name, content in (("l.csv", CSV), ("qrels.txt", TREC)):
            answer = bring(name, content, "--skip-refused")
            assert answer.code == 2 and errors(answer)[0].startswith(message)
            assert answer.out == "" and tree(root) == before


def test_without_a_question_there_is_nothing_to_label(root, bring):
    (root / "labels/tiny/questions.jsonl").unlink()
    answer = bring("qrels.txt", TREC)
    assert answer.code == 2 and errors(answer) == [
        "labels/tiny/questions.jsonl: there are no questions these labels could belong to. "
        "Import them first: desk import tiny questions FILE."
    ]


@pytest.mark.parametrize("content", ["question,chunk,grade\n", "question,chunk,grade\n,,\n\n"])
def test_an_empty_table_changes_nothing(root, bring, content):
    before = tree(root)
    answer = bring("l.csv", content)
    assert answer.code == 0 and "0 rows read, labels of tiny: 0 new" in answer.out
    assert tree(root) == before
