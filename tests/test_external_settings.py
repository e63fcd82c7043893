"""Settings of a configuration that asks another program, and what it is compared and shown with."""

import json

import pytest

from app.core.errors import InvalidInput
from app.flows.evaluating import evaluate
from app.flows.loading import load
from app.workspace import Workspace
from tests.conftest import LABELS, QUESTIONS, SPARSE
from tests.inspected import inspect_question
from tests.retrievers import Endpoint, external, hits

DENSE = '[configurations.dense]\nembedder = "bundled"\n'
PLACE = "data/tiny/collection.toml: "
URL = "http://localhost:9/search"
WORDS = 'command needs to be a list of words, such as ["python3", "search.py"]'


@pytest.fixture
def endpoint():
    made = Endpoint(lambda question, k: hits("apple", "pear"))
    yield made
    made.stop()


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "mode 'external' needs an endpoint or a command, and not both"),
        ({"endpoint": URL, "command": ["ask"]},
         "mode 'external' needs an endpoint or a command, and not both"),
        ({"command": []}, WORDS),
        ({"command": [""]}, WORDS),
        ({"command": ["ask", 7]}, 'command.1 is "7", not string'),
        ({"command": "ask me"}, WORDS),
        ({"command": ["ask"], "authorization_env": "KEY"},
         "authorization_env is for an endpoint; remove it"),
        ({"endpoint": URL, "authorization_env": "sk-123"},
         "authorization_env is not the name of an environment variable"),
        ({"endpoint": "http://ann:secret@localhost/search"},
         "endpoint holds a name or a password; keys belong into the environment"),
        ({"endpoint": "localhost:8080/search"},
         "endpoint 'localhost:8080/search' is not an address such as http://localhost:6333"),
        ({"endpoint": URL, "concurrency": 0},
         'concurrency is "0", not greater than or equal to 1'),
        ({"endpoint": URL, "timeout": 0}, 'timeout is "0", not greater than 0'),
        *(
            ({"endpoint": URL, name: value},
             f"mode 'external' leaves searching to another program; remove {name}")
            for name, value in {
                "embedder": "bundled", "question_template": "{question}", "dimension": 384,
                "document_template": "{text}", "digest": "abcd", "exact": True, "exact_twin": True,
                "candidates": 50,
            }.items()
        ),
        ({"endpoint": URL, "rrf_k": 60}, "mode 'external' has no use for rrf_k"),
        ({"mode": "sparse", "endpoint": URL}, "endpoint is for mode 'external'; remove it"),
        ({"mode": "dense", "concurrency": 2}, "concurrency is for mode 'external'; remove it"),
    ],
)  # fmt: skip
def test_what_contradicts_itself(tiny, collection_of, keys, said):
    with pytest.raises(InvalidInput) as caught:
        collection_of(tiny(configurations=external(**keys)))
    (problem,) = caught.value.problems
    assert str(problem).startswith(f"{PLACE}configurations.pipeline")
    assert str(problem).endswith(f"{said}. Correct it.")
    assert "secret" not in str(problem)


def test_one_index_for_all_and_none_for_it_alone(tiny, endpoint, desk):
    asks = external(endpoint=endpoint.url)
    answer = desk(tiny(configurations=asks + DENSE + SPARSE), "index", "tiny")
    assert answer.out.splitlines() == [
        "tiny: indexed 4 chunks, 4 eligible, for pipeline, sparse (no embedder); 0 embedded, 0 as "
        "they were",
        "tiny: indexed 4 chunks, 4 eligible, for dense (bundled); 4 embedded, 0 as they were",
    ]
    assert endpoint.asked == []


def test_compared_with_dense_search(indexed, endpoint, desk):
    asks = external(endpoint=endpoint.url)
    root = indexed(configurations=asks + DENSE + SPARSE)
    assert desk(root, "evaluate", "tiny").code == 0
    answer = desk(root, "compare", "dense", "pipeline")
    assert answer.code == 0
    for line in (
        "configuration name: dense -> pipeline",
        "configuration.mode: dense -> external",
        f"configuration.endpoint: none -> {endpoint.url}",
        "embedder.name: bundled -> none",
        "engine.engine: qdrant edge, in this process -> external",
    ):
        assert f"  {line}\n" in answer.out
    assert desk(root, "check", "tiny").code == 0
    vectors = desk(root, "check", "tiny", "--vectors")
    assert vectors.code == 0 and "  vectors    dense: 4 stored vectors against" in vectors.out


def test_a_reused_execution_does_not_vouch_for_the_program(indexed, endpoint, desk):
    root = indexed(configurations=external(endpoint=endpoint.url) + SPARSE)
    desk(root, "--no-serve")
    again = desk(root, "--no-serve").out
    assert ", complete (made earlier; the program it asked may have changed since)" in again
    assert ", complete (made earlier; nothing that decides it has changed)" in again
    assert len(endpoint.asked) == 2


def unsupported(revision):
    return [
        {"format": 1, "id": name, "category": "general", "text": text,
         **({"unsupported_as_of": revision} if name == "q2" else {})}
        for name, text in QUESTIONS.items()
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "accepted", "kept"), [(None, None, 2), (0.5, True, 1), (2, False, 0)]
)
def test_unsupported_questions_and_the_threshold(
    tiny, endpoint, collection_of, desk, threshold, accepted, kept
):
    keys = {} if threshold is None else {"threshold": threshold}
    root = tiny(configurations=external(endpoint=endpoint.url, **keys), labels=LABELS[:2])
    revision = collection_of(root).corpus().revision
    path = root / "labels/tiny/questions.jsonl"
    path.write_text("".join(f"{line}\n" for line in map(json.dumps, unsupported(revision))))
    desk(root, "index", "tiny")
    endpoint.say = lambda question, k: hits(("apple", 0.9), ("pear", 0.1))
    (execution,) = desk(root, "evaluate", "tiny", "--json").json["executions"]
    (apart,) = [one for one in execution["unsupported"] if one["k"] == 3]
    assert (apart["hits"], apart["accepted"], apart["top_score"]) == (kept, accepted, 0.9)
    (scored,) = [q for q in execution["questions"] if (q["k"], q["question"]) == (3, "q1")]
    assert len(scored["ranking"]) == kept and scored["recall"] == (kept > 0)


def test_the_same_question_for_fewer(indexed, endpoint, desk):
    """A pipeline may well answer otherwise when it is asked for less."""
    root = indexed(configurations=external(endpoint=endpoint.url, prefix_check=True))
    endpoint.say = lambda question, k: (
        hits("apple", "pear", "plum") if k > 1 else hits(("plum", 0.5))
    )
    execution = desk(root, "evaluate", "tiny", "--json").json["executions"][0]
    assert execution["checks"]["prefix"]["differing"] == [
        {"question": "q1", "k": 1}, {"question": "q2", "k": 1}
    ]  # fmt: skip
    assert [one["k"] for one in endpoint.asked].count(1) == 2
    assert execution["notices"][0] == (
        "q1: a search for 1 hits returned others than the first 1 of the deeper search."
    )


def test_what_is_noticed_in_answers_is_told(indexed, endpoint, desk):
    root = indexed(configurations=external(endpoint=endpoint.url))
    answer = hits("apple", pipeline="shop search 4.1")
    answer["hits"][0]["text"] = "An apple tree needs pruning in summer."
    endpoint.say = lambda question, k: answer
    told = desk(root, "evaluate", "tiny", "--json").json["executions"][0]
    assert told["checks"] == {
        "other_texts": ['["apple", "as-is-v1", "apple"]'], "pipelines": ["shop search 4.1"],
    }  # fmt: skip
    assert told["notices"] == [
        'Chunks whose text is another one where pipeline looked: 1, ["apple", "as-is-v1", "apple"] '
        "for one. The grades are of the text here."
    ]


def test_one_question_is_inspected_in_the_programs_order(indexed, endpoint, collection_of):
    root = indexed(configurations=external(endpoint=endpoint.url))
    endpoint.say = lambda question, k: hits(("pear", 0), ("apple", 0), ("plum", 0), ("quince", 0))
    found = inspect_question(load(collection_of(root)), "pipeline", "q1", 1)
    assert [one.chunk.text.split()[1] for one in found.evidence][:2] == ["pear", "apple"]
    assert not found.score.tied and found.score.values["rr"] == 0
    (kept,) = evaluate(Workspace.at(root).collection("tiny"))
    assert [q.values["rr"] for q in kept.scored.questions if (q.k, q.question) == (1, "q1")] == [0]
