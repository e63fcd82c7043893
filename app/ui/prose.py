"""A team's own Markdown as HTML: its guidelines."""

from __future__ import annotations

import html
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token


def _picture(_: Any, tokens: Sequence[Token], number: int, *__: Any) -> str:
    """As it is written: nothing is fetched."""
    token = tokens[number]
    return html.escape(f"![{token.content}]({token.attrGet('src')})")


def _link(_: Any, tokens: Sequence[Token], number: int, *__: Any) -> str:
    """Beside the page, which holds what is being typed."""
    where = html.escape(str(tokens[number].attrGet("href")))
    return f'<a href="{where}" target="_blank" rel="noopener noreferrer">'


# Tags are shown as text, and schemes that run code are no links.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_MARKDOWN.add_render_rule("image", _picture)
_MARKDOWN.add_render_rule("link_open", _link)
# A heading inside a folded panel is none of the page's.
_MARKDOWN.add_render_rule("heading_open", lambda *_: "<p><strong>")
_MARKDOWN.add_render_rule("heading_close", lambda *_: "</strong></p>\n")


@lru_cache(maxsize=32)
def prose(words: str) -> str:
    """CommonMark with tables, as HTML; the same words are asked for with every judgment."""
    return str(_MARKDOWN.render(words))
