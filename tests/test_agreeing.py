"""Agreement from a ledger: which judgments count, and the figures in words and as JSON."""

from functools import partial

import numpy as np
import pytest

from app.core.agreement import NOT_TWICE
from app.core.resampling import Figure
from app.flows import agreement_report as report
from app.flows import charts
from app.flows.agreeing import OneReviewer, agreement, first_judgments
from app.flows.agreeing_cases import cases, unjudged_by
from tests.reviewing import filled, read, said, write
from tests.test_agreement import A, B, C


@pytest.fixture
def judged(tiny):
    """Builds a tiny workspace from judgments; returns its folder."""
    return partial(filled, tiny)


def grades(root, since=None):
    """Per question and chunk text, the grades that count by reviewer; `-` for cannot judge."""
    firsts = first_judgments(read(root), since)
    found = {}
    for (row, column), event in firsts.given.items():
        value = firsts.table[row, column]
        word = "-" if np.isnan(value) else int(value)
        found.setdefault((event.question, event.key.chunk, row), {})[firsts.reviewers[column]] = (
            word
        )
    return [found[one] for one in sorted(found)]


def test_two_reviewers_of_one_text_make_an_item(judged):
    root = judged(
        said("ann", "apple", 2), said("bob", "apple", 1), said("ann", "pear", 0),
        said("cem", "apple", 0, "q2"), said("bob", "apple", 0, "q2"),
    )  # fmt: skip
    assert grades(root) == [{"ann": 2, "bob": 1}, {"bob": 0, "cem": 0}]
    assert first_judgments(read(root)).once == 1


def test_an_edited_grade_counts_as_it_was_first_given(judged):
    first = said("ann", "apple", 2)
    again = said("ann", "apple", 0, replaces=first["event"])
    seen = said("ann", "apple", 1, replaces=again["event"], blind=False)
    root = judged(first, again, seen, said("bob", "apple", 0))
    assert grades(root) == [{"ann": 2, "bob": 0}]


def test_a_withdrawn_judgment_does_not_count_and_the_next_one_is_the_first(judged):
    first = said("ann", "apple", 2)
    back = said("ann", "apple", "withdraw", replaces=first["event"])
    root = judged(first, said("bob", "apple", 0), back)
    assert grades(root) == []
    write(root, said("ann", "apple", 1))
    assert grades(root) == [{"ann": 1, "bob": 0}]


def test_adjudications_and_judgments_that_were_not_blind_are_left_out_and_counted(judged):
    root = judged(
        said("ann", "apple", 2),
        said("bob", "apple", 0, blind=False),
        said("cem", "apple", 0, blind=False, adjudication=True),
        said("ann", "apple", 0, blind=False, adjudication=True),
    )
    firsts = first_judgments(read(root))
    assert firsts.items == () and firsts.alone == ("ann",)
    assert firsts.left_out == {"given while not blind": 1, "adjudications": 2}


def test_cannot_judge_is_counted_apart_and_is_no_grade(judged):
    root = judged(
        said("ann", "apple", "cannot-judge"), said("bob", "apple", 2), said("bob", "pear", 1),
        said("ann", "pear", 1), said("ann", "plum", "later"), said("bob", "plum", 0),
    )  # fmt: skip
    assert grades(root) == [{"ann": "-", "bob": 2}, {"ann": 1, "bob": 1}]
    found = agreement(read(root), first_judgments(read(root)))
    assert found.whole.percent.n == 1
    assert {one.name: one.cannot for one in found.reviewers} == {"ann": 1, "bob": 0}


@pytest.mark.parametrize("changed", ["text_hash", "question_hash"])
def test_judgments_of_unlike_texts_or_questions_are_not_of_one_item(judged, changed):
    root = judged(said("ann", "apple", 2), said("bob", "apple", 2, **{changed: "f" * 64}))
    assert grades(root) == []
    # Both read it as it was then: an item, stale though it is now.
    write(root, said("cem", "apple", 0, **{changed: "f" * 64}))
    assert grades(root) == [{"bob": 2, "cem": 0}]


def test_a_line_by_hand_is_of_the_text_and_question_there_are(judged):
    hand = said("bob", "apple", 1, text_hash=None, question_hash=None)
    assert grades(judged(said("ann", "apple", 2), hand)) == [{"ann": 2, "bob": 1}]


def test_since_a_day_leaves_out_what_was_given_before(judged):
    root = judged(
        said("ann", "apple", 2), said("bob", "apple", 2), said("ann", "pear", 1),
        said("bob", "pear", 0, time="2026-02-01T00:00:00.000Z"),
    )  # fmt: skip
    assert grades(root, "2026-02-01") == []
    firsts = first_judgments(read(root), "2026-02-01")
    assert firsts.left_out == {"given before 2026-02-01": 3}
    assert firsts.days == ("2026-02-01", "2026-01-01")


@pytest.fixture
def twelve(judged):
    """The table of the definitions, as a ledger of twelve chunks."""
    texts = {f"c{n}": f"text {n}" for n in range(12)}
    events = [
        said(name, f"c{n}", grade)
        for name, given in (("ann", A), ("bob", B), ("cem", C))
        for n, grade in enumerate(given)
        if grade is not None
    ]
    return judged(*events, texts=texts)


def test_the_known_numbers_come_out_of_a_ledger(twelve):
    found = agreement(read(twelve), first_judgments(read(twelve)))
    alphas = {level: round(figure.value, 6) for level, figure in found.whole.alphas.items()}
    assert alphas == {"nominal": 0.534884, "ordinal": 0.766797, "interval": 0.78022}
    pair = found.pair("bob", "ann")
    assert pair is found.pair("ann", "bob") and pair.n == 12
    assert {w: round(f.value, 6) for w, f in pair.kappas.items()} == {
        "nominal": 0.6, "linear": 0.7, "quadratic": 0.8,
    }  # fmt: skip
    assert (pair.both, pair.either) == (5, 7)
    assert "0.767 (0.404 to 0.918), n 12 items" in report.headline(found)
    assert "n 12 is small" in report.meaning(found)[0]


def test_a_category_has_its_own_figures(judged):
    questions = [
        {"format": 1, "id": name, "category": name, "text": text}
        for name, text in {"q1": "When is an apple tree pruned?", "q2": "x?"}.items()
    ]
    root = judged(
        said("ann", "apple", 2), said("bob", "apple", 2), said("ann", "pear", 0),
        said("bob", "pear", 0), said("ann", "pear", 1, "q2", question_hash=None),
        said("bob", "pear", 0, "q2", question_hash=None), questions=questions,
    )  # fmt: skip
    loaded = read(root)
    firsts = first_judgments(loaded)
    whole = agreement(loaded, firsts)
    assert [(one.category, one.percent.n) for one in whole.categories] == [("q1", 2), ("q2", 1)]
    only = agreement(loaded, firsts, "q2")
    assert only.whole.percent == Figure(0.0, 1, unsure=whole.whole.percent.unsure)
    assert only.categories == () and only.pair("ann", "bob").n == 1


def test_without_a_second_reviewer_the_words_say_what_to_do(judged):
    loaded = read(judged(said("ann", "apple", 2)))
    found = agreement(loaded, first_judgments(loaded))
    assert f"not defined: {NOT_TWICE} (n 0)" in report.headline(found)
    assert "Let a second reviewer grade" in report.meaning(found)[0]
    assert "all of ann, who share no item with anybody" in report.left_out_words(found)
    assert report.as_json(found)["groups"][0]["alpha"]["ordinal"]["not_defined"] == NOT_TWICE


def test_the_items_behind_a_cell_and_those_the_viewer_has_still_to_judge(judged):
    root = judged(
        said("ann", "apple", 2), said("bob", "apple", 0), said("ann", "pear", 2),
        said("bob", "pear", 0), said("ann", "plum", 1), said("bob", "plum", 0),
        said("cem", "pear", 1),
    )  # fmt: skip
    loaded = read(root)
    found = cases(loaded, first_judgments(loaded), ("bob", "ann"), (0, 2))
    assert {(one.key.chunk, one.first.author, one.second.value) for one in found} == {
        ("apple", "bob", 2), ("pear", "bob", 2),
    }  # fmt: skip
    assert [one.key.chunk for one in unjudged_by(loaded, "cem", found)] == ["apple"]
    assert unjudged_by(loaded, "ann", found) == []
    assert len(unjudged_by(loaded, "new", found)) == 2


def one(name, value, low=None, high=None):
    return OneReviewer(name, Figure(value, 40, low, high), Figure(0.1, 40), 0)


def test_who_stands_apart_is_named_only_beyond_the_interval():
    rest = [one("ann", 0.8, 0.7, 0.9), one("bob", 0.7, 0.6, 0.8)]
    assert report.stands_apart([*rest, one("cem", 0.2, 0.1, 0.4)]).startswith("cem stands apart")
    assert report.stands_apart([*rest, one("cem", 0.6, 0.4, 0.8)]) is None
    assert report.stands_apart([rest[0], one("cem", 0.2, 0.1, 0.4)]) is None


def test_the_heatmap_has_every_two_reviewers_both_ways_and_all_others(twelve):
    found = agreement(read(twelve), first_judgments(read(twelve)))
    rows = charts.heatmap_rows(found)
    names = {one.name for one in found.reviewers}
    assert {(row["row"], row["column"]) for row in rows} == {
        (a, b) for a in (charts.ALL_OTHERS, *names) for b in names if a != b
    }
    cell = next(row for row in rows if (row["row"], row["column"]) == ("ann", "bob"))
    assert cell["words"] == "0.800\nn 12" and cell["shaded"]
    few = next(row for row in rows if (row["row"], row["column"]) == ("cem", "ann"))
    assert few["n"] == 9 and not few["shaded"]
    assert '"cell"' in charts.agreement_heatmap(found).to_json()


def test_a_grid_tells_no_figure_on_fewer_than_ten_items(twelve):
    found = agreement(read(twelve), first_judgments(read(twelve)))
    cells = {(row["row"], row["column"]): row for row in charts.heatmap_rows(found)}
    few, enough = cells["cem", "ann"], cells["ann", "bob"]
    assert (few["n"], few["kappa"], few["shade"]) == (9, report.TOO_FEW, 0.0)
    assert not few["shaded"] and few["words"] == "too few\nn 9"
    assert enough["words"] == "0.800\nn 12" and cells[charts.ALL_OTHERS, "ann"]["n"] == 12


def test_a_category_of_fewer_than_ten_items_has_n_and_no_figure(judged):
    root = judged(said("ann", "apple", 2), said("bob", "apple", 1), said("ann", "pear", 0, "q2"),
        said("bob", "pear", 0, "q2"))  # fmt: skip
    found = agreement(read(root), first_judgments(read(root)))
    for name, n, *figures in report.group_rows((found.whole, *found.categories)):
        assert name in ("all", "general") and n == "2" and figures == ["too few", "", "", "", ""]


def test_the_same_grade_is_counted_by_items(twelve, judged):
    # Equal to all who graded them: items 1, 3, 4, 5, 8, 9 and 12 of the twelve.
    assert report.same_grade(first_judgments(read(twelve))) == (
        "Reviewers gave the same grade on 7 of 12 items (58.3 %)."
    )
    assert report.same_grade(first_judgments(read(twelve)), "nothing") == ""


def test_text_on_every_cell_of_the_heatmap_can_be_read():
    def light(colour):
        parts = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    pale, deep = (np.array([int(c[n : n + 2], 16) for n in (1, 3, 5)]) for c in charts.SHADES)
    for kappa in np.linspace(0, 1, 101):
        shade = "#" + "".join(f"{round(v):02x}" for v in pale + (deep - pale) * kappa)
        text = charts.TEXTS[int(kappa > charts.DEEP)]
        ends = sorted((light(shade), light(text)))
        assert (ends[1] + 0.05) / (ends[0] + 0.05) >= 4.5, kappa


def test_bias_is_drawn_to_both_sides(twelve):
    found = agreement(read(twelve), first_judgments(read(twelve)))
    rows = {row["reviewer"]: row for row in charts.bias_rows(found.reviewers)}
    assert rows["cem (n 9)"]["side"] == "more generous" and rows["cem (n 9)"]["bias"] > 0
    assert rows["bob (n 12)"]["side"] == "stricter"
    assert rows["ann (n 12)"]["side"] == "neither"
    x = charts.bias_chart([*rows.values()]).to_dict()["layer"][0]["encoding"]["x"]
    low, high = x["scale"]["domain"]
    assert x["field"] == "bias" and low == -high and high >= 0.25


def test_the_command_prints_the_figures(desk, twelve):
    answer = desk(twelve, "agreement", "tiny")
    assert answer.code == 0 and "tiny: Krippendorff's alpha (ordinal): 0.767" in answer.out
    assert "0.800 (0.470 to 0.952)" in answer.out


def test_the_command_as_json(desk, twelve):
    found = desk(twelve, "agreement", "tiny", "--json").json
    assert (found["format"], found["collection"], found["category"]) == (1, "tiny", None)
    (whole, general) = found["groups"]
    assert general["category"] == "general" and whole["alpha"] == general["alpha"]
    pair = next(one for one in found["pairs"] if set(one["reviewers"]) == {"ann", "bob"})
    assert set(pair["kappa"]) == {"nominal", "linear", "quadratic"}
    assert pair["overlap"]["both"] == 5 and sum(map(sum, pair["matrix"])) == 12
    assert {one["reviewer"] for one in found["reviewers"]} == {"ann", "bob", "cem"}


def test_the_command_refuses_a_category_that_is_not_there(desk, twelve):
    answer = desk(twelve, "agreement", "tiny", "--category", "speed")
    assert answer.code == 2
    assert 'no question of tiny has the category "speed". Categories there: general' in answer.err


def test_the_command_since_a_day(desk, twelve):
    found = desk(twelve, "agreement", "tiny", "--since", "2026-06-01", "--json").json
    assert found["groups"][0]["percent"]["n"] == 0 and found["since"] == "2026-06-01"
