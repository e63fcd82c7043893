"""Page Retrieve: grades and quotes beside the ranking, what is kept of a run, and what fails."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from app.core.errors import EngineError
from app.core.text import text_hash
from app.core.trec import items_of
from app.ui import seen
from app.ui.kept import Kept
from tests.conftest import SPARSE, judgment, lines_of
from tests.labelpage import chunk_on_screen, lines, opened, press, shown
from tests.test_pages_retrieve import alerts, table
from tests.test_pages_retrieve import hits as evidence

WORDS = {"q1": "apple"}
#: By words they come in this order for "apple".
APPLES = {f"a{n}": "apple " * (9 - n) + "pear " * n for n in range(7)}
ODD = "<script>window.ran = 1</script> apple costs $x$ and :red[a lot] & more. Then it ends."


@pytest.fixture
def open_in(monkeypatch):
    """Opens a page of a workspace, Retrieve unless named, with what a link says."""

    def run(root, name="retrieve", **query):
        monkeypatch.chdir(root)
        return opened(name, **query)

    return run


@pytest.fixture
def apples(indexed):
    """The apples, indexed, with labels on q1; its folder."""

    def make(*labels, texts=APPLES, questions=WORDS, **more):
        return indexed(texts, questions, [("q1", *one) for one in labels], **more)

    return make


def asked_with_facts(*facts):
    named = [{"id": name, "text": f"Fact {name}."} for name in facts]
    return [{"format": 1, "id": "q1", "category": "general", "text": "apple", "facts": named}]


def quoting(chunk, grade, number, *quotes, text=None, facts=()):
    quoted = [{"quote": quote, "facts": list(facts)} for quote in quotes]
    pins = {} if text is None else {"text_hash": text_hash(text)}
    return judgment("q1", chunk, grade, number, evidence=quoted, **pins)


def press_button(at, label, number=0):
    return [one for one in at.button if one.label == label][number].click().run()


def named(at, key):
    (found,) = [one for one in at.button if one.key and one.key.startswith(key)]
    return found


def grade(at, value, number=0, name="Ana"):
    """Grade an open hit where it stands."""
    press_button(at, "Grade here", number)
    if name is not None:
        at.text_input(key="reviewer").set_value(name).run()
    return named(at, f"give-{value}-").click().run()


def test_equal_scores_are_bracketed_and_told_where_they_lie_across_k(apples, open_in):
    texts = {**APPLES, "twin1": APPLES["a2"], "twin2": APPLES["a2"]}
    at = open_in(apples(("a2", 2), ("a0", 0), ("a1", 0), texts=texts))
    assert ["desk-tied" in one for one in evidence(at)[:6]] == [False] * 2 + [True] * 3 + [False]
    assert all("equal score at ranks 3 to 5" in one for one in evidence(at)[2:5])
    assert "Equal scores lie across K" in shown(at)


def test_an_unsupported_question_has_acceptance_and_no_metric(page, runbooks, edit):
    at = page("retrieve", question="ingress-timeout", configuration="dense")
    assert "3 hits within K, top score 0." in shown(at) and "no threshold is set" in shown(at)
    assert "nDCG" not in shown(at) and "Lost evidence" not in shown(at)
    at.text_input(key="pick-threshold").set_value("0.9").run()
    assert "0 hits within K, top score 0.505; rejected at threshold 0.9" in shown(at)
    at.selectbox(key="pick-beside").select("sparse").run()
    assert "dense, changed: Unsupported:" in shown(at) and "sparse: Unsupported:" in shown(at)


def test_open_hits_leave_a_range_that_closes_when_they_are_graded_here(apples, open_in):
    root = apples(("a0", 0), ("a2", 2))
    at = open_in(root)
    assert "provisional" in table(at)["nDCG@3"][0]
    assert "Provisional: open pairs may still change it. Unjudged as 0: " in shown(at)
    assert "Judge the open hit blind" in shown(at)
    grade(at, 0)
    assert "Saved: 0 for a1, as not blind." in shown(at) and alerts(at) == []
    (event,) = lines(root / "labels/tiny/judgments/ana.jsonl")
    assert (event["question"], event["chunk"][0], event["grade"]) == ("q1", "a1", 0)
    assert event["blind"] is False and event["author"] == "ana"
    assert "Provisional" not in shown(at) and "blind</a>" not in shown(at)
    assert table(at)["nDCG@3"][0] == "0.500" and table(at)["Judged@3"][0] == "1.000"
    assert "Saved:" not in shown(at.run())


def test_a_grade_here_needs_a_name_and_says_what_it_is(apples, open_in):
    root = apples(("a0", 2))
    at = open_in(root)
    press_button(at, "Grade here")
    gives = [one for one in at.button if one.key.startswith("give-")]
    assert len(gives) == 3 and not any(one.disabled for one in gives)
    assert "Enter your name to grade." in shown(at)
    assert "the grade is kept as not blind" in shown(at)
    named(at, "give-2-").click().run()
    assert alerts(at) == ["Your name is missing. Enter it, then grade."]
    # A name that was just typed comes with the press.
    at.text_input(key="reviewer").set_value("Ana")
    named(at, "give-2-").click().run()
    assert alerts(at) == [] and "Saved: 2 for a1" in shown(at)
    press_button(at, "Grade here")
    press_button(at, "Cancel")
    assert [one for one in at.button if one.key.startswith("give-")] == []
    at = grade(at, 1, 0, None)  # the name is known by now
    found = lines(root / "labels/tiny/judgments/ana.jsonl")
    assert [(one["chunk"][0], one["grade"]) for one in found] == [("a1", 2), ("a2", 1)]


def test_who_may_not_grade_and_what_needs_evidence_are_told(apples, open_in):
    root = apples(("a0", 2))
    (root / "data/desk.toml").write_text('format = 1\n[roles]\nreviewers = ["ben"]\n')
    at = press_button(open_in(root), "Grade here")
    at.text_input(key="reviewer").set_value("Ana").run()
    gives = [one for one in at.button if one.key.startswith("give-")]
    assert all(one.disabled for one in gives) and "You may read but not grade" in shown(at)
    at.text_input(key="reviewer").set_value("Ben").run()
    assert not any(one.disabled for one in at.button if one.key.startswith("give-"))
    path = root / "data/tiny/collection.toml"
    path.write_text(path.read_text().replace(SPARSE, '[labels]\nevidence = "required"\n' + SPARSE))
    at = press_button(open_in(root), "Grade here")
    assert "This collection asks for quoted evidence: grade it on page Label." in shown(at)
    assert [one for one in at.button if one.key.startswith("give-")] == [] and alerts(at) == []


def test_the_link_to_label_has_exactly_the_open_hits_within_k(apples, open_in, collection_of):
    fields = [{"id": name, "text": text, "kind": "in"} for name, text in APPLES.items()]
    out = {"id": "out", "text": "apple " * 20, "kind": "out"}
    own = {"texts": [*fields, out], "settings": '[eligible]\nkind = "in"\n'}
    root = apples(("a1", 2), **own)
    at = open_in(root, filter='{"kind":[]}')
    assert "kind out" in evidence(at)[0]  # it cannot be judged under the collection's filter
    (href,) = [html.unescape(one) for one in re.findall(r'href="(/\?[^"]*items=[^"]*)"', shown(at))]
    found = {key: value for key, (value,) in parse_qs(urlsplit(href).query).items()}
    assert [key.chunk for key in items_of(found["items"])] == ["a0"]
    at.selectbox(key="pick-k").select("5").run()
    assert "Judge the 3 open hits blind" in shown(at)
    # The link leads to just those.
    label = open_in(root, "label", reviewer="Ana", **found)
    assert "Item 1 of 1 of the link" in shown(label)
    assert APPLES["a0"].strip() in chunk_on_screen(label)
    press(label, "grade-1")
    assert lines(root / "labels/tiny/judgments/ana.jsonl")[0]["blind"] is True


def test_who_was_shown_a_grade_here_does_not_grade_that_blind(apples, open_in):
    """Grades of hits, and those of relevant chunks that were lost."""
    texts = {**APPLES, "far": "Nothing of the kind."}
    root = apples(("a0", 2), ("far", 2), texts=texts)
    open_in(root)  # nobody's name is known
    at = open_in(root)
    at.session_state["kept-reviewer"] = "Ana"
    at.run()
    assert "far</a>" in shown(at)
    pairs = {name: ("q1", text_hash(text)) for name, text in texts.items()}
    assert {one for one, pair in pairs.items() if seen.has("tiny", "ana", pair)} == {"a0", "far"}
    assert not any(seen.has("tiny", "ben", pair) for pair in pairs.values())
    for name, blind in (("far", False), ("a3", True)):
        label = open_in(
            root, "label", reviewer="Ana", question="q1", chunk=f"{name}|as-is-v1|{name}"
        )
        assert texts[name].strip() in chunk_on_screen(label)
        press(label, "grade-1")
        event = lines(root / "labels/tiny/judgments/ana.jsonl")[-1]
        assert (event["chunk"][0], event["blind"]) == (name, blind)


def test_quotes_are_marked_literally_and_only_where_they_stand(apples, open_in):
    said = [
        quoting("odd", 2, 1, "apple costs $x$ and", "$x$ and :red[a lot]", text=ODD),
        judgment("q1", "a0", 2, 2, text_hash=text_hash("An older text."),
                 evidence=[{"quote": "An older text.", "facts": []}]),
    ]  # fmt: skip
    root = apples(texts={**APPLES, "odd": ODD})
    path = root / "labels/tiny/judgments/ann.jsonl"
    path.write_text(lines_of(said))
    at = open_in(root)
    (odd,) = [one for one in evidence(at) if "window.ran" in one]
    assert (
        "&lt;script&gt;window.ran = 1&lt;/script&gt; <mark>apple costs $x$ and :red[a lot]</mark>"
        " &amp; more. Then it ends."
    ) in odd
    assert shown(at).count("<mark>") == 2  # among the hits, and as lost evidence
    assert "<script" not in shown(at)
    for element in (*at.markdown, *at.caption):
        assert "$x$" not in element.value and ":red" not in element.value
    assert "stale: judge again" in evidence(at)[0]


def test_a_long_text_is_folded_and_says_when_a_quote_is_inside(apples, open_in):
    text = "apple " * 150 + "The answer stands here."
    root = apples(
        texts={"a": text}, questions=WORDS,
    )  # fmt: skip
    path = root / "labels/tiny/judgments/ann.jsonl"
    path.write_text(lines_of([quoting("a", 2, 1, "The answer stands here.", text=text)]))
    (one,) = evidence(open_in(root))
    assert "characters with a quote</summary>" in one
    assert "<mark>The answer stands here.</mark></details>" in one
    assert re.sub("<summary>.*?</summary>|<[^>]+>", "", one).endswith(text)


def test_fact_recall_counts_what_relevant_hits_support(apples, open_in):
    root = apples(questions=asked_with_facts("f1", "f2"))
    said = [
        quoting("a0", 2, 1, "apple apple", facts=["f1"], text=APPLES["a0"]),
        quoting("a5", 2, 2, "apple pear", facts=["f2"], text=APPLES["a5"]),
        judgment("q1", "a1", 0, 3), judgment("q1", "a2", 0, 4),
    ]  # fmt: skip
    path = root / "labels/tiny/judgments/ann.jsonl"
    path.write_text(lines_of(said))
    at = open_in(root)
    assert table(at)["Fact recall@3"] == [
        "0.500", "1 of 2 facts supported in the first 3; missing: f2",
    ]  # fmt: skip
    assert "supports f1" in evidence(at)[0]


def test_a_relevant_chunk_that_is_gone_is_still_told(apples, open_in):
    gone = judgment("q1", "gone", 2, 9, text_hash=text_hash("Once here."))
    root = apples(("a0", 2))
    with (root / "labels/tiny/judgments/ann.jsonl").open("a", encoding="utf-8") as file:
        file.write(lines_of([gone]))
    at = open_in(root)
    assert "gone</a>" in shown(at) and "no longer in the corpus" in shown(at)
    assert table(at)["Recall@3"][1].startswith("1 of 2 relevant")


def test_an_embedder_that_is_missing_is_one_sentence_and_the_other_side_stays(
    apples, open_in, ollama_server
):
    gemma = '[configurations.gemma]\nembedder = "ollama:embeddinggemma"\n'
    root = apples(("a0", 2), configurations=gemma + SPARSE)
    ollama_server.fail = lambda path, body: (
        httpx.Response(200, json={"models": []}) if "tags" in path else None
    )
    at = open_in(root, configuration="gemma", beside="sparse")
    (told,) = alerts(at)
    assert told.startswith("gemma: Ollama at ") and "has no model embeddinggemma" in told
    assert "There is nothing to show: see above." in shown(at)
    assert len(evidence(at)) == 7 and table(at)["nDCG@3"]
    ollama_server.fail = None
    at = press_button(at, "Try again")
    assert alerts(at) == [] and len(evidence(at)) > 7 and "sparse - gemma" in shown(at)


def test_an_engine_that_cannot_be_opened_is_asked_again_only_when_one_says_so(
    apples, open_in, monkeypatch
):
    asked, real = [], Kept.engine

    def down(kept, identity, make):
        asked.append(identity)
        raise EngineError("Qdrant is down", remedy="Start it")

    root = apples(("a0", 2), configurations=SPARSE + SPARSE.replace("sparse]", "other]"))
    monkeypatch.setattr(Kept, "engine", down)
    at = open_in(root, configuration="sparse", beside="other")
    assert alerts(at) == [f"{name}: Qdrant is down. Start it." for name in ("sparse", "other")]
    many = len(asked)
    at.run()
    assert len(asked) == many and len(alerts(at)) == 2
    monkeypatch.setattr(Kept, "engine", real)
    assert len([one for one in at.button if one.label == "Try again"]) == 2
    assert alerts(press_button(at, "Try again")) == [] and len(evidence(at)) == 14


def test_two_long_names_that_fail_alike_are_both_told(apples, open_in, monkeypatch):
    names = ["a" * 50 + end for end in "12"]
    root = apples(configurations="".join(SPARSE.replace("sparse]", f"{n}]") for n in names))
    (root / "data/tiny/corpus.jsonl").open("a").write('{"id":"new","text":"new"}\n')
    at = open_in(root, configuration=names[0], beside=names[1])
    assert [told.split(":")[0] for told in alerts(at)] == names
