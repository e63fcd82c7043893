"""Agreement of a table of grades: known numbers, definitions written out, laws."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import agreement
from app.core.agreement import LEVELS, NONE_RELEVANT, NOT_TWICE, ONE_GRADE, WEIGHTS
from app.core.resampling import FEW, LEAST_ITEMS, NO_SPREAD, OFTEN_UNDEFINED, Figure

_ = None
A = [2, 2, 1, 0, 0, 0, 1, 2, 0, 0, 1, 0]
B = [2, 1, 1, 0, 0, 1, 1, 2, 0, 0, 0, 0]
C = [_, 2, 1, 0, _, 0, 2, 2, 0, 1, _, 0]
KNOWN = agreement.table_of(list(zip(A, B, C, strict=True)))

rows = st.lists(st.lists(st.sampled_from([None, 0, 1, 2]), min_size=3, max_size=3), max_size=14)


def every_figure(table):
    """All figures of three reviewers, those of pairs and single reviewers by their numbers."""
    found = {level: agreement.alpha(table, level) for level in LEVELS}
    found |= {"percent": agreement.percent(table), "overlap": agreement.overlap(table, 1)}
    for one in range(3):
        found["bias", one] = agreement.bias(table, one)
        for weights in WEIGHTS:
            found["others", one, weights] = agreement.kappa_with_others(table, one, weights)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        matrix = agreement.confusion(table[:, one], table[:, other])
        for weights in WEIGHTS:
            found[frozenset((one, other)), weights] = agreement.kappa(matrix, weights)
    return found


def table_of(found):
    return agreement.table_of(found).reshape(len(found), 3)


@pytest.mark.parametrize(
    ("weights", "value"), [("nominal", 0.6), ("linear", 0.7), ("quadratic", 0.8)]
)
def test_kappa_of_the_known_table(weights, value):
    matrix = agreement.confusion(KNOWN[:, 0], KNOWN[:, 1])
    assert agreement.kappa(matrix, weights).value == pytest.approx(value, abs=1e-9)
    assert matrix.tolist() == [[5, 1, 0], [1, 2, 0], [0, 1, 2]]


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.534884), ("ordinal", 0.766797), ("interval", 0.780220)]
)
def test_alpha_of_the_known_table(level, value):
    found = agreement.alpha(KNOWN, level)
    assert round(found.value, 6) == value and found.n == 12
    assert found.low < found.value < found.high


def test_equal_grades_in_93_of_100_can_be_worse_than_chance():
    matrix = np.array([[93, 4, 0], [3, 0, 0], [0, 0, 0]])
    found = agreement.kappa(matrix, "nominal")
    assert round(found.value, 2) == -0.04 and found.n == 100


def test_who_is_named_first_changes_neither_kappa_nor_its_interval():
    matrix = np.array([[30, 9, 1], [2, 11, 6], [0, 3, 14]])
    for weights in WEIGHTS:
        assert agreement.kappa(matrix, weights) == agreement.kappa(matrix.T, weights)
        assert agreement.kappa(matrix, weights).low is not None


def test_confusion_has_the_first_reviewer_in_rows_and_leaves_out_what_one_did_not_judge():
    first, second = agreement.table_of([(2, 0), (2, 0), (1, 2), (0, None), (None, 1)]).T
    assert agreement.confusion(first, second).tolist() == [[0, 0, 0], [0, 0, 1], [2, 0, 0]]


def test_percent_and_overlap_are_over_pairs_of_grades():
    table = table_of([[2, 2, 0], [1, 1, None], [0, 0, 0], [2, None, None]])
    # Equal: 1 of 3, 1 of 1, 3 of 3. Relevant to both: 1, 1, 0; to either: 3, 1, 0.
    assert agreement.percent(table).value == pytest.approx(5 / 7)
    assert agreement.overlap(table, 1).value == pytest.approx(2 / 4)
    assert agreement.overlap(table, 1).n == 3
    assert agreement.overlap(table, 2).value == pytest.approx(1 / 3)


def test_bias_is_the_reviewers_mean_less_the_mean_of_the_others_of_each_item():
    table = table_of([[2, 0, 1], [1, 1, None], [2, None, None], [0, 2, 2]])
    assert agreement.bias(table, 0).value == pytest.approx((1.5 + 0 - 2) / 3)
    assert agreement.bias(table, 0).n == 3


@pytest.mark.parametrize("value", [3, -1, 0.5])
def test_a_grade_outside_the_scale_is_refused(value):
    with pytest.raises(ValueError, match=r"outside 0\.\.2"):
        agreement.alpha(np.array([[value, 1.0]]), "nominal")


@pytest.mark.parametrize("found", [[], [[1, None, None], [None, 2, None]]])
def test_without_an_item_judged_twice_nothing_is_defined(found):
    for figure in every_figure(table_of(found)).values():
        assert (figure.value, figure.n, figure.undefined) == (None, 0, NOT_TWICE)
        assert figure.low is figure.high is None


def test_with_one_grade_only_agreement_beyond_chance_is_not_defined():
    figures = every_figure(table_of([[0, 0, 0]] * 20))
    for name in [*LEVELS, *((frozenset(p), w) for p in ((0, 1), (1, 2)) for w in WEIGHTS)]:
        assert (figures[name].value, figures[name].undefined) == (None, ONE_GRADE)
        assert figures[name].n == 20
    assert figures["overlap"].undefined == NONE_RELEVANT
    assert figures["percent"].value == 1 and figures["bias", 0].value == 0


def test_few_items_have_a_value_and_no_interval():
    few = KNOWN[: LEAST_ITEMS - 1]
    found = agreement.alpha(few, "ordinal")
    assert found.value is not None and found.low is found.high is found.width is None
    assert found.unsure == FEW
    assert agreement.alpha(KNOWN[:LEAST_ITEMS], "ordinal").unsure is None


def test_perfect_agreement_has_no_interval_for_resampling_shows_no_spread():
    found = agreement.alpha(agreement.table_of([(0, 0), (1, 1), (2, 2)] * 20), "nominal")
    assert found == Figure(1.0, 60, unsure=NO_SPREAD)


def test_a_value_that_hangs_on_one_item_has_no_interval():
    matrix = np.array([[99, 1, 0], [0, 0, 0], [0, 0, 0]])
    assert agreement.kappa(matrix, "nominal").unsure == OFTEN_UNDEFINED


def test_more_items_of_the_same_kind_make_the_interval_narrower():
    widths = [agreement.alpha(np.tile(KNOWN, (n, 1)), "ordinal").width for n in (1, 10, 100)]
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


@given(rows)
def test_alpha_is_its_definition_over_all_pairs_of_grades(found):
    for level in LEVELS:
        figure = agreement.alpha(table_of(found), level)
        expected = alpha_written_out(found, level)
        if expected is None:
            assert figure.value is None
        else:
            assert figure.value == pytest.approx(expected, abs=1e-9)


def alpha_written_out(found, level):
    units = [[g for g in row if g is not None] for row in found]
    units = [unit for unit in units if len(unit) > 1]
    grades = [g for unit in units for g in unit]

    def far(c, k):
        if level == "nominal":
            return float(c != k)
        if level == "interval":
            return float(c - k) ** 2
        low, high = sorted((c, k))
        between = sum(grades.count(g) for g in range(low, high + 1))
        return (between - (grades.count(c) + grades.count(k)) / 2) ** 2

    if not grades:
        return None
    observed = sum(
        sum(far(c, k) for c, k in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    ) / len(grades)
    pairs = list(permutations(grades, 2))
    expected = sum(far(c, k) for c, k in pairs) / len(pairs)
    return 1 - observed / expected if expected else None


@given(rows)
def test_kappa_is_its_definition_over_all_items(found):
    both = [(row[0], row[1]) for row in found if None not in row[:2]]
    table = table_of(found)
    for weights, power in (("nominal", 0), ("linear", 1), ("quadratic", 2)):
        figure = agreement.kappa(agreement.confusion(table[:, 0], table[:, 1]), weights)

        def far(a, b, power=power):
            return float(abs(a - b) ** power if a != b else 0)

        chance = [far(a, b) for a, _ in both for _, b in both]
        if not any(chance):
            assert figure.value is None and (figure.undefined == ONE_GRADE) == bool(both)
            continue
        observed = sum(far(a, b) for a, b in both) / len(both)
        expected = 1 - observed / (sum(chance) / len(chance))
        assert figure.value == pytest.approx(expected, abs=1e-9)


@given(rows, st.sampled_from([1, 2]))
def test_figures_of_a_matrix_are_those_of_the_table_of_two(found, threshold):
    table = table_of(found)[:, :2]
    matrix = agreement.confusion(table[:, 0], table[:, 1])
    assert agreement.percent_between(matrix) == agreement.percent(table)
    both, either, overlap = agreement.overlap_between(matrix, threshold)
    assert overlap == agreement.overlap(table, threshold)
    assert overlap.value == (both / either if either else None)


@given(rows, st.randoms(use_true_random=False), st.permutations(range(3)))
def test_neither_the_order_of_items_nor_that_of_reviewers_changes_a_figure(found, random, order):
    table = table_of(found)
    shuffled = list(range(len(found)))
    random.shuffle(shuffled)
    before, after = every_figure(table), every_figure(table[shuffled][:, order])
    for name, figure in before.items():
        place = {old: new for new, old in enumerate(order)}
        if isinstance(name, tuple) and isinstance(name[0], frozenset):
            there = (frozenset(place[one] for one in name[0]), *name[1:])
        elif isinstance(name, tuple):
            there = (name[0], place[name[1]], *name[2:])
        else:
            there = name
        same(figure, after[there])


def same(one, other):
    assert (one.n, one.undefined, one.unsure) == (other.n, other.undefined, other.unsure)
    for a, b in ((one.value, other.value), (one.low, other.low), (one.high, other.high)):
        assert a == b or math.isclose(a, b, abs_tol=1e-12)


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=14))
def test_perfect_agreement_is_1_where_it_is_defined(grades):
    figures = every_figure(table_of([[grade] * 3 for grade in grades]))
    for name, figure in figures.items():
        if isinstance(name, tuple) and name[0] == "bias":
            assert figure.value == 0
        elif name == "overlap":
            assert figure.value == (1 if any(grades) else None)
        elif name == "percent" or len(set(grades)) > 1:
            assert figure.value == 1
        else:
            assert figure.undefined == ONE_GRADE


@given(rows)
def test_every_figure_is_a_number_in_its_range_or_says_why_not(found):
    for name, figure in every_figure(table_of(found)).items():
        if figure.value is None:
            assert figure.undefined and figure.low is None
            continue
        bottom = {"percent": 0, "overlap": 0}.get(name, -2)
        assert bottom <= figure.value <= 2 and not math.isnan(figure.value)
        assert (figure.low is None) == bool(figure.unsure)
        if figure.low is not None:
            assert figure.low <= figure.high
