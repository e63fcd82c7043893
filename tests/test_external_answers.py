"""Answers of another program: what is taken, and the sentence for what cannot be used."""

import json

import pytest

from app.core.errors import EngineError, Unreachable
from app.engines.external import ExternalEngine, Program
from app.engines.external_answers import Answers
from app.engines.retrieval import Asked, Search
from tests.conftest import TEXTS
from tests.retrievers import Endpoint, hits

MUST = 'It must answer {"hits": [{"document": "…", "chunk": "…", "score": 1.0}]}, best first.'
DEEP = 20


@pytest.fixture
def endpoint():
    made = Endpoint()
    yield made
    made.stop()


@pytest.fixture
def engine(tiny, collection_of, endpoint):
    """An engine that asks the endpoint for the chunks of a tiny corpus."""

    def build(*words, **more):
        corpus = collection_of(tiny(*words, **more)).corpus()
        program = Program(endpoint.url, (), None, None, 5.0, 1)
        return ExternalEngine(program, Answers("it", corpus))

    return build


@pytest.fixture
def ask(endpoint):
    """What the engine makes of an answer: its chunks and scores, or the sentence."""

    def asked(engine, answer, depth=DEEP):
        endpoint.say = lambda question, k: answer
        (outcome,) = engine.search_many(Search("external", depth, {}), [Asked("Why?")])
        if isinstance(outcome, EngineError):
            assert not isinstance(outcome, Unreachable)
            return str(outcome)
        assert [hit.rank for hit in outcome] == list(range(1, len(outcome) + 1))
        return [(hit.key.chunk, hit.score) for hit in outcome]

    return asked


def test_the_order_is_the_programs_own_whatever_its_scores(engine, ask, endpoint):
    answer = hits(("pear", 0.1), ("plum", 7), ("apple", 0.5), ("quince", -2.5))
    found = ask(engine(), answer)
    assert found == [("pear", 0.1), ("plum", 7.0), ("apple", 0.5), ("quince", -2.5)]
    assert endpoint.asked == [{"format": 1, "question": "Why?", "k": DEEP}]


def test_equal_scores_keep_their_order(engine, ask):
    assert ask(engine(), hits(("plum", 0), ("apple", 0), ("pear", 0))) == [
        ("plum", 0.0), ("apple", 0.0), ("pear", 0.0),
    ]  # fmt: skip


def test_too_many_are_cut_at_k_and_too_few_are_few(engine, ask):
    one = engine()
    many = hits("apple", "pear", "plum", "quince")
    assert [chunk for chunk, _ in ask(one, many, 2)] == ["apple", "pear"]
    many["hits"] += ["what stands behind k is not read"]
    assert len(ask(one, many, 4)) == 4
    assert ask(one, hits("pear"), 3) == [("pear", 1.0)]


def test_no_hit_is_an_answer(engine, ask):
    assert ask(engine(), hits()) == []


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        (b"", "it sent nothing"),
        (b" \n", "it sent nothing"),
        (b"<html>no</html>", 'it sent "<html>no</html>", which is no JSON'),
        (b"\xff\xfe\x00", 'it sent "\\ufffd\\ufffd\\u0000", which is no JSON'),
        (b'{"hits": [', 'it sent "{\\"hits\\": [", which is no JSON'),
        (b"[" * 100_000, f'it sent "{"[" * 59}…", which is no JSON'),
        (b'{"hits": [{"chunk": "apple", "score": ' + b"9" * 5000 + b"}]}",
         'it sent "{\\"hits\\": [{\\"chunk\\": \\"apple\\", \\"score\\": 999999999999999999999…", '
         "which is no JSON"),
        ([], "it sent an answer without a list of hits"),
        ("hits", "it sent an answer without a list of hits"),
        ({}, "it sent an answer without a list of hits"),
        ({"hits": None}, "it sent an answer without a list of hits"),
        ({"hits": {"apple": 1}}, "it sent an answer without a list of hits"),
        ({"hits": ["apple"]}, "it sent a hit at rank 1 that is no object"),
        ({"hits": [{"chunk": "pear", "score": 1}, None]},
         "it sent a hit at rank 2 that is no object"),
        ({"hits": [{"score": 1}]}, "it sent a hit at rank 1 with no chunk"),
        ({"hits": [{"chunk": None, "score": 1}]}, "it sent a hit at rank 1 with no chunk"),
        ({"hits": [{"chunk": 1.5, "score": 1}]},
         "it sent a hit at rank 1 with a chunk that is no text"),
        ({"hits": [{"chunk": True, "score": 1}]},
         "it sent a hit at rank 1 with a chunk that is no text"),
        ({"hits": [{"chunk": "apple", "document": ["apple"], "score": 1}]},
         "it sent a hit at rank 1 with a document that is no text"),
        ({"hits": [{"chunk": "apple"}]}, "it sent a hit at rank 1 with no score"),
        ({"hits": [{"chunk": "apple", "score": None}]}, "it sent a hit at rank 1 with no score"),
        ({"hits": [{"chunk": "apple", "score": "1"}]},
         'it sent a hit at rank 1 with the score "1"'),
        ({"hits": [{"chunk": "apple", "score": True}]},
         'it sent a hit at rank 1 with the score "True"'),
        ({"hits": [{"chunk": "apple", "score": float("nan")}]},
         'it sent a hit at rank 1 with the score "nan"'),
        ({"hits": [{"chunk": "apple", "score": float("-inf")}]},
         'it sent a hit at rank 1 with the score "-inf"'),
        (b'{"hits": [{"chunk": "apple", "score": 1e999}]}',
         'it sent a hit at rank 1 with the score "inf"'),
        ({"hits": [{"chunk": "apple", "score": 10**400}]},
         f'it sent a hit at rank 1 with the score "1{"0" * 58}…"'),
    ],
)  # fmt: skip
def test_what_is_no_answer(engine, ask, answer, wrong):
    assert ask(engine(), answer) == f"{wrong}. {MUST}"


@pytest.mark.parametrize(
    ("hit", "said"),
    [
        ({"document": "apple", "chunk": "cherry"}, "apple cherry"),
        ({"document": "cherry", "chunk": "apple"}, "cherry apple"),
        ({"chunk": "Apple"}, "Apple"),
        ({"chunk": ""}, ""),
        ({"document": "apple", "chunk": "apple", "version": "as-is-v2"}, "apple as-is-v2 apple"),
        ({"chunk": "cherry", "text": "No text of this corpus."}, "cherry"),
        ({"chunk": "c" * 100}, "c" * 59 + "…"),
    ],
)
def test_a_chunk_nobody_knows(engine, ask, hit, said):
    assert ask(engine(), {"hits": [{"chunk": "pear", "score": 2}, {**hit, "score": 1}]}) == (
        f'it returned the chunk "{said}" at rank 2, which is not in this corpus. Let both use the '
        "same corpus and the same ids, or send texts with the hits."
    )


def test_a_lone_surrogate_is_an_unknown_id_and_a_text_without_a_hash(engine, ask):
    one = engine()
    raw = json.dumps({"hits": [{"chunk": "app\ud800le", "score": 1, "text": TEXTS["apple"]}]})
    assert ask(one, raw.encode()) == [("apple", 1.0)]
    raw = json.dumps({"hits": [{"chunk": "app\ud800le", "score": 1, "text": "\udfff"}]})
    assert 'returned the chunk "app\\ud800le" at rank 1' in ask(one, raw.encode())


def test_ids_may_be_numbers_and_the_rest_may_be_left_out(engine, ask):
    one = engine([{"id": "17", "text": "one"}, {"id": "018", "text": "two"}], {"q": "?"}, ())
    row = {"document": 17, "version": "as-is-v1", "chunk": 17, "score": 3, "more": {"of": "it"}}
    assert ask(one, {"hits": [row, {"chunk": "018", "score": 2}]}) == [("17", 3.0), ("018", 2.0)]


DOCUMENTS = [
    {"id": "p0", "doc": "a", "text": "The first."},
    {"id": "p0", "doc": "b", "text": "The second."},
    {"id": "p1", "doc": "b", "text": "Both say this."},
    {"id": "p2", "doc": "b", "text": "Both say this."},
]


def test_an_id_of_two_documents_needs_its_document(engine, ask):
    one = engine(DOCUMENTS, {"q": "?"}, (), fields=', document = "doc"')
    assert ask(one, {"hits": [{"chunk": "p0", "score": 1}]}) == (
        f"it sent a hit at rank 1 that could be a p0 or b p0. {MUST}"
    )
    assert ask(one, {"hits": [{"chunk": "p0", "document": "b", "score": 1}]}) == [("p0", 1.0)]
    assert ask(one, {"hits": [{"chunk": "p1", "score": 1}]}) == [("p1", 1.0)]


def test_unknown_ids_with_a_known_text_are_that_text(engine, ask):
    one = engine(DOCUMENTS, {"q": "?"}, (), fields=', document = "doc"')
    rows = [
        {"document": "x", "chunk": 9, "version": "v7", "score": 2, "text": "The second.  \r\n"},
        {"chunk": "n1", "score": 1, "text": "Both say this."},
        {"chunk": "n2", "score": 1, "text": "Both say this."},
    ]
    assert ask(one, {"hits": rows}) == [("p0", 2.0), ("p1", 1.0), ("p2", 1.0)]
    assert one.remarks() == {}


def test_a_text_that_differs_is_a_remark_and_the_id_decides(engine, ask):
    one = engine()
    rows = {"hits": [{"chunk": "apple", "score": 1, "text": TEXTS["pear"]},
                     {"chunk": "plum", "score": 1, "text": TEXTS["plum"]}]}  # fmt: skip
    for _ in range(2):
        assert [chunk for chunk, _ in ask(one, rows)] == ["apple", "plum"]
    assert one.remarks() == {"other_texts": ['["apple", "as-is-v1", "apple"]']}


def test_what_a_pipeline_calls_itself_can_be_stored_whatever_it_is(engine, ask):
    one = engine()
    for name in ("v 2", "v\n  2", "a\ud800\x00", "x" * 900, 7, None):
        raw = json.dumps(hits("apple", pipeline=name)).encode()
        assert ask(one, raw) == [("apple", 1.0)]
    names = one.remarks()["pipelines"]
    assert names == ["a\\ud800\\u0000", "v 2", "x" * 200]
    "".join(names).encode()


def test_ten_thousand_hits_are_read_at_once(engine, ask):
    texts = {f"c{n}": f"Text {n}" for n in range(10_000)}
    found = ask(engine(texts, {"q": "?"}, ()), hits(*((name, 0.5) for name in texts)), 10_000)
    assert [chunk for chunk, _ in found] == list(texts)
