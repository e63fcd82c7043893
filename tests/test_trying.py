"""Settings tried for one run: what comes of them is a configuration, and a view is a filter."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

from app.core.errors import InvalidInput
from app.core.text import canonical
from app.flows.indexing import index
from app.flows.loading import load
from app.flows.scoring import score_rankings
from app.flows.searching import open_searcher
from app.flows.trying import (
    NONE,
    PLACE,
    Changes,
    changed,
    values_of,
    view_of,
    with_configuration,
)
from app.settings import DEEPEST, Configuration
from app.workspace import Workspace
from tests.conftest import SPARSE, tiny_in
from tests.labelpage import shown
from tests.test_configuring import configurations
from tests.test_pages_retrieve import CRASH, alerts, heading, hits, link_of

CHANGES = st.builds(
    Changes,
    mode=st.none() | st.sampled_from(["dense", "sparse", "hybrid", "external"]),
    threshold=st.none() | st.floats(),
    unlimited=st.booleans(),
    exact=st.none() | st.booleans(),
    depth=st.none() | st.integers(-1, 3 * DEEPEST),
)
FRUIT = [
    {"id": "a", "text": "apple pear plum", "kind": "fruit", "year": 1, "tags": ["x", "y"]},
    {"id": "b", "text": "apple apple", "kind": "fruit", "year": 2, "tags": ["y"]},
    {"id": "c", "text": "apple pear", "kind": "tree", "year": 1, "tags": ["x"]},
    {"id": "d", "text": "apple quince", "kind": "tree", "year": 2},
    {"id": "e", "text": "apple plum plum", "kind": "bush", "year": 1, "tags": ["z"]},
]
#: Keeps out what has no tags.
OWN = '[eligible]\nkind = ["fruit", "tree", "bush"]\nyear = [1, 2]\ntags = ["x", "y", "z"]\n'
GRADES = [("q1", "a", 2), ("q1", "c", 1), ("q1", "e", 2), ("q2", "b", 1), ("q2", "a", 0)]
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.lists(st.sampled_from(["fruit", "tree", "bush"]), max_size=3, unique=True),
        "year": st.lists(st.sampled_from([1, 2]), max_size=2, unique=True),
        "tags": st.lists(st.sampled_from(["x", "y", "z"]), max_size=3, unique=True),
    },
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(before=configurations(), changes=CHANGES)
@example(before=Configuration(mode="sparse", depth=2), changes=Changes(mode="hybrid", depth=150))
@example(before=Configuration(threshold=0.5), changes=Changes(mode="hybrid"))
def test_of_any_change_comes_a_valid_configuration_or_a_sentence(before, changes):
    try:
        after = changed(before, changes)
    except InvalidInput as error:
        told = error.problems
    else:
        told = []
    if told:
        assert all(one.place == PLACE and one.remedy for one in told)
        return
    # It stands on its own: a file that says the same is read as the same.
    assert Configuration.model_validate(after.model_dump(exclude_unset=True)) == after
    assert changes.mode in (None, after.mode) and changes.exact in (None, after.exact)
    assert changes.depth in (None, after.depth)
    if changes.threshold is not None:
        assert after.threshold == changes.threshold
    elif changes.unlimited:
        assert after.threshold is None
    if changes.mode in (None, before.mode):
        free = {"threshold", "exact", "depth", "candidates"}
        assert after.model_dump(exclude=free) == before.model_dump(exclude=free)
    if not changes.any:
        assert after is before


@given(before=configurations(), mode=st.sampled_from(["dense", "sparse", "hybrid"]))
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_mode_can_be_tried_of_every_search_of_our_own(before, mode):
    if before.mode == "external":
        with pytest.raises(InvalidInput, match="another program is asked there"):
            changed(before, Changes(mode=mode))
        return
    after = changed(before, Changes(mode=mode))
    assert after.mode == mode and after.depth == before.depth
    # The score of one mode is no threshold of another.
    assert after.threshold == (before.threshold if mode == before.mode else None)


def test_nothing_changed_is_nothing_but_a_filter_is_no_change_of_the_configuration():
    assert not NONE.any and not Changes(filters={"kind": ["a"]}).any
    assert Changes(unlimited=True).any and Changes(exact=False).any and Changes(threshold=0.0).any


def test_another_configuration_under_a_name_leaves_the_settings_as_they_are(tiny, collection_of):
    collection = collection_of(tiny())
    same = collection.settings.configurations["sparse"]
    assert with_configuration(collection, "sparse", same) is collection
    deep = Configuration(mode="sparse", depth=50)
    other = with_configuration(collection, "sparse", deep)
    assert other.configuration("sparse") == deep
    assert collection.configuration("sparse") == same


@pytest.fixture(scope="module")
def fruit(tmp_path_factory):
    """The fruit, indexed, as a collection whose settings have these lines."""
    made = {}

    def make(eligible, only=None):
        if eligible not in made:
            root = tmp_path_factory.mktemp("fruit") / "workspace"
            asked = {"q1": "apple pear", "q2": "apple"}
            # A label on what a collection's own filter keeps out is refused.
            labels = [one for one in GRADES if only is None or one[1] in only]
            tiny_in(root, FRUIT, asked, labels, settings=eligible, configurations=SPARSE)
            collection = Workspace.at(root).collection("tiny")
            index(collection)
            made[eligible] = load(collection)
        return made[eligible]

    return make


def test_the_collections_own_filter_is_the_same_objects(fruit):
    loaded = fruit(OWN)
    own = loaded.collection.settings.filters
    for filters in (None, own, {name: list(own[name]) for name in reversed(list(own))}):
        view = view_of(loaded, filters)
        assert view.corpus is loaded.corpus and view.labels is loaded.labels
        assert not view.filtered


def viewed(loaded, filters):
    """A view under a filter that some chunk passes; no other is looked at."""
    told = None
    try:
        return view_of(loaded, filters)
    except InvalidInput as error:
        told = str(error)
    assert "none of the chunks passes this filter" in told
    return reject()


def eligible_of(filters):
    """The lines of settings whose filter is this one; a field without values does not restrict."""
    rows = [f"{name} = {canonical(values)}" for name, values in filters.items() if values]
    return "\n".join(["[eligible]", *rows, ""]) if rows else ""


def scored(loaded, view, k=2):
    """The scores of both questions under a view, with what is eligible there."""
    searcher = open_searcher(loaded.collection, "sparse", loaded.corpus)
    rankings = []
    for name, question in loaded.questions.items():
        here = replace(searcher, corpus=view.corpus, filters=view.filters)
        rankings.append(here.rank(name, question.text, 10).ranking)
    hashes = {key: chunk.text_hash for key, chunk in view.corpus.eligible.items()}
    found = score_rankings(rankings, view.labels, hashes, [k], None)
    return [
        (one.question, one.outcome, one.reason, one.relevant, one.values, one.bounds, one.judged)
        for one in found.questions
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(filters=FILTERS)
def test_a_view_scores_as_a_collection_does_whose_settings_have_its_filter(fruit, filters):
    loaded = fruit(OWN)
    view = viewed(loaded, filters)
    other = fruit(eligible_of(filters), {key.chunk for key in view.corpus.eligible})
    assert view.corpus.eligible.keys() == other.corpus.eligible.keys()
    assert scored(loaded, view) == scored(other, view_of(other))
    assert dict(view.labels.kinds) == dict(other.labels.kinds)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(filters=FILTERS)
def test_labels_under_a_filter_are_some_of_the_labels_there_are(fruit, filters):
    loaded = fruit(OWN)
    view = viewed(loaded, filters)
    every = loaded.labels.pairs
    for pair, label in view.labels.pairs.items():
        assert every[pair] is label and pair[1] in view.corpus.eligible
    left_out = every.keys() - view.labels.pairs.keys()
    assert all(key not in view.corpus.eligible for _, key in left_out)
    # What it was made of is untouched.
    assert loaded.labels.pairs is every and not loaded.corpus.chunks.keys() - view.corpus.chunks


def test_a_field_or_a_value_that_is_not_there_is_told_with_those_that_are(fruit):
    loaded = fruit(OWN)
    with pytest.raises(InvalidInput) as caught:
        view_of(loaded, {"colour": ["red"], "year": ["1", 1.0, True, 2]})
    said = "\n".join(map(str, caught.value.problems))
    assert "the filter has no field colour. Fields: kind, year, tags" in said
    # A value is of its kind: neither a text nor true is the number one.
    assert 'no chunk has year = "1". Values: 1, 2' in said
    assert "no chunk has year = true" in said and "year = 2" not in said
    with pytest.raises(InvalidInput, match="none of the chunks passes this filter"):
        view_of(loaded, {"kind": ["bush"], "year": [2]})


def test_values_of_a_field_are_those_of_all_chunks_one_by_one(fruit):
    found = values_of(fruit(OWN).corpus, ("kind", "tags"))
    assert found == {"kind": ["bush", "fruit", "tree"], "tags": ["x", "y", "z"]}


# --- On page Retrieve ------------------------------------------------------


@pytest.fixture
def retrieve(page):
    return partial(page, "retrieve")


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("threshold", "abc", "threshold is &quot;abc&quot;, which is not a number, nor none."),
        ("threshold", "nan", "threshold is &quot;nan&quot;, not a finite number."),
        ("threshold", "1e999", "not a finite number."),
        ("threshold", "0,5", "threshold is &quot;0,5&quot;, which is not a number, nor none."),
        ("depth", "1", "depth 1 must be beyond the largest cut-off, 5."),
        ("depth", "many", "depth is &quot;many&quot;, which is not a whole number."),
        ("depth", "2.5", "depth is &quot;2.5&quot;, which is not a whole number."),
        ("depth", "9" * 5_000, "which is not a whole number."),
    ],
    ids=lambda one: one[:12],
)
def test_what_cannot_be_tried_is_one_sentence_and_can_be_corrected(retrieve, key, value, said):
    at = retrieve(question="restart-recovery", **{key: value})
    (told,) = alerts(at)
    assert told.startswith("settings for this run: ") and said in told
    assert told.endswith("It was searched as configured.") and len(hits(at)) == 7
    assert at.multiselect(key="pick-filter-runbooks-type").value == ['"runbook"']
    at.button(key="as-configured").click().run()
    assert alerts(at) == [] and heading(at) == CRASH and len(hits(at)) == 7
    at.text_input(key=f"pick-{key}").set_value(value).run()
    assert len(alerts(at)) == 1
    at.text_input(key=f"pick-{key}").set_value("").run()
    assert alerts(at) == [] and key not in link_of(at)


def test_a_threshold_cannot_be_tried_on_a_fused_search(retrieve):
    at = retrieve(configuration="hybrid", threshold="0.1")
    (told,) = alerts(at)
    assert "a threshold on RRF scores means nothing" in told
    at.selectbox(key="pick-configuration").select("sparse").run()
    assert alerts(at) == [] and hits(at)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"type":[NaN]}', "as filter, which is none"),
        ("[" * 3_000, "as filter, which is none"),
        ('{"type":"note"}', "as filter, which is none"),
        ("{not json", "as filter, which is none"),
        ('{"type":["memo"],"status":["published"]}', "names &quot;memo&quot; as type, which no"),
    ],
    ids=["not a number", "deep", "no list", "no JSON", "unknown value"],
)
def test_a_filter_of_a_link_that_is_none_is_told_and_the_own_one_holds(retrieve, written, said):
    at = retrieve(question="restart-recovery", filter=written)
    assert said in shown(at) and alerts(at) == [] and len(hits(at)) == 7
    assert "Another filter" not in shown(at) and "filter" not in link_of(at)
    assert at.multiselect(key="pick-filter-runbooks-type").value == ['"runbook"']
