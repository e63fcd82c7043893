"""The published output of trec_eval against runs that went through an import and the store."""

import pytest

from tests.runs import newest, scored
from tests.test_trec_oracle import METRIC, ORACLE, QUESTIONS, qrels, rankings
from tests.test_trec_oracle import rows as rows_of

pytestmark = pytest.mark.skipif(
    not ORACLE.is_dir(), reason="the trec_eval oracle is not beside this repository"
)

CUTOFFS = (5, 10, 20, 100)


@pytest.fixture
def oracle(tiny, desk):
    """A collection of the oracle's documents and questions with its judgments."""
    known = {d for q in QUESTIONS for d in [*qrels("qrels.test")[q], *rankings("results.test")[q]]}
    root = tiny({name: name for name in sorted(known)}, dict.fromkeys(QUESTIONS, "?"), labels=[])
    path = root.parent / "commented.qrels"
    path.write_bytes((ORACLE / "qrels.test.with-comments").read_bytes())
    answer = desk(root, "import", "tiny", "labels", path, "--grades", "0=0,1=1")
    assert answer.code == 0 and "3,681 rows read, labels of tiny: 3,681 new" in answer.out
    return root


@pytest.mark.parametrize(
    ("run", "output", "extra", "notes"),
    [("results.test", "out.test.aq", "", 0), ("results.trunc", "out.test.aqc", " and junk", 1)],
)
def test_imported_runs_score_as_trec_eval_says(oracle, desk, tmp_path, run, output, extra, notes):
    path = tmp_path / "sorted.run"
    path.write_text(
        "".join(
            f"{q} Q0 {d} {rank} {-rank} STANDARD{extra}\n"
            for q, hits in rankings(run).items()
            for rank, d in enumerate(hits, start=1)
        )
    )
    answer = desk(oracle, "import", "tiny", "run", path)
    assert answer.code == 0 and newest(oracle).configuration == "standard"
    assert len([note for note in answer.notes if "more columns than 6" in note]) == notes
    assert len([note for note in answer.notes if "without a row: 1, 302" in note]) == notes
    found = {(q.question, q.k): q for q in scored(oracle, *CUTOFFS).scored.questions}
    compared = 0
    for measure, question, value in rows_of(output):
        name, _, k = measure.rpartition("_")
        if name in METRIC and question in QUESTIONS and int(k) in CUTOFFS:
            mine = found[question, int(k)].as_zero[METRIC[name]]
            assert mine == pytest.approx(float(value), abs=5.001e-5), (measure, question)
            compared += 1
    assert compared == 3 * (3 * len(CUTOFFS) + 2)


def test_a_run_as_it_was_published_is_taken(oracle, desk):
    answer = desk(oracle, "import", "tiny", "run", ORACLE / "results.trunc", "--order", "score")
    assert answer.code == 0 and "584 rows read, hits of a run of tiny: 584 new" in answer.out
    more = [note for note in answer.notes if "more columns than 6, not used" in note]
    junk = [row for row in rows_of("results.trunc") if len(row) > 6]
    assert more == [f"note: {len(junk)} lines with more columns than 6, not used."]
    question = scored(oracle, 100).scored.questions[0]
    assert [hit.hit.key.chunk for hit in question.ranking[:3]] == rankings("results.trunc")["301"][
        :3
    ]
