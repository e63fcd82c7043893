"""What others changed since; and a side that is firm beside one that is not."""

import pytest

from app.flows import charts, filling
from app.flows.comparing import compare
from app.flows.evaluating import evaluate
from app.flows.indexing import index
from app.flows.tables import mean_rows
from app.flows.wording import value_or_range
from app.workspace import Workspace
from tests.conftest import SPARSE
from tests.foreign import chunk


def test_a_text_that_was_changed_in_place_fails_the_question_it_is_returned_for(theirs):
    theirs.create(sparse=("words",))
    theirs.settings(source='sparse_vector = "words"', configurations=SPARSE)
    theirs.put(chunk(1, "apple trees"), chunk(2, "pear"))
    theirs.sync()
    corpus = theirs.collection.corpus()
    theirs.put(chunk(1, "something else"), chunk(2, "pear"))
    engine = filling.Target(theirs.collection, "sparse", corpus, None).open()
    points = theirs.server.client.retrieve("theirs", [1, 2], with_payload=True)
    with pytest.raises(Exception, match="point 1 with another text than c1 had when it was synced"):
        engine._key(points[0])
    assert engine._key(points[1]).chunk == "c2"


def test_a_side_that_is_firm_is_a_number_beside_one_that_is_not(tiny, collection_of):
    """q2 finds `d`, which nobody judged, only by the configuration that looks deeper."""
    texts = {"a": "apple pear plum", "b": "apple", "c": "pear"}
    labels = [("q1", "b", 2), ("q1", "a", 0), ("q2", "c", 2)]
    more = f'{SPARSE}[configurations.cut]\nmode = "sparse"\nthreshold = 1000\n'
    root = tiny(texts, {"q1": "apple", "q2": "pear"}, labels, configurations=more)
    index(collection_of(root))
    evaluate(collection_of(root))
    found = compare(Workspace.at(root), "cut", "sparse")
    assert found.delta(3, "precision").undecided == 1
    firm, open_side = found.values(3, "precision")
    assert (firm, open_side) == (0.0, None)
    rows = charts.category_rows(found, "precision", 3)
    assert (rows[0]["value"], rows[0]["most"], rows[0]["words"]) == (0.0, 0.0, "0.000")
    assert rows[1]["most"] > rows[1]["value"] > 0
    (row,) = [r for r in mean_rows(found, 3) if r[0] == "Precision@3"]
    assert row[2] == "0.000" and row[3] == "0.33-0.50"


def test_ends_that_would_read_the_same_get_a_third_digit():
    assert value_or_range(None, (0.8361, 0.8449)) == ("0.836-0.845")
    assert value_or_range(None, (0.1, 0.9)) == "0.10-0.90"


def test_a_name_that_several_collections_have_is_told(runbooks, tiny, desk):
    other = tiny()
    for part in ("data", "labels"):
        (other / part / "tiny").rename(runbooks / part / "tiny")
    for name in ("tiny", "runbooks"):
        index(Workspace.at(runbooks).collection(name))
        evaluate(Workspace.at(runbooks).collection(name), ["sparse"])
    evaluate(Workspace.at(runbooks).collection("runbooks"), ["dense"])
    answer = desk(runbooks, "compare", "sparse", "dense")
    assert answer.notes[0] == (
        "note: runbooks, tiny have a configuration sparse; compared are the newest, of runbooks. "
        "Name another one with --collection."
    )
    assert not desk(runbooks, "compare", "sparse", "dense", "--collection", "runbooks").notes


def test_labels_find_chunks_of_one_fixed_version_without_naming_it(theirs, desk, tmp_path):
    theirs.settings(source='version = "cutter-7"')
    theirs.put(chunk(1, "apple"), chunk(2, "pear"))
    theirs.ask({"q1": "apple"})
    theirs.sync()
    sheet = tmp_path / "labels.csv"
    sheet.write_text("question,document,chunk,grade\nq1,c1,c1,2\n", encoding="utf-8")
    answer = desk(theirs.root, "import", "foreign", "labels", sheet)
    assert answer.code == 0 and "1 new" in answer.out
