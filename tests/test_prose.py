"""A team's own Markdown on the page: what it says, and nothing it could do."""

import pytest

from app.ui.prose import prose

TABLE = """| grade | means |
|---|---|
| 2 | the *whole* answer |
"""


def test_headings_lists_emphasis_and_tables():
    made = prose(f"# Rules\n\nRead it\ntwice.\n\n- **2**, answers\n- `0`, not\n\n{TABLE}")
    assert "<p><strong>Rules</strong></p>" in made and "<h1" not in made
    assert "<li><strong>2</strong>, answers</li>" in made and "<code>0</code>" in made
    assert "<th>grade</th>" in made and "<td>the <em>whole</em> answer</td>" in made


def test_a_picture_is_its_own_words_and_a_link_opens_beside_the_page():
    made = prose('![a "b"](http://203.0.113.9/x.png) and [wiki](https://wiki.example.org/a?b&c)')
    assert made.startswith("<p>![a &quot;b&quot;](http://203.0.113.9/x.png) and <a ")
    assert 'href="https://wiki.example.org/a?b&amp;c" target="_blank" rel="noopener' in made


@pytest.mark.parametrize(
    "words",
    [
        "<script>alert(1)</script>",
        'A <img src="http://203.0.113.9/x.png" onerror="alert(1)"> in a line',
        "![picture](http://203.0.113.9/x.png)",
        "[click](javascript:alert(1))",
        "[click](data:text/html,<script>)",
    ],
)
def test_what_would_run_or_be_fetched_is_text(words):
    made = prose(words)
    assert "<script" not in made and "<img" not in made
    assert 'href="javascript' not in made and 'href="data' not in made
    assert "onerror=" not in made or "&lt;img" in made
