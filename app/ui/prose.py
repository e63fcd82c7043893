"""A team's own Markdown as HTML: its guidelines."""

from __future__ import annotations

from functools import lru_cache

from markdown_it import MarkdownIt

# Tags are shown as text, and nothing is fetched: no images. Schemes that run code are no links.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
# A heading inside a folded panel is none of the page's.
_MARKDOWN.add_render_rule("heading_open", lambda *_: "<p><strong>")
_MARKDOWN.add_render_rule("heading_close", lambda *_: "</strong></p>\n")


@lru_cache(maxsize=32)
def prose(words: str) -> str:
    """CommonMark with tables, as HTML; the same words are asked for with every judgment."""
    return str(_MARKDOWN.render(words))
