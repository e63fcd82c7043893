"""`collection.toml`: what may stand there, and the sentence for what may not."""

import pytest

from app.core.errors import InvalidInput
from app.workspace import read_settings

PLACE = "data/x/collection.toml"
GOOD = """format = 1
[source]
kind = "markdown"
[chunking]
rule = "section-paragraphs-80w-overlap1-v1"
[labels]
threshold = 1
[scoring]
cutoffs = [1, 3, 5]
[configurations.one]
mode = "dense"
"""


@pytest.fixture
def settings(tmp_path):
    def read(text):
        path = tmp_path / "collection.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_settings(path, PLACE)

    return read


@pytest.fixture
def refused(settings):
    """The sentences for settings that are refused, without their place."""

    def read(text):
        with pytest.raises(InvalidInput) as caught:
            settings(text)
        found = [str(problem) for problem in caught.value.problems]
        assert all(one.startswith(f"{PLACE}: ") for one in found)
        return [one.removeprefix(f"{PLACE}: ") for one in found]

    return read


def test_what_is_not_set_has_the_documented_value(settings):
    found = settings(GOOD)
    one = found.configurations["one"]
    assert (one.embedder_name, one.templates, one.depth) == (
        "bundled",
        ("{question}", "{text}"),
        20,
    )
    assert (one.timeout, one.deadline, one.threshold) == (60, 1800, None)
    assert (found.retain_text, found.source.path, found.filters) == (True, "corpus", {})
    assert (found.labels.completeness, found.scoring.primary) == ("pooled", "ndcg@3")


def test_a_byte_order_mark_is_no_problem(settings):
    assert settings(b"\xef\xbb\xbf" + GOOD.encode()).format == 1


def test_cutoffs_are_sorted_and_single(settings):
    assert settings(GOOD.replace("[1, 3, 5]", "[5, 1, 3, 1]")).scoring.cutoffs == [1, 3, 5]


def test_one_allowed_value_or_several(settings):
    found = settings(GOOD + '[eligible]\nstatus = "published"\nyear = [2025, 2026]\nok = true\n')
    assert found.filters == {"status": ["published"], "year": [2025, 2026], "ok": [True]}


def test_embeddinggemma_is_asked_as_its_makers_say(settings):
    found = settings(GOOD + 'embedder = "ollama:embeddinggemma:300m"\n').configurations["one"]
    question = "task: search result | query: {question}"
    assert found.templates == (question, "title: {title_or_none} | text: {text}")
    own = settings(
        GOOD + 'embedder = "ollama:embeddinggemma"\nquestion_template = "q: {question}"\n'
    )
    assert own.configurations["one"].templates[0] == "q: {question}"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[labels]", "[labels]\nthreshhold = 2",
         'unknown key "labels.threshhold". Did you mean threshold?'),
        ('mode = "dense"', 'mode = "dense"\nembeder = "bundled"',
         'unknown key "configurations.one.embeder". Did you mean embedder?'),
        ("[labels]", "[wxyz]\na = 1\n[labels]", 'unknown key "wxyz". Remove it.'),
        ("format = 1", "format = 2", 'format is "2", not 1. Correct it.'),
        ("format = 1\n", "", "the key format is missing. Add format."),
        ('[source]\nkind = "markdown"\n', "", "the key source is missing. Add source."),
        ("threshold = 1", "threshold = 3",
         'labels.threshold is "3", not less than or equal to 2. Correct it.'),
        ("threshold = 1", "threshold = 1.5",
         'labels.threshold is "1.5", not integer. Correct it.'),
        ("threshold = 1", "threshold = true",
         'labels.threshold is "True", not integer. Correct it.'),
        ("[1, 3, 5]", "[0, 3]", "scoring.cutoffs needs whole numbers from 1 to 10000. Correct it."),
        ("[1, 3, 5]", "[3, 10001]",
         "scoring.cutoffs needs whole numbers from 1 to 10000. Correct it."),
        ("[1, 3, 5]", "[]", "scoring.cutoffs needs whole numbers from 1 to 10000. Correct it."),
        ("[1, 3, 5]", "[1, 5]",
         "scoring primary 'ndcg@3' has a K that is not among the cutoffs. Correct it."),
        ("[scoring]", '[scoring]\nprimary = "map@3"',
         "scoring.primary 'map@3' is not one of precision, recall, mrr, ndcg, hit with its K: "
         "ndcg@3. Correct it."),
        ("[scoring]", '[scoring]\nprimary = "ndcg"',
         "scoring.primary 'ndcg' is not one of precision, recall, mrr, ndcg, hit with its K: "
         "ndcg@3. Correct it."),
        ("80w-overlap1-v1", "90w-v1",
         "chunking.rule 'section-paragraphs-90w-v1' is not a known rule; known: "
         "section-paragraphs-80w-overlap1-v1, as-is-v1. Correct it."),
        ('"markdown"', '"jsonl"',
         "source kind 'jsonl' needs fields.chunk and fields.text. Correct it."),
        ('"markdown"', '"html"',
         "source.kind is \"html\", not 'markdown', 'jsonl' or 'qdrant'. Correct it."),
        ('"markdown"', '"markdown"\nfields = { text = "t" }',
         "source fields and version are not for kind 'markdown', which has headings, front matter "
         "and a chunking rule. Correct it."),
        ('"markdown"', '"jsonl"\nfields = { chunk = "id", text = "t" }',
         "source.kind 'jsonl' needs 'as-is-v1', not 'section-paragraphs-80w-overlap1-v1'. "
         "Correct it."),
        ("section-paragraphs-80w-overlap1-v1", "as-is-v1",
         "source.kind 'markdown' needs a rule for Markdown, not 'as-is-v1'. Correct it."),
        ("[labels]", '[labels]\ncompleteness = "complete"',
         "labels completeness 'complete' needs complete_as_of, the corpus revision the labels are "
         "complete for; set 'pooled', run desk check, and copy the revision it prints. "
         "Correct it."),
        ("[labels]", '[labels]\ncomplete_as_of = "ab"',
         "labels complete_as_of contradicts completeness 'pooled'; remove one. Correct it."),
        ("[labels]", '[labels]\nscale = { "0" = "no", "1" = "yes" }',
         "labels scale needs the grades 0, 1 and 2, each with its meaning. Correct it."),
        ('[configurations.one]\nmode = "dense"\n', "",
         "the key configurations is missing. Add configurations."),
        ("configurations.one", 'configurations."One two"',
         "the configuration name 'One two' may have a-z, 0-9, '.', '_' and '-' only. Correct it."),
    ],
)  # fmt: skip
def test_refused_settings(refused, old, new, sentence):
    assert old in GOOD
    assert refused(GOOD.replace(old, new)) == [sentence]


ONE = "configurations.one "


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ('mode = "bm25"',
         "configurations.one.mode is \"bm25\", not 'dense', 'sparse', 'hybrid' or 'external'. "
         "Correct it."),
        ('mode = "sparse"\nembedder = "bundled"',
         ONE + "mode 'sparse' uses no embedder; remove embedder. Correct it."),
        ('mode = "sparse"\ndocument_template = "{text}"',
         ONE + "mode 'sparse' uses no embedder; remove document_template. Correct it."),
        ('mode = "hybrid"', ONE + "mode 'hybrid' needs rrf_k (60 is usual). Correct it."),
        ("rrf_k = 60", ONE + "mode 'dense' has no use for rrf_k. Correct it."),
        ('mode = "hybrid"\nrrf_k = 60\nthreshold = 0.1',
         ONE + "a threshold on RRF scores means nothing: they are functions of rank; remove it. "
         "Correct it."),
        ('mode = "hybrid"\nrrf_k = 0',
         'configurations.one.rrf_k is "0", not greater than or equal to 1. Correct it.'),
        ('mode = "hybrid"\nrrf_k = 1000001',
         'configurations.one.rrf_k is "1000001", not less than or equal to 1000000. Correct it.'),
        ('mode = "hybrid"\nrrf_k = 60\ndepth = 101',
         ONE + "candidates 100 must be at least depth 101. Correct it."),
        ('mode = "hybrid"\nrrf_k = 60\ncandidates = 19',
         ONE + "candidates 19 must be at least depth 20. Correct it."),
        ("candidates = 20001",
         'configurations.one.candidates is "20001", not less than or equal to 20000. Correct it.'),
        ('embedder = "openai"',
         "configurations.one.embedder 'openai' is neither 'bundled' nor 'ollama:<model>'. "
         "Correct it."),
        ('question_template = "ask"',
         ONE + "question_template does not hold {question}. Correct it."),
        ('document_template = "{text} {tittle}"',
         ONE + "document_template holds {tittle}; known: {text}, {title}, {section}, "
         "{title_or_none}. Correct it."),
        ("depth = 5",
         "configurations.one.depth 5 must be beyond the largest cut-off, 5. Correct it."),
        ("depth = 20001",
         'configurations.one.depth is "20001", not less than or equal to 20000. Correct it.'),
        ("timeout = 0", 'configurations.one.timeout is "0", not greater than 0. Correct it.'),
        ('threshold = "0.4"', "configurations.one.threshold is \"'0.4'\", not number. Correct it."),
    ],
)  # fmt: skip
def test_refused_configurations(refused, lines, sentence):
    head = GOOD.replace('mode = "dense"\n', "") if "mode" in lines else GOOD
    assert refused(f"{head}{lines}\n") == [sentence]


@pytest.mark.parametrize("name", ["threshold", "timeout", "deadline"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_numbers_are_finite(refused, name, value):
    (sentence,) = refused(GOOD + f"{name} = {value}\n")
    assert sentence.startswith(f'configurations.one.{name} is "{value}", not ')


def test_candidates_bind_the_depth_of_hybrid_search_only(settings):
    assert settings(GOOD + "depth = 200\n").configurations["one"].depth == 200
    text = GOOD.replace('"dense"', '"hybrid"\nrrf_k = 60\ndepth = 200\ncandidates = 200')
    assert settings(text).configurations["one"].candidates == 200


def test_the_meaning_of_the_grades(settings):
    scale = 'scale = { "2" = "all", "0" = "none", "1" = "some" }'
    found = settings(GOOD.replace("[labels]", f"[labels]\n{scale}"))
    assert list(found.grade_words.items()) == [(0, "none"), (1, "some"), (2, "all")]


def test_every_problem_is_told_at_once(refused):
    found = refused(GOOD.replace("threshold = 1", "threshold = 9\nfoo = 1"))
    assert len(found) == 2
    assert "labels.threshold" in found[0] and "labels.foo" in found[1]


def test_a_syntax_error_names_its_line(refused):
    (sentence,) = refused(GOOD.replace("threshold = 1", "threshold ="))
    assert sentence == "not TOML: Invalid value (at line 7, column 12). Correct it."


def test_a_key_that_stands_twice(refused):
    (sentence,) = refused(GOOD.replace("threshold = 1", "threshold = 1\nthreshold = 2"))
    assert "not TOML: Cannot overwrite a value (at line 8" in sentence


def test_other_bytes_than_utf8(refused):
    assert refused(GOOD.encode() + b"# \xff\n") == ["the file is not UTF-8. Save it so."]
