"""Index, evaluate, check and compare with embeddinggemma on a server that fails in between."""

import json

import httpx
import pytest

from app.engines import executions
from app.engines.store import Store
from app.flows.indexing import index
from app.flows.listing import list_executions
from app.workspace import Workspace
from tests.conftest import TEXTS
from tests.ollama_server import OllamaServer, Served

NAME = "ollama:embeddinggemma:300m"
GEMMA = f'[configurations.gemma]\nmode = "dense"\nembedder = "{NAME}"\ndimension = 768\n'
DIGEST = "85462619ee721b466c5927d109d4cb765861907d5417b9109caebc4e614679f1"
MANY = {f"q{n:02}": f"Question {n}?" for n in range(1, 31)}
ALL = [(q, c, 2 if c == "apple" else 0) for q in MANY for c in TEXTS]


@pytest.fixture
def served(monkeypatch):
    server = OllamaServer("embeddinggemma:300m", 768, context=60)
    server.digest = DIGEST
    found = Served(server)
    monkeypatch.setenv("OLLAMA_HOST", found.host)
    yield found
    found.stop()


@pytest.fixture
def dies(served):
    """Stops the server at the nth embedding request from now."""

    def after(n):
        begun = len(served.server.embedded)

        def fail(path, body):
            if path == "/api/embed" and len(served.server.embedded) - begun > n:
                served.server.fail = None
                served.stop()
            return

        served.server.fail = fail

    return after


def stored(root):
    newest = list_executions(Workspace.at(root))[0].execution
    rankings, _ = executions.rankings(Store.at(Workspace.at(root).store_path), newest)
    return newest, {one.question: one.failure for one in rankings}


def down(served):
    return (
        f"Ollama does not answer at {served.host}. Start it (ollama serve), set OLLAMA_HOST, or "
        "choose the bundled embedder."
    )


def test_embeddinggemma_as_its_makers_say(tiny, served, desk):
    root = tiny(configurations=GEMMA)
    assert desk(root, "index", "tiny").out == (
        f"tiny: indexed 4 chunks, 4 eligible, for gemma ({NAME}); 4 embedded, 0 as they were\n"
    )
    assert f"title: none | text: {TEXTS['apple']}" in served.server.embedded[0]
    (path,) = root.glob("data/tiny/vectors/*.manifest.json")
    manifest = json.loads(path.read_text())
    assert (manifest["digest"], manifest["dimension"], manifest["cut"]) == (DIGEST, 768, [])
    assert (manifest["embedder"], manifest["template"]) == (
        NAME, "title: {title_or_none} | text: {text}",
    )  # fmt: skip
    assert desk(root, "evaluate", "tiny").code == 0
    asked = ["task: search result | query: When is an apple tree pruned?"]
    assert asked in served.server.embedded
    assert stored(root)[0].provenance["embedder"] == {
        "name": NAME, "digest": DIGEST, "dimension": 768,
        "question_template": "task: search result | query: {question}",
        "document_template": "title: {title_or_none} | text: {text}",
    }  # fmt: skip


def test_what_is_embedded_when_it_dies_is_kept_and_the_next_index_goes_on(tiny, served, dies, desk):
    texts = {f"c{n:02}": f"Text {n}" for n in range(70)}
    root = tiny(texts, labels=(), configurations=GEMMA)
    dies(2)
    answer = desk(root, "index", "tiny")
    assert answer.code == 2
    (error,) = answer.errors
    assert error.startswith(f"error: the connection to Ollama at {served.host} broke off: ")
    assert error.endswith(". See the log of ollama serve, then run the command again.")
    assert desk(root, "index", "tiny").errors == [f"error: {down(served)}"]
    served.start()
    assert desk(root, "index", "tiny").out == (
        f"tiny: indexed 70 chunks, 70 eligible, for gemma ({NAME}); 6 embedded, 64 as they were\n"
    )


def test_a_server_that_dies_midway_is_left_alone_and_resumed(tiny, served, dies, desk):
    root = tiny(questions=MANY, labels=ALL, configurations=GEMMA)
    desk(root, "index", "tiny")
    dies(11)  # the dimension, and ten questions
    answer = desk(root, "evaluate", "tiny")
    assert answer.code == 2 and "20 questions failed, so there are no means:" in answer.out
    assert f"q12 and 3 more: {down(served)}" in answer.out
    execution, failures = stored(root)
    assert [name for name, failure in failures.items() if failure is None] == list(MANY)[:10]
    assert failures["q15"] == down(served) and failures["q30"] == f"not searched: {down(served)}"
    assert desk(root, "evaluate", "tiny", "--resume").errors == [f"error: {down(served)}"]
    served.start()
    asked = len(served.server.embedded)
    assert desk(root, "evaluate", "tiny", "--resume").code == 0
    assert len(served.server.embedded) == asked + 21
    again, failures = stored(root)
    assert (again.status, again.provenance["resumed"]) == ("complete", execution.id)
    assert set(failures.values()) == {None}


def test_time_outs_end_a_run_as_well(tiny, served, desk, edit):
    root = tiny(questions=MANY, labels=ALL, configurations=GEMMA + "timeout = 30\n")
    desk(root, "index", "tiny")
    edit(root / "data/tiny/collection.toml", "timeout = 30", "timeout = 0.4")

    def slow(path, body):
        if "Question" in str(body.get("input")):
            served.closing.wait(20)

    served.server.fail = slow
    assert desk(root, "evaluate", "tiny").code == 2
    _, failures = stored(root)
    said = (
        f"Ollama at {served.host} did not answer within 0.4 s. Raise timeout in the configuration, "
        "or choose a smaller model."
    )
    assert list(failures.values()) == [said] * 5 + [f"not searched: {said}"] * 25
    served.server.fail = None
    edit(root / "data/tiny/collection.toml", "timeout = 0.4", "timeout = 30")
    assert desk(root, "evaluate", "tiny", "--resume").code == 0


def test_a_model_that_is_pulled_anew_between_index_and_evaluate(tiny, served, desk):
    root = tiny(configurations=GEMMA)
    desk(root, "index", "tiny")
    assert desk(root, "evaluate", "tiny").code == 0
    served.server.digest = "cd" * 32
    wanted = (
        f"the embedder {NAME} has changed since tiny was indexed ({DIGEST[:24]} then, "
        f"{'cd' * 12} now). Index it: desk index tiny."
    )
    answer = desk(root, "evaluate", "tiny")
    assert (answer.code, answer.errors) == (2, [f"error: {wanted}"])
    check = desk(root, "check", "tiny")
    assert check.code == 1 and f"  finding: {wanted}\n" in check.out
    assert desk(root, "index", "tiny").out.endswith("; 4 embedded, 0 as they were\n")
    assert desk(root, "evaluate", "tiny").code == 0
    first, second = (one.execution.id for one in reversed(list_executions(Workspace.at(root))))
    compared = desk(root, "compare", first, second)
    assert f"  embedder.digest: {DIGEST[:43]}… -> {('cd' * 32)[:43]}…\n" in compared.out


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('digest = "85462619ee72"', None),
        ('digest = "sha256:85462619EE72"', None),
        ('digest = "cdcdcdcdcdcd"',
         f"{NAME} has digest 85462619ee72, the configuration asks for cdcdcdcdcdcd. Fetch that "
         "version of the model, or correct digest in collection.toml."),
        ('digest = ""', "data/tiny/collection.toml: configurations.gemma.digest '' is no digest, "
         "nor the first 4 or more digits of one. Correct it."),
        ("dimension = 512", f"{NAME} returned vectors of dimension 768; the configuration asks for "
         "512. Correct dimension in collection.toml, or choose the right model."),
        ('embedder = "bundled"', "data/tiny/collection.toml: configurations.gemma dimension is for "
         "a model of Ollama, the bundled one never changes; remove it. Correct it."),
    ],
)  # fmt: skip
def test_what_the_model_must_be(tiny, served, desk, setting, said):
    key = setting.split(" ")[0]
    lines = [line for line in GEMMA.splitlines() if not line.startswith(key)]
    answer = desk(tiny(configurations="\n".join([*lines, setting, ""])), "index", "tiny")
    assert answer.errors == ([] if said is None else [f"error: {said}"])


def test_texts_that_are_too_long_are_cut_and_told(tiny, served, desk):
    texts = {**TEXTS, "long": "apple " * 100}
    root = tiny(texts, {"q1": "apple", "q2": "plum " * 90}, configurations=GEMMA)
    notice = (
        "note: Chunks longer than the embedder reads were cut: 1, long for one. Shorter ones would "
        "be found better."
    )
    assert desk(root, "index", "tiny").notes == [notice]
    assert (
        f"finding: chunks longer than {NAME} reads were cut: 1" in desk(root, "check", "tiny").out
    )
    assert (
        "note: Questions longer than the embedder reads, searched by their beginning: 1, q2 for "
        "one." in desk(root, "evaluate", "tiny").notes
    )


@pytest.mark.parametrize(
    ("fail", "said"),
    [
        (None, "Ollama does not answer at {host}. Start it (ollama serve), set OLLAMA_HOST, or "
         "choose the bundled embedder."),
        (lambda path, body: httpx.Response(200, json={"models": []}),
         "Ollama at {host} has no model embeddinggemma:300m. Fetch it: ollama pull "
         "embeddinggemma:300m."),
        (lambda path, body: httpx.Response(200, text="<html>"),
         "Ollama at {host} sent an answer that cannot be read. Check that it is an Ollama server, "
         "and its version."),
    ],
    ids=["down", "no model", "another server"],
)  # fmt: skip
def test_the_same_sentence_everywhere(tiny, served, desk, collection_of, fail, said):
    root = tiny(configurations=GEMMA)
    index(collection_of(root))
    if fail is None:
        served.stop()
    served.server.fail = fail
    said = said.format(host=served.host)
    for words in (["index"], ["evaluate"], ["evaluate", "--resume"]):
        answer = desk(root, *words, "tiny")
        assert (answer.code, answer.errors) == (2, [f"error: {said}"])
    for words in ([], ["--vectors"]):
        answer = desk(root, "check", "tiny", *words)
        assert answer.code == 1 and answer.out.count(f"  finding: {said}\n") == 1
    assert not (root / "data/desk.duckdb").exists()
