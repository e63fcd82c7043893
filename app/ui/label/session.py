"""Where one reviewer is in one browser session: what is on screen, and how they came there."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from app.core.coverage import Pair
from app.core.model import ChunkKey
from app.core.trec import key_of, key_token
from app.flows.bench import Wish
from app.flows.finding import Found
from app.flows.labeling import Item
from app.flows.stale import Stale
from app.flows.turn import Turn
from app.flows.worklist import Listed, Scope
from app.ui.label.drafts import Draft

Mode = Literal["grade", "reason", "note", "evidence", "search"]
Place = tuple[str, ChunkKey]


@dataclass
class Session:
    """The state of the view Grade. `at` is the item on screen, None for whatever is next.

    `items` are those of a link, as long as they alone are shown; `link` is what it said of them.
    """

    at: Place | None = None
    question: str | None = None
    pinned: bool = False
    trail: list[Place] = field(default_factory=list)
    place: int = -1
    passed: set[Pair] = field(default_factory=set)
    compare: str | None = None
    deciding: Mapping[str, frozenset[str]] | None = None
    items: Listed | None = None
    link: str | None = None
    may_grade: bool = True
    searching: bool = False
    focus: bool = False
    why: str | None = None
    drafts: dict[str, Draft] = field(default_factory=dict)
    found: tuple[str, str, Found] | None = None
    scope: Scope = "needed"
    mode: Mode = "grade"
    shown: Item | None = None
    reopened: str | None = None
    words: bool = False
    around: bool = False
    document: bool = False
    renewing: bool = False
    stale: Stale | None = None
    saved: str | None = None
    notice: str | None = None
    refused: str | None = None
    turn: int = 0
    acts: int = 0
    url: tuple[str | None, str | None] = (None, None)

    def wish(self) -> Wish:
        """What the bench is asked for."""
        items = self.items
        question, key = self.at or (items.question if items else self.question, None)
        return Wish(
            question, self.pinned, key, self.scope, frozenset(self.passed), self.deciding,
            self.may_grade, items,
        )  # fmt: skip

    def draft(self, item: Item) -> Draft:
        """What was begun to be said of an item."""
        return self.drafts.setdefault(item.id, Draft())

    def show(self, turn: Turn) -> None:
        """Remember what is on screen: a key press counts for this and nothing else."""
        item = turn.item
        if item is None or self.shown is None or item.id != self.shown.id:
            # What was opened for one item is no help with the next: each is judged on its own.
            if self.mode != "search" or item is None or not self.searching:
                self.mode = "grade"
            self.around = self.document = False
        self.shown, self.reopened = item, turn.own.event if turn.own else None
        self.stale = turn.stale
        self.turn += 1
        if item is None:
            self.at, self.question = None, self.items.question if self.items else self.question
            return
        self.pinned = self.pinned and item.question == self.question
        self.at, self.question = (item.question, item.key), item.question
        if not (0 <= self.place < len(self.trail)) or self.trail[self.place] != self.at:
            if self.at in self.trail and self.place >= len(self.trail):
                self.trail.remove(self.at)  # it comes again, and after all the others
            self.go(self.at)

    def go(self, place: Place) -> None:
        """To an item: to where it stands on the trail, or to the trail's end with it."""
        self.at = place
        if place not in self.trail:
            self.trail.append(place)
        self.place = self.trail.index(place)

    def advance(self, done: Callable[[Place], bool] = lambda _: False) -> None:
        """On along the trail past what is `done`, and at its end to whatever is next."""
        self.place += 1
        while self.place < len(self.trail) and done(self.trail[self.place]):
            self.place += 1
        if self.place < len(self.trail):
            self.at = self.trail[self.place]
        else:
            self.at, self.place = None, len(self.trail)
            self.question = self.items.question if self.items else self.question

    def forget_words(self) -> None:
        """What was saved last is not what is being saved now."""
        self.saved = self.why = self.notice = None

    def back(self) -> None:
        """One item back on the trail."""
        if self.place > 0:
            self.place = min(self.place, len(self.trail)) - 1
            self.at = self.trail[self.place]

    def begin(self, question: str) -> None:
        """To a question's first open item."""
        self.question, self.pinned, self.at, self.place = question, True, None, len(self.trail)

    def show_items(self, items: Listed) -> None:
        """On with the items of a link, and nothing else until they are left; an item on screen
        stays there first.
        """
        self.items, self.searching = items, False
        if self.at is None:
            self.begin(items.question)

    def leave_items(self) -> None:
        """On with what is open, as without the link."""
        if self.items is None:
            return
        self.items = self.at = None
        self.pinned, self.place = False, len(self.trail)
        self.drop_link()

    def drop_link(self) -> None:
        """The address names no items any more."""
        self.link = None
        if "items" in st.query_params:
            del st.query_params["items"]

    def read_url(self, query: Mapping[str, str]) -> tuple[str, str] | None:
        """Take over what a link asks for, where it was not written here.

        Returns the name and value of what cannot be meant, None where all is well.
        """
        asked = (query.get("question"), query.get("chunk"))
        if asked == self.url:
            return None
        self.url = asked
        question, chunk = asked
        if question is None:
            return None
        if chunk is None:
            self.begin(question)
            return None
        key = key_of(chunk)
        if key is None:
            self.begin(question)
            return "chunk", chunk
        self.go((question, key))
        return None

    def drop_unknown(
        self, questions: Container[str], chunks: Container[ChunkKey]
    ) -> tuple[str, str] | None:
        """Leave a question or a chunk that is not there, by a link or any more; returns which."""
        if self.at is not None and self.at[0] in questions and self.at[1] not in chunks:
            question, key = self.at
            self.begin(question)
            return "chunk", key_token(key)
        question_now = self.at[0] if self.at is not None else self.question
        if question_now is not None and question_now not in questions:
            self.at, self.question, self.pinned = None, None, False
            return "question", question_now
        return None

    def write_url(self) -> None:
        """Let the address say what is on screen."""
        item, items = self.shown, self.items
        if items is not None and item is not None and item.question != items.question:
            item = None  # the items in the address are of the question beside them
        otherwise = items.question if items is not None else self.question
        wanted = (item.question, key_token(item.key)) if item is not None else (otherwise, None)
        if wanted == self.url:
            return
        self.url = wanted
        for name, value in zip(("question", "chunk"), wanted, strict=True):
            if value is not None:
                st.query_params[name] = value
            elif name in st.query_params:
                del st.query_params[name]


def asked_before(items: str) -> bool:
    """Whether somebody in this browser session follows a link to these items: it is theirs."""
    kept: dict[tuple[str, str], Session] = st.session_state.get("grading", {})
    return any(one.link == items for one in kept.values())


def session_of(collection: str, reviewer: str) -> Session:
    """The session of a reviewer in a collection."""
    kept: dict[tuple[str, str], Session] = st.session_state.setdefault("grading", {})
    return kept.setdefault((collection, reviewer), Session())
