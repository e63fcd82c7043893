"""Check: what is refused, what makes scores doubtful, and what is fine."""

import json

import pytest

from app.core.errors import InvalidInput
from app.flows.checking import as_json, as_text, check
from app.flows.indexing import index
from app.workspace import Workspace


def check_of(root):
    """The report on the only collection of a workspace folder."""
    workspace = Workspace.at(root)
    (name,) = workspace.names()
    return check(workspace, name)


def findings(report):
    assert report.exit_code == 1 and not report.errors
    return [str(problem) for problem in report.findings]


def test_the_runbooks_are_fine(runbooks, collection_of):
    report = check_of(runbooks)
    assert (report.exit_code, report.errors, report.findings, report.notices) == (0, (), (), ())
    facts = {name: report.facts[name] for name in ("documents", "chunks", "eligible", "relevant")}
    assert facts == {"documents": 7, "chunks": 11, "eligible": 7, "relevant": 9}
    assert report.facts["questions"] == {"answerable": 7, "unsupported": 2}
    text = as_text(report)
    assert report.facts["corpus_revision"] in text and text.endswith("  Fine.")
    assert as_json(report)["ok"] is True and as_json(report)["problems"] == []


def test_a_check_writes_nothing(tiny, collection_of):
    root = tiny()
    before = sorted(path for path in root.rglob("*"))
    check_of(root)
    assert sorted(path for path in root.rglob("*")) == before


def test_what_is_not_indexed(tiny, collection_of):
    assert findings(check_of(tiny())) == [
        "the collection tiny is not indexed for the configuration sparse. "
        "Index it: desk index tiny."
    ]


def test_refused_input_is_an_error(tiny, collection_of):
    report = check_of(tiny(labels=[("q9", "apple", 2)]))
    assert report.exit_code == 2 and report.facts == {}
    assert [str(problem) for problem in report.errors] == [
        'labels/tiny/judgments/ann.jsonl:1: the question "q9" is unknown. '
        "Add it to questions.jsonl, or withdraw the label."
    ]
    assert as_text(report).endswith("  Refused.")
    (problem,) = as_json(report)["problems"]
    assert problem == {
        "severity": "error",
        "place": "labels/tiny/judgments/ann.jsonl:1",
        "message": 'the question "q9" is unknown',
        "remedy": "Add it to questions.jsonl, or withdraw the label",
    }


def test_a_reworded_question_makes_labels_stale(runbooks, collection_of, edit):
    edit(runbooks / "labels/runbooks/questions.jsonl", "Is unfinished work", "Is any work")
    (sentence,) = findings(check_of(runbooks))
    assert sentence == (
        "1 stale pair (the text or the question has changed): restart-recovery with "
        "durable-work-queue recovery/p0. Judge again."
    )


def test_reviewers_who_disagree(indexed, collection_of):
    labels = [("q1", "apple", 2), {**line("q1", "apple", 0, "bob")}, ("q2", "plum", 2)]
    (sentence,) = findings(check_of(indexed(labels=labels)))
    assert sentence == (
        "1 disputed pair (reviewers disagree): q1 with apple. "
        "Decide it on page Label, under Disputes."
    )


def line(question, chunk, grade, author, **more):
    return {
        "format": 1, "event": f"{author}{question}{chunk}", "time": "t", "author": author,
        "kind": "grade", "question": question, "chunk": [chunk, "as-is-v1", chunk],
        "grade": grade, **more,
    }  # fmt: skip


def test_what_nobody_could_judge(indexed, collection_of):
    nobody = line("q1", "pear", None, "bob", reason="ambiguous question")
    labels = [("q1", "apple", 2), {**nobody, "kind": "cannot-judge"}]
    (sentence,) = findings(check_of(indexed(labels=labels)))
    assert sentence == (
        "1 unjudgeable pair (everybody said cannot judge): q1 with pear. "
        "Let somebody else judge, or retire the pair on page Label, under Disputes."
    )


def test_an_unsupported_question_with_evidence(runbooks, collection_of, edit):
    path = runbooks / "labels/runbooks/questions.jsonl"
    revision = collection_of(runbooks).corpus().revision
    edit(path, 'need":"Whether and how', f'unsupported_as_of":"{revision}","need":"Whether and how')
    assert findings(check_of(runbooks))[0] == (
        'the question "restart-recovery" is marked unsupported, but durable-work-queue '
        "recovery/p0 has grade 2. Withdraw the label, or remove unsupported_as_of from the "
        "question."
    )


def test_a_changed_corpus(runbooks, collection_of, edit):
    edit(runbooks / "data/runbooks/corpus/batch-worker-draft.md", "Draft, not", "Not")
    sentences = findings(check_of(runbooks))
    revision = collection_of(runbooks).corpus().revision
    for name in ("ingress-timeout", "retention-days"):
        assert (
            f'the question "{name}" was found unsupported in another corpus revision. Search the '
            f'corpus again, then set unsupported_as_of to "{revision}".'
        ) in sentences
    assert sum("has changed since it was indexed" in sentence for sentence in sentences) == 1


def test_a_labeled_chunk_that_left_the_corpus_is_a_note(runbooks, collection_of):
    (runbooks / "data/runbooks/corpus/durable-work-queue.md").unlink()
    index(collection_of(runbooks))
    report = check_of(runbooks)
    assert report.notices == (
        "Labeled pairs whose chunk has left the corpus: 1, durable-work-queue recovery/p0 for one. "
        "Relevant ones stay misses until they are retired.",
    )


def test_chunks_the_embedder_cut(indexed, collection_of):
    dense = '[configurations.dense]\nembedder = "bundled"\n'
    root = indexed({"long": "word " * 300}, labels=(), configurations=dense)
    assert findings(check_of(root)) == [
        "chunks longer than bundled reads were cut: 1, long for one. Split long paragraphs in "
        "the source texts."
    ]


def test_an_ollama_server_that_is_not_there(tiny, collection_of, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")
    ollama = "\n".join(f'[configurations.{n}]\nembedder = "ollama:m"' for n in ("one", "two"))
    assert findings(check_of(tiny(configurations=ollama))) == [
        "Ollama does not answer at 127.0.0.1:9. Start it (ollama serve), set OLLAMA_HOST, or "
        "choose the bundled embedder."
    ]


def test_settings_that_are_refused_are_told_in_the_report(tiny, edit):
    root = tiny()
    edit(root / "data/tiny/collection.toml", "format = 1", "format = 2")
    report = check_of(root)
    assert (report.exit_code, report.facts) == (2, {})
    assert [str(problem) for problem in report.errors] == [
        'data/tiny/collection.toml: format is "2", not 1. Correct it.'
    ]


def test_an_unknown_collection_has_no_report(tiny):
    with pytest.raises(InvalidInput, match='there is no collection "nope"'):
        check(Workspace.at(tiny()), "nope")


def test_a_changed_title_that_is_embedded_is_told(tiny, collection_of, edit):
    """What `desk evaluate` refuses, `desk check` must not call fine."""
    texts = [{"id": "a", "text": "An apple.", "name": "Apples"}]
    dense = '[configurations.dense]\ndocument_template = "{title}: {text}"\n'
    fields = ', title = "name"'
    root = tiny(texts, labels=[("q1", "a", 2)], configurations=dense, fields=fields)
    index(collection_of(root))
    assert check_of(root).exit_code == 0
    edit(root / "data/tiny/corpus.jsonl", "Apples", "Fruit")
    assert "desk index tiny" in findings(check_of(root))[0]


Q = {"format": 1, "id": "q1", "category": "general", "text": "What of apples?"}
CORPUS, QUESTIONS = "data/tiny/corpus.jsonl", "labels/tiny/questions.jsonl"
LABELS = "labels/tiny/judgments/ann.jsonl"
MEND = "Correct the line."


@pytest.mark.parametrize(
    ("part", "lines", "sentence"),
    [
        ("texts", ['{"id": "a", "text": "x"'],
         f"{CORPUS}:1: the line is not JSON (Expecting ',' delimiter at column 24). {MEND}"),
        ("texts", ['["a"]'], f"{CORPUS}:1: the line is JSON, but not an object in braces. {MEND}"),
        ("texts", [{"id": "a"}], f'{CORPUS}:1: the field "text" is missing. Correct the line, or '
         "source.fields in collection.toml."),
        ("texts", [{"id": " ", "text": "x"}],
         f'{CORPUS}:1: the document id " " is blank. Correct the source text.'),
        ("texts", ['{"id": "a", "text": "x \\ud800"}'],
         f"{CORPUS}:1: the text holds the lone surrogate U+D800, which is no character. "
         "Correct the source text."),
        ("texts", ['{"id": "a", "text": "x \\u0000"}'],
         f"{CORPUS}:1: the text holds a NUL character. Correct the source text."),
        ("texts", [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}],
         f"{CORPUS}:2: the chunk a was already defined at {CORPUS}:1. Give one of the two "
         "another id."),
        ("texts", [{"id": "a", "text": "x" * 200_001}],
         f"{CORPUS}:1: the text has 200,001 characters, over 200,000. Correct the source text."),
        ("texts", [], f"{CORPUS}: the corpus is empty. Put JSON lines with some text there."),
        ("questions", [{**Q, "catgory": "x"}],
         f'{QUESTIONS}:1: unknown key "catgory". Did you mean category?'),
        ("questions", [Q, Q], f'{QUESTIONS}:2: the question id "q1" was already used on line 1. '
         "Give one of the two another id."),
        ("questions", [{**Q, "id": ""}], f'{QUESTIONS}:1: id "" is blank. {MEND}'),
        ("questions", [{**Q, "text": "\ud800"}],
         f"{QUESTIONS}:1: text holds the lone surrogate U+D800, which is no character. {MEND}"),
        ("questions", [{**Q, "text": "a\x00"}],
         f"{QUESTIONS}:1: text holds a NUL character. {MEND}"),
        ("questions", ['{"id": NaN}'], f"{QUESTIONS}:1: the line is not usable JSON (NaN is not "
         f"JSON). {MEND}"),
        ("questions", [], f"{QUESTIONS}: there are no questions. Add one a line: "
         '{"format":1,"id":"q1","category":"general","text":"..."}.'),
        ("labels", [("q1", "fig", 2)], f"{LABELS}:1: the chunk fig is unknown. Correct the "
         "document, version and chunk ids, or remove the line."),
        ("labels", [("q1", "apple", 7)], f"{LABELS}:1: grade 7 is outside 0..2. {MEND}"),
        ("labels", [("q1", "apple", 1.5)],
         f'{LABELS}:1: grade "1.5" is not a whole number. {MEND}'),
        ("labels", [("q1", "apple", True)],
         f'{LABELS}:1: grade "True" is not a whole number. {MEND}'),
        ("labels", [line("q1", "apple", 2, "ann", grde=1)],
         f'{LABELS}:1: unknown key "grde". Did you mean grade?'),
        ("labels", [line("q1", "apple", 2, "ann", format=2)],
         f'{LABELS}:1: format is "2", not 1. {MEND}'),
    ],
)  # fmt: skip
def test_bad_lines_are_refused_by_every_command_that_reads_them(tiny, desk, part, lines, sentence):
    more = {"labels": ()} if part != "labels" else {}
    lines = [json.dumps(one) if isinstance(one, dict) else one for one in lines]
    root = tiny(**{**more, part: lines})
    if part == "labels":
        assert desk(root, "index", "tiny").code == 0  # an index needs no label
    elif lines:
        assert desk(root, "index", "tiny").err == f"error: {sentence}\n"
        assert not (root / "data/tiny/vectors").exists()
    answer = desk(root, "evaluate", "tiny")
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {sentence}\n")
    found = desk(root, "check", "tiny")
    assert found.code == 2 and f"  error: {sentence}\n" in found.out
    assert not (root / "data/desk.duckdb").exists()


def test_a_label_on_a_chunk_that_is_not_eligible(tiny, desk):
    texts = [{"id": "a", "text": "x", "status": "draft"}, {"id": "b", "text": "y", "status": "ok"}]
    root = tiny(texts, labels=[("q1", "a", 2)], settings='[eligible]\nstatus = "ok"')
    assert desk(root, "evaluate", "tiny").err == (
        f"error: {LABELS}:1: the chunk a is labeled but not eligible. Correct the filter in "
        "collection.toml, or withdraw or retire the label.\n"
    )


def test_nothing_that_may_be_found(tiny, desk):
    root = tiny(labels=(), settings='[eligible]\nstatus = "published"')
    sentence = (
        "error: data/tiny/collection.toml: none of the 4 chunks passes the filter. "
        "Correct [eligible], or the fields in the source texts.\n"
    )
    for command in ("index", "evaluate"):
        assert desk(root, command, "tiny").err == sentence
    assert not (root / "data/tiny/vectors").exists()
    assert f"  {sentence}" in desk(root, "check", "tiny").out


def test_what_brings_back_what_was_never_retired_is_a_finding(tiny, desk):
    root = tiny()
    folder = root / "labels/tiny/events"
    folder.mkdir()
    line = {
        "format": 1, "event": "r2", "time": "2026-01-01T00:00:00.000Z", "author": "ann",
        "kind": "restore-label", "question": "q1", "chunk": ["apple", "as-is-v1", "apple"],
        "restores": ["r1x"],
    }  # fmt: skip
    (folder / "ann.jsonl").write_text(json.dumps(line) + "\n")
    answer = desk(root, "check", "tiny")
    assert (
        'labels/tiny/events/ann.jsonl:1: restores "r1x", which retires nothing of the question. '
        "Write the event id of a line with kind retire-label." in answer.out
    )
