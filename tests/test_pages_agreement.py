"""The view Agreement: its words, its figures, and the items behind them."""

from functools import partial

import pytest

from app.ui.label.agreement_items import names_of, pair_id
from tests.reviewing import filled, opened, said, shown, write

NOTE = "Only <b>half</b>, $x$ :red[no]"


@pytest.fixture
def root(tiny):
    """Ann and Bob differ on apple and agree on three more; Cem judged pear alone with them."""
    return filled(
        tiny,
        *(said("ann", name, g) for name, g in (("apple", 2), ("pear", 0), ("plum", 1))),
        *(said("bob", name, g) for name, g in (("pear", 0), ("plum", 1))),
        said("bob", "apple", 0, note=NOTE), said("cem", "pear", 0),
        said("ann", "quince", 0), said("bob", "quince", 0),
    )  # fmt: skip


@pytest.fixture
def page(root, monkeypatch):
    return partial(opened, root, monkeypatch, "agreement")


def cell(at, name):
    (button,) = [b for b in at.button if b.key and b.key.endswith(f"-{name}")]
    return button


def test_a_plain_sentence_comes_first_then_alpha_with_n_and_what_it_does_not_mean(page):
    text = shown(page("ann"))
    plain = "Reviewers gave the same grade on 3 of 4 items (75.0 %)."
    assert f'<h2 class="desk-headline">{plain}</h2>' in text
    assert text.index(plain) < text.index("Krippendorff")
    assert "Krippendorff&#x27;s alpha (ordinal): 0." in text
    assert "n 4 items that two or more of 3 reviewers graded blind" in text
    assert "no interval: an interval needs at least 10 items" in text
    assert "n 4 is small for this" in text and "do not promise 0.8" in text
    assert "It is meant for after grading" in text


def test_the_matrix_leads_to_its_items_with_both_grades_and_notes(page):
    at = page("ann", pair="bob,ann")
    assert cell(at, "0-2").label == "1" and cell(at, "0-0").label == "2"
    text = shown(at)  # the widest disagreement is what is first shown
    assert "bob gave 0, ann gave 2: 1 item" in text
    assert "An apple tree needs pruning" in text and "0 does not help" in text
    assert "Only &lt;b&gt;half&lt;/b&gt;, $x$ :red[no]" in text and "<b>half" not in text
    assert "view=history&amp;reviewer=ann&amp;question=q1" in text
    cell(at, "1-1").click().run()
    assert at.query_params["cell"] == "1-1" and "Plums are dried" in shown(at)


def test_a_link_opens_pair_and_cell(page):
    at = page("ann", pair="ann,bob", cell="0-0")
    text = shown(at)
    assert "ann gave 0, bob gave 0: 2 items" in text and "Quinces" in text
    assert "The link names" not in text


def test_another_pair_begins_with_its_own_widest_disagreement(page):
    at = page("ann", pair="ann,bob", cell="0-0")
    at.selectbox(key="pick-pair").select_index(1).run()
    text = shown(at)
    first, last = at.query_params["pair"].split(",")
    assert at.query_params["pair"] != "ann,bob" and at.query_params["cell"] != "0-0"
    assert f"{first} gave 0, {last} gave 0" not in text
    cell(at, "0-0").click().run()
    assert at.query_params["cell"] == "0-0"


def test_a_link_to_a_pair_that_is_not_there_is_told(page):
    assert "as pair, which is not there" in shown(page("ann", pair="ann,zoe"))


def test_items_the_viewer_has_not_judged_are_shown_only_when_asked_for(page):
    at = page("cem", pair="bob,ann")
    assert "1 item not shown: you have not judged it yet" in shown(at)
    assert "An apple tree" not in shown(at)
    at.toggle(key="show-unjudged").set_value(True).run()
    assert "An apple tree" in shown(at)


@pytest.mark.parametrize(("viewer", "sees"), [("dan", False), ("eve", True)])
def test_where_adjudicators_are_named_they_alone_see_what_they_have_not_judged(
    page, root, viewer, sees
):
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nadjudicators = ["eve"]\n')
    at = page(viewer, pair="bob,ann")
    assert not at.toggle
    assert ("An apple tree" in shown(at)) == sees == ("item not shown" not in shown(at))


def test_charts_and_tables_name_every_reviewer(page):
    at = page("ann")
    heatmap, bias = at.get("arrow_vega_lite_chart") or at.get("vega_lite_chart")
    for name in ("ann", "bob", "cem"):
        assert name in str(heatmap.proto) and name in str(bias.proto)
    assert "too few" in str(heatmap.proto)  # four items at most
    assert "all others" in str(heatmap.proto)
    assert "relevant to both / either" in shown(at) and "By category" in shown(at)


def test_without_a_second_reviewer_the_view_says_what_to_do(tiny, monkeypatch):
    root = filled(tiny, said("ann", "apple", 2))
    text = shown(opened(root, monkeypatch, "agreement", "ann"))
    assert "is not defined: no item was judged twice (n 0)" in text
    assert "Let a second reviewer grade some of the same chunks" in text


def test_two_reviewers_without_a_common_item_have_no_figure(page, root):
    write(root, said("dan", "quince", 1), said("eve", "plum", 1))
    text = shown(page("ann", pair="dan,eve"))
    assert "dan and eve graded no item both, so there is no figure." in text


def test_since_a_day_is_in_the_link(page, root):
    write(root, said("dan", "apple", 1, time="2026-03-01T00:00:00.000Z"))
    at = page("ann", since="2026-03-01")
    assert "9 given before 2026-03-01" in shown(at)
    assert at.selectbox(key="pick-since").value == "2026-03-01"


def test_a_bad_line_of_a_ledger_is_told(page, root):
    (root / "labels/tiny/judgments/zoe.jsonl").write_text("{torn\n")
    assert "labels/tiny/judgments/zoe.jsonl:1: the line is not JSON" in shown(page("ann"))


@pytest.mark.parametrize(
    "names", [("a,b", "c"), ("a%2Cb", "c"), ("ana@example.org", "bj\u00f6rn x")]
)
def test_any_two_names_survive_the_link(names):
    assert names_of(pair_id(*names)) == names
