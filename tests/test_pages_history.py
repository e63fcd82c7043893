"""Page Label, view History, run as Streamlit runs it but without a browser."""

from functools import partial

import pytest

from app.core.model import ChunkKey
from app.core.trec import key_token
from tests.labelpage import press
from tests.reviewing import filled, opened, said, shown, write

NOTE = "Only <b>half</b>, $x$ :red[no]"


@pytest.fixture
def root(tiny):
    """Ann judged the apple twice and put the pear off; Bob judged the apple."""
    first = said("ann", "apple", 2)
    return filled(
        tiny,
        first, said("bob", "apple", 0, note="bob's secret"),
        said("ann", "apple", 1, replaces=first["event"], note=NOTE), said("ann", "pear", "later"),
        said("ann", "plum", 2, "q2", evidence=[{"quote": "dried to <i>", "facts": ["f1"]}]),
    )  # fmt: skip


@pytest.fixture
def view(root, monkeypatch):
    return partial(opened, root, monkeypatch, "history")


def chunk(name):
    return key_token(ChunkKey(name, "as-is-v1", name))


def test_own_judgments_are_listed_last_first_with_how_they_stand_and_a_way_back(view):
    text = shown(view("ann"))
    assert "4 judgments of yours" in text
    assert text.index("2 answers") < text.index("later") < text.index("1 helps")
    assert "replaced by grade 1" in text and text.count("in force") == 3
    assert "Only &lt;b&gt;half&lt;/b&gt;, $x$ :red[no]" in text
    assert "dried to &lt;i&gt;" in text and "supports f1" in text
    assert "2026-01-01 00:" in text and " UTC" in text
    assert "view=grade&amp;reviewer=ann&amp;question=q1&amp;chunk=apple%7Cas-is-v1%7Capple" in text
    assert "secret" not in text


def test_the_list_narrows_by_question_and_words_in_the_link(view):
    assert "1 judgment of yours like that" in shown(view("ann", question="q2"))
    assert "1 judgment of yours like that" in shown(view("ann", of="q2"))
    assert "1 judgment of yours like that" in shown(view("ann", said="HALF apple"))
    text = shown(view("ann", said="nothing like it"))
    assert "None is like that. Clear the search, or pick all questions." in text
    assert "which is not there" in shown(view("ann", of="no-such"))


def test_an_item_shows_what_others_said_once_one_has_judged_it(view):
    at = view("ann", question="q1", chunk=chunk("apple"))
    text = shown(at)
    assert "3 events" in text and "bob&#x27;s secret" in text and "is hidden" not in text
    assert text.index("replaced by grade 1") < text.index("secret") < text.index("half")
    at.button(key="history-own").click().run()
    assert "4 judgments of yours" in shown(at) and "question" not in at.query_params


def test_an_item_hides_what_others_said_and_links_to_where_it_is_judged(view, root):
    text = shown(view("cem", question="q1", chunk=chunk("apple")))
    assert "What others said of it is hidden" in text and "Judge it first" in text
    for words in ("bob", "secret", "ann", "does not help", "half"):
        assert words not in text
    (root / "data/desk.toml").write_text(
        'format = 1\n[roles]\nreviewers = ["ann"]\nadjudicators = ["eve"]\n'
    )
    text = shown(view("cem", question="q1", chunk=chunk("apple")))
    assert "Who may grade sees it after judging it." in text and "secret" not in text
    text = shown(view("eve", question="q1", chunk=chunk("apple")))
    assert "secret" in text and "is hidden" not in text


def test_who_has_judged_nothing_is_told_where_judgments_come_from(view):
    assert "You have judged nothing yet." in shown(view("dan"))


def test_a_link_to_what_is_not_there_is_told(view):
    assert "which is not there" in shown(view("ann", question="q1", chunk="nonsense"))
    text = shown(view("ann", question="no-such", chunk=chunk("gone")))
    assert "This question is no longer here." in text and "its text is no longer here" in text


def test_fifty_judgments_come_in_pages(view, root):
    write(root, *(said("dan", "apple", n % 3) for n in range(50)))
    at = view("dan")
    assert shown(at).count("all its events") == 25
    at.get("pagination")[0].set_value(2).run()
    assert shown(at).count("all its events") == 25 and "in force" not in shown(at)


def test_a_line_that_cannot_be_read_keeps_nobody_from_their_history(view, root):
    (root / "labels/tiny/judgments/bob.jsonl").write_text("{no line\n")
    assert "4 judgments of yours" in shown(view("ann"))
    assert "4 judgments" not in shown(view("ann", question="q1", chunk=chunk("apple")))


def test_from_grading_one_comes_to_the_list_and_not_to_the_item_on_screen(page):
    at = page("label", reviewer="ana", question="retry-budget")
    press(at, "grade-2")
    assert "chunk" in at.query_params
    at.segmented_control(key="pick-view").set_value("history").run()
    assert "1 judgment of yours" in shown(at) and "chunk" not in at.query_params
    assert "History of the item that was on screen" in shown(at)
    at.segmented_control(key="pick-view").set_value("grade").run()
    assert "chunk" in at.query_params and "1 by you" in shown(at)
