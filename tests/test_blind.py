"""Grading is blind by construction: what its modules can reach, what they are given, what they ask.

What reaches the browser is watched in tests/browser/test_grading.py.
"""

import json
from dataclasses import fields, is_dataclass

import pytest
from pydantic import BaseModel

from app.core.ledger import Ledger
from app.engines import sql
from app.engines.store import Store
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.evaluating import evaluate
from app.flows.labeling import Said
from app.flows.loading import load
from app.flows.pooling import pool_of
from app.workspace import Workspace
from tests.conftest import judgment
from tests.labelpage import chunk_on_screen, press, shown
from tests.test_architecture import GRAPH

SEES_RANKS = ("app.core.metrics", "app.core.bounds", "app.flows.scoring", "app.flows.searching",
              "app.flows.means", "app.flows.evaluating", "app.flows.scored", "app.flows.inspecting",
              "app.flows.comparing", "app.flows.stored_scoring", "app.flows.adjudicating",
              "app.flows.agreeing", "app.flows.decisions")  # fmt: skip
#: The engines a bench may reach: texts by their hash, and the pool, which is told without ranks.
OF_A_BENCH = {"app.engines", "app.engines.pool", "app.engines.store", "app.engines.texts",
              "app.engines.sql", "app.engines.opening", "app.engines.store_errors",
              "app.engines.upkeep"}  # fmt: skip


def reached(name):
    """A module and everything that importing it runs, packages around it included."""
    found, open_ones = set(), [name]
    while open_ones:
        one = open_ones.pop()
        if one not in found:
            found.add(one)
            around = {one.rpartition(".")[0]} - {""}
            open_ones += [m for m in GRAPH.get(one, set()) | around if m in GRAPH]
    return found


@pytest.mark.parametrize("name", ["labeling", "own"])
def test_what_saves_a_grade_reaches_no_engine_and_nothing_that_ranks(name):
    found = reached(f"app.flows.{name}")
    assert {"app.flows.loading", "app.flows.own", "app.workspace"} <= found
    assert [m for m in sorted(found) if m.startswith((*SEES_RANKS, "app.engines"))] == []


@pytest.mark.parametrize("name", ["bench", "worklist", "ground", "turn", "pooling"])
def test_what_asks_for_grades_reaches_the_pool_and_nothing_that_ranks(name):
    found = reached(f"app.flows.{name}")
    assert [m for m in sorted(found) if m.startswith(SEES_RANKS)] == []
    assert {m for m in found if m.startswith("app.engines")} <= OF_A_BENCH
    assert any(m.startswith(SEES_RANKS) for m in reached("app.flows.inspecting"))  # it can fail


def test_labeling_is_blind_when_it_runs(start):
    """What is imported in truth, in a process that imports nothing else."""
    code = "import sys; import app.flows.labeling; print(*sorted(sys.modules))"
    out, err = start(["-c", code]).communicate(timeout=60)
    loaded = out.split()
    assert "app.flows.labeling" in loaded, err
    outside = ("duckdb", "qdrant_client", "onnxruntime", "ollama", "streamlit", "app.engines")
    assert [m for m in loaded if m.startswith((*SEES_RANKS, *outside))] == []


def test_the_statement_behind_the_queue_selects_no_rank_score_or_configuration(tmp_path):
    store = Store.at(tmp_path / "desk.duckdb")
    here = {"collection": "c", "configurations": [], "k": 3, "depth": 5}
    with store.work() as unit:
        described = unit._cursor.execute(sql.statement("pool_pairs"), here).description
    assert [column[0] for column in described] == [
        "question", "document", "version", "chunk", "within"
    ]  # fmt: skip
    here = {"collection": "c", "first": "a", "second": "b", "k": 3}
    with store.work() as unit:
        described = unit._cursor.execute(sql.statement("pool_deciding"), here).description
    assert [column[0] for column in described] == ["question", "document", "version", "chunk"]
    words = sql.statement("pool_pairs")
    assert words.rstrip().endswith("order by question, document, version, chunk")
    assert "score" not in words.replace("No rank, score", "")


def held(thing, seen=None):
    """Every text and number that a record holds, however deep."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, str | int | float):
        yield thing
    elif isinstance(thing, dict):
        for pair in thing.items():
            yield from held(pair, seen)
    elif isinstance(thing, list | tuple | set | frozenset):
        for one in thing:
            yield from held(one, seen)
    elif isinstance(thing, BaseModel):
        yield from held(thing.model_dump(), seen)
    elif is_dataclass(thing):
        for field in fields(thing):
            yield from held(getattr(thing, field.name), seen)
    elif thing is not None:
        raise AssertionError(f"a turn holds a {type(thing)}, which may lead anywhere")


def test_what_a_view_is_given_holds_nothing_of_others(tiny, collection_of):
    secrets = [
        judgment("q1", chunk, grade, n, author="secretive", note="SECRET",
                 evidence=[{"quote": "SECRET"}])
        for n, (chunk, grade) in enumerate((("apple", 2), ("pear", 0), ("plum", 1)))
    ]  # fmt: skip
    root = tiny(labels=[], settings="[queue]\noverlap = 1.0")
    path = root / "labels/tiny/judgments/secretive.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in secrets))
    loaded = load(collection_of(root))
    bench = Bench(loaded, pool_of(loaded), Claims())
    for _ in range(4):
        turn = bench.turn("ann", Wish("q1", pinned=True))
        found = list(held(turn))
        assert turn.item.text in found  # the walk sees what is there
        assert not [one for one in found if isinstance(one, str) and "secret" in one.lower()]
        bench.say("ann", turn.item, Said("grade", 1))


def test_a_session_of_grading_never_resolves_a_label_or_reads_anothers_file(
    page, runbooks, monkeypatch
):
    evaluate(Workspace.at(runbooks).collection("runbooks"))

    def never(*_, **__):
        raise AssertionError("grading asked for what others said")

    plain = Ledger.read

    def own_only(ledger, name=None):
        if ledger.folder.name == "judgments" and name != "ana.jsonl":
            never()
        return plain(ledger, name)

    monkeypatch.setattr(Ledger, "read", own_only)
    for target in ("app.workspace.resolve", "app.core.labels.resolve", "app.core.grades.effective",
                   "app.core.gathering.Gathered.take"):  # fmt: skip
        monkeypatch.setattr(target, never)
    at = page("label", reviewer="ana", question="drain-deadline")
    for act in ("words", "around", "document", "document", "evidence", "evidence", "grade-2",
                "next", "back", "grade-0", "undo", "later"):  # fmt: skip
        press(at, act)
        assert chunk_on_screen(at) is not None
        assert "Something unexpected" not in shown(at) and "others said" not in shown(at)
