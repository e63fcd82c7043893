"""A link to exactly some items of one question, on page Label and on the bench behind it."""

import pytest

from app.core.model import ChunkKey
from app.core.trec import items_token, key_token
from app.flows.bench import Bench, Wish
from app.flows.claims import Claims
from app.flows.labeling import Said
from app.flows.loading import load
from app.flows.pooling import pool_of
from app.flows.worklist import Listed, listed
from tests.conftest import judgment
from tests.labelpage import buttons, chunk_on_screen, lines, press, shown

FILE = "labels/runbooks/judgments/ana.jsonl"
RULE = "section-paragraphs-80w-overlap1-v1"
KEYS = [
    ChunkKey("http-request-retries", RULE, "retries/p0"),
    ChunkKey("worker-shutdown", RULE, "shutdown/p0"),
    ChunkKey("durable-work-queue", RULE, "recovery/p0"),
]


@pytest.fixture
def label(page):
    """Opens the view Grade with a link to items."""

    def run(items=None, **query):
        word = items_token(KEYS) if items is None else items
        return page(
            "label", **{"reviewer": "Ana", "question": "retry-budget", "items": word, **query}
        )

    return run


def judged(runbooks):
    return [tuple(event["chunk"]) for event in lines(runbooks / FILE)]


def test_exactly_the_items_come_and_then_it_says_so(label, runbooks):
    at = label()
    for place in (1, 2, 3):
        assert f"Item {place} of 3 of the link" in shown(at)
        assert f"The link: {place - 1} of 3 by you" in shown(at)
        assert at.query_params["items"] in (items_token(KEYS), [items_token(KEYS)])
        press(at, "grade-1")
    assert sorted(judged(runbooks)) == sorted((k.document, k.version, k.chunk) for k in KEYS)
    assert chunk_on_screen(at) is None and "The 3 items of the link are judged." in shown(at)
    assert '"/retrieve?collection=runbooks&amp;question=retry-budget"' in shown(at)
    at.button(key="leave-items").click().run()
    assert "items" not in at.query_params and "of the link" not in shown(at)
    assert chunk_on_screen(at) is not None


def test_the_order_of_the_link_changes_nothing(label, runbooks):
    words = [key_token(key) for key in KEYS]
    seen = []
    for some in (words, words[::-1]):
        at = label(",".join(some))
        seen.append([])
        for _ in words:
            seen[-1].append(chunk_on_screen(at))
            press(at, "grade-0")
        for _ in words:
            press(at, "undo")
        assert "Item 1 of 3" in shown(at)
    assert seen[0] == seen[1]


def test_what_was_judged_is_passed_over_and_what_others_judged_is_not(label, runbooks):
    at = label()
    press(at, "grade-2")
    first = judged(runbooks)
    again = label()  # the sample reviewer has judged all of them
    assert "Item 2 of 3 of the link" in shown(again)
    press(again, "reason")
    press(again, "reason-b")
    press(again, "grade-0")
    assert "The 3 items of the link are judged." in shown(again)
    assert len(set(judged(runbooks))) == 3 and judged(runbooks)[:1] == first
    assert "The 3 items of the link are judged." in shown(label())


def test_undo_back_later_and_pass_work_as_ever(label, runbooks):
    at = label()
    first = chunk_on_screen(at)
    press(at, "later")
    second = chunk_on_screen(at)
    press(at, "next")
    third = chunk_on_screen(at)
    assert len({first, second, third}) == 3
    press(at, "back")
    assert chunk_on_screen(at) == second and "Item 2 of 3" in shown(at)
    press(at, "grade-1")
    assert chunk_on_screen(at) == third
    press(at, "grade-1")
    assert chunk_on_screen(at) == first and "You put this off." in shown(at)
    press(at, "grade-1")
    assert "The 3 items of the link are judged." in shown(at)
    press(at, "undo")
    assert chunk_on_screen(at) == first and "Item 1 of 3" in shown(at)
    press(at, "grade-2")
    assert "The 3 items of the link are judged." in shown(at)
    press(at, "back")
    assert "Grade it again to change that." in shown(at)


def test_an_undo_of_another_question_leads_back_to_the_link(label, page, runbooks):
    other = page("label", reviewer="Ana", question="ingress-timeout")
    press(other, "grade-0")
    at = label()
    press(at, "undo")
    assert "Beside the 3 of the link" in shown(at)
    assert at.query_params["question"] in ("retry-budget", ["retry-budget"])
    at.run()
    assert "Beside the 3 of the link" in shown(at)
    press(at, "grade-1")
    assert "Item 1 of 3 of the link" in shown(at)


def test_a_reload_in_the_middle_stays_at_its_item(label):
    at = label()
    press(at, "next")
    before, query = chunk_on_screen(at), dict(at.query_params)
    (chunk,) = {query["chunk"]} if isinstance(query["chunk"], str) else query["chunk"]
    again = label(chunk=chunk)
    assert chunk_on_screen(again) == before and "Item 2 of 3" in shown(again)
    press(again, "grade-0")  # what was passed is not remembered
    assert "Item 1 of 3" in shown(again)
    press(again, "grade-0")
    assert "Item 3 of 3" in shown(again)


def test_going_to_another_question_leaves_the_link(label):
    at = label()
    at.session_state["go-question"] = "drain-deadline"
    at.button(key="leave-items").click().run()
    assert "of the link" not in shown(at) and "items" not in at.query_params


@pytest.mark.parametrize(
    ("items", "words", "left"),
    [
        ("", "The link names no items to judge.", 0),
        ("nonsense", "The link names &quot;nonsense&quot; as items, which is not there.", 0),
        ("a|b|c", "None of the 1 item of the link can be judged: 1 not in the corpus.", 0),
        (
            f"{key_token(KEYS[0])},a|b|c,{key_token(KEYS[0])}",
            "Passed over of the 3 items of the link: 1 not in the corpus, 1 there already, by "
            "its text.",
            1,
        ),
    ],
)
def test_what_cannot_be_judged_is_told_once_and_passed_over(label, items, words, left):
    at = label(items)
    assert words in shown(at)
    assert ("Item 1 of 1 of the link" in shown(at)) == bool(left)
    assert ("items" in at.query_params) == bool(left)
    assert chunk_on_screen(at) is not None
    at.run()
    assert words not in shown(at)


def test_a_link_without_its_question_says_so(page):
    at = page("label", reviewer="Ana", items=items_token(KEYS))
    assert "The link names items but no question to judge them for." in shown(at)
    at = page("label", reviewer="Ana", items=items_token(KEYS), question="no-such")
    assert "&quot;no-such&quot; as question" in shown(at) and "of the link" not in shown(at)


def test_another_reviewer_at_the_same_screen_has_no_link(label, runbooks):
    at = label()
    at.text_input(key="reviewer").set_value("Ben").run()
    assert "of the link" not in shown(at) and "items" not in at.query_params
    assert "names items" not in shown(at)


def test_who_only_reads_can_look_at_the_items(label, runbooks):
    (runbooks / "data/desk.toml").write_text('format = 1\n[roles]\nreviewers = ["zoe"]\n')
    at = label()
    first = chunk_on_screen(at)
    assert buttons(at, "grade") == [] and "Item 1 of 3" in shown(at)
    press(at, "next")
    assert chunk_on_screen(at) != first


def test_nothing_of_ranks_or_scores_is_shown(label):
    text = shown(label())
    for word in ("score", "rank", "sample-reviewer", "dense", "desk-badge"):
        assert word not in text


@pytest.fixture
def tiny_bench(tiny, collection_of):
    """A bench where another reviewer has judged the quince; apple and pear are twins."""

    def build(**more):
        texts = [
            {"id": "apple", "text": "An apple tree needs pruning."},
            {"id": "pear", "text": "An apple tree needs pruning."},
            {"id": "plum", "text": "Plums are dried."},
            {"id": "quince", "text": "Quinces are hard."},
        ]
        other = [judgment("q1", "quince", 2, 0, author="ann")]
        root = tiny(
            texts=texts, labels=other,
            settings="[queue]\noverlap = 0.0\naudit = 0.0\n", **more,
        )  # fmt: skip
        loaded = load(collection_of(root))
        return Bench(loaded, pool_of(loaded), Claims()), loaded

    return build


def key(name):
    return ChunkKey(name, "as-is-v1", name)


def test_twins_are_one_item_and_what_others_judged_comes(tiny_bench):
    bench, loaded = tiny_bench()
    names = ["quince", "pear", "apple"]
    items, told = listed(loaded, "q1", [key(name) for name in names])
    assert told == "Passed over of the 3 items of the link: 1 there already, by its text."
    seen = []
    while (turn := bench.turn("bob", Wish("q1", True, items=items))).item is not None:
        assert (turn.linked.place, turn.linked.done, turn.linked.total) == (
            len(seen) + 1, len(seen), 2,
        )  # fmt: skip
        seen.append(turn.item.key.chunk)
        bench.say("bob", turn.item, Said("grade", 1))
    assert sorted(seen) == ["apple", "quince"]
    assert (turn.linked.place, turn.linked.done, turn.unreturned) == (None, 2, False)


def test_each_reviewer_has_an_order_of_their_own(tiny_bench):
    bench, loaded = tiny_bench()
    items = Listed("q2", frozenset(map(key, ("apple", "quince", "plum"))))
    orders = set()
    for n in range(40):
        order = items.order(loaded, bench._draw, f"r{n}")
        assert list(order) == list(items.order(loaded, bench._draw, f"r{n}"))
        orders.add(tuple(order.values()))
    assert len(orders) == 6


def test_a_question_or_corpus_that_changed_leaves_nothing_broken(tiny_bench):
    bench, _ = tiny_bench()
    for items in (Listed("gone", frozenset([key("apple")])), Listed("q1", frozenset([key("no")]))):
        turn = bench.turn("bob", Wish(items.question, True, items=items))
        assert (turn.item, turn.linked.total) == (None, 0)


def test_a_chunk_the_filter_keeps_out_is_told(tiny, collection_of):
    texts = [
        {"id": name, "text": f"The {name}.", "kind": kind}
        for name, kind in (("apple", "in"), ("plum", "out"))
    ]
    root = tiny(texts=texts, labels=(), settings='[eligible]\nkind = "in"\n')
    loaded = load(collection_of(root))
    found, told = listed(loaded, "q1", [key("plum"), key("apple")])
    assert found.keys == {key("apple")}
    assert told == "Passed over of the 2 items of the link: 1 kept out by the filter."
    assert listed(loaded, "q1", [key("plum")]) == (
        None, "None of the 1 item of the link can be judged: 1 kept out by the filter.",
    )  # fmt: skip
