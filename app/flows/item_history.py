"""What was said of one question and text, event by event, as far as a viewer may see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from app.core.carrying import Quoted
from app.core.errors import DeskError
from app.core.events import Example, Restoration, readable
from app.core.grades import is_fresh, last_words, subject_of, text_judged
from app.core.judgments import Judgment, Retirement, file_name
from app.core.ledger import EventT, Ledger, Placed
from app.core.model import Chunk, ChunkKey
from app.core.questions import Question
from app.flows.labeling import words_of
from app.flows.loading import Loaded
from app.flows.question_list import Entry, history
from app.flows.roles import sees_unjudged
from app.flows.stale import outlook_of

State = Literal["in force", "replaced", "taken back", "stale"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How a judgment stands now; `why` says what became of it, blank where nothing did."""

    state: State
    why: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One event of an item. `standing` is None where the event is no judgment, or a withdrawal."""

    time: str
    author: str
    what: Judgment | Retirement | Restoration | Example | Entry
    standing: Standing | None = None


@dataclass(frozen=True)
class ItemHistory:
    """A question and a chunk, and the events that concern them, first to last.

    `question` and `chunk` are None where they are no longer here; a question that was retired is
    kept. `judgeable`: the item can be judged now. `judged`: the viewer has a judgment in force on
    it, and so sees what others said. `elsewhere`: others' judgments of a text that stands elsewhere
    now are left out, for the viewer has not judged that one.
    """

    question: Question | None
    key: ChunkKey
    chunk: Chunk | None
    steps: tuple[Step, ...]
    judgeable: bool
    judged: bool
    elsewhere: bool


def moment(time: str) -> datetime | None:
    """The time of an event; None where a line written by hand has words there."""
    try:
        found = datetime.fromisoformat(time)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def own_judgments(
    loaded: Loaded, reviewer: str, question: str = "", words: str = ""
) -> list[Judgment]:
    """What a reviewer has said, the last first; withdrawals are told by what they took back.

    Only the reviewer's own file is read. `question` and `words` narrow, blank for anything: words
    must all stand in the question, its id, the chunk's id or the note. The order is the ledger's.
    """
    wanted = words.casefold().split()
    known: dict[str, str] = {}

    def searched(event: Judgment) -> str:
        asked = loaded.questions.get(event.question)
        name = event.question
        if name not in known:
            known[name] = f"{name}\n{asked.text if asked else ''}".casefold()
        return f"{known[name]}\n{event.key.short()}\n{event.note or ''}".casefold()

    found = [
        event
        for event in _events(loaded.collection.ledger, file_name(reviewer))
        if event.author == reviewer
        and event.kind != "withdraw"
        and question in ("", event.question)
        and (not wanted or all(word in searched(event) for word in wanted))
    ]
    return list(reversed({event.event: event for event in found}.values()))


def own_standings(loaded: Loaded, reviewer: str, shown: Sequence[Judgment]) -> dict[str, Standing]:
    """How some of a reviewer's own judgments stand, by event."""
    asked = {event.question for event in shown}
    mine = _events(loaded.collection.ledger, file_name(reviewer))
    return standings(
        loaded, [one for one in mine if one.author == reviewer and one.question in asked]
    )


def standings(loaded: Loaded, events: Sequence[Judgment]) -> dict[str, Standing]:
    """How judgments stand, by event; withdrawals have no standing.

    `events` are all events of their authors on their questions, in the ledger's order. What counts
    is `grades.last_words`.
    """
    corpus, outlook, quoted = loaded.corpus, outlook_of(loaded), Quoted(loaded.corpus)
    events = list({event.event: event for event in events}.values())
    heads = last_words([Placed(event, "") for event in events], corpus).values()
    standing = {placed.event.event for placed in heads}
    retired = loaded.collection.asked().retired
    after = _followers(loaded, events)
    found: dict[str, Standing] = {}
    for event in events:
        if event.kind == "withdraw":
            continue
        if event.event not in standing:
            follower = after.get(event.event)
            back = follower is None or follower.kind == "withdraw"
            by = "" if follower is None or back else f"by {words_of(follower)}"
            found[event.event] = Standing("taken back" if back else "replaced", by)
        elif event.question not in loaded.questions:
            why = "is retired" if event.question in retired else "is no longer here"
            found[event.event] = Standing("in force", f"its question {why}")
        elif outlook.retired.covers(event, corpus):
            found[event.event] = Standing("in force", "the pair is retired")
        else:
            question = loaded.questions[event.question]
            found[event.event] = _today(loaded, event, question, outlook.guidelines, quoted)
    return found


def _followers(loaded: Loaded, events: Sequence[Judgment]) -> dict[str, Judgment]:
    """What came in the place of a judgment: what names it, else what was said of the same next."""
    after: dict[str, Judgment] = {}
    last: dict[object, Judgment] = {}
    authors = {event.event: event.author for event in events}
    for event in events:
        subject = subject_of(event, text_judged(event, loaded.corpus))
        if (before := last.get(subject)) is not None:
            after.setdefault(before.event, event)
        last[subject] = event
    for event in events:
        if event.replaces and authors.get(event.replaces) == event.author:
            after[event.replaces] = event
    return after


def _today(
    loaded: Loaded, event: Judgment, question: Question, pin: str | None, quoted: Quoted
) -> Standing:
    """Whether the last word of a reviewer still counts as given."""
    corpus = loaded.corpus
    if event.question_hash not in (None, question.hash):
        return Standing("stale", "the question has changed since")
    if not is_fresh(event, question, pin):
        return Standing("stale", "the guidelines have changed since")
    if text_judged(event, corpus) in corpus.by_hash:
        return Standing("in force")
    if quoted.landing(event) is not None:
        return Standing("in force", "the text has changed, its evidence has not")
    if event.key in corpus.eligible:
        return Standing("stale", "the text has changed since")
    return Standing("in force", "its chunk has no text here now")


def item_history(loaded: Loaded, viewer: str, question: str, key: ChunkKey) -> ItemHistory:
    """Every event of an item that a viewer may see, whoever it is by, in the order of time.

    What others said of a text is left out while the viewer has no judgment of their own in force on
    it, so that theirs is given blind; who is named as adjudicator sees all. What was done to the
    question is in it. Raises InvalidInput where `data/desk.toml` is refused.
    """
    corpus, collection = loaded.corpus, loaded.collection
    asked = loaded.questions.get(question) or collection.asked().retired.get(question)
    chunk = corpus.chunks.get(key)
    events = [one for one in _events(collection.ledger) if one.question == question]
    about = {event.event: text_judged(event, corpus) for event in events}
    texts: set[object] = (
        {chunk.text_hash} if chunk else {about[e.event] for e in events if e.key == key}
    )
    concern = [e for e in events if e.key == key or about[e.event] in texts]
    others = [
        placed.event
        for placed in readable(collection.events)
        if isinstance(placed.event, Retirement | Restoration | Example)
        and placed.event.question == question
    ]
    seen = _Sight(loaded, viewer, asked, events, texts)
    standing = standings(loaded, events)
    known = {event.event: event for event in concern if seen.shows(event)}
    steps = [
        *(Step(e.time, e.author, e, standing.get(e.event)) for e in known.values()),
        *(
            Step(e.time, e.author, e)
            for e in _about(others, key, texts)
            if seen.item or e.author == viewer
        ),
    ]
    with suppress(DeskError):  # a refused line of the events: page Questions tells it
        steps += [Step(e.time, e.author, e) for e in reversed(history(collection, question))]
    return ItemHistory(
        asked, key, chunk, tuple(_by_time(steps)),
        judgeable=key in corpus.eligible and question in loaded.questions,
        judged=seen.item,
        elsewhere=seen.item and any(not seen.shows(event) for event in concern),
    )  # fmt: skip


def _about(
    events: Sequence[Retirement | Restoration | Example], key: ChunkKey, texts: set[object]
) -> Iterator[Retirement | Restoration | Example]:
    """Those about a chunk or its texts; what brings back is about what it brings back."""
    retired = {
        event.event
        for event in events
        if isinstance(event, Retirement) and (event.key == key or event.text_hash in texts)
    }
    for event in events:
        brings = isinstance(event, Restoration) and not retired.isdisjoint(event.restores)
        if event.key == key or event.event in retired or brings:
            yield event


class _Sight:
    """What a viewer may see of others' judgments of one question.

    `item`: whether that of the item, which is a matter of `texts`.
    """

    def __init__(
        self,
        loaded: Loaded,
        viewer: str,
        question: Question | None,
        events: Sequence[Judgment],
        texts: set[object],
    ) -> None:
        self._loaded, self._viewer = loaded, viewer
        self._quoted = Quoted(loaded.corpus)
        self._all = sees_unjudged(loaded.collection.workspace, viewer) is True
        mine = [Placed(event, "") for event in events if event.author == viewer]
        pin = loaded.collection.guidelines_pin()
        self._judged: set[object] = set()
        for placed in last_words(mine, loaded.corpus).values():
            event = placed.event
            fresh = question is None or is_fresh(event, question, pin)
            if fresh and event.kind in ("grade", "cannot-judge"):
                self._judged |= self._texts(event)
        self.item = self._all or (bool(texts) and texts <= self._judged)

    def _texts(self, event: Judgment) -> set[object]:
        """The texts a judgment speaks of now, or the one it was given for where none is left."""
        about = text_judged(event, self._loaded.corpus)
        landing = None if about in self._loaded.corpus.by_hash else self._quoted.landing(event)
        return {*landing.texts} if landing else {about}

    def shows(self, event: Judgment) -> bool:
        """Whether the viewer may see a judgment of the item, or of what stood in its place."""
        if self._all or event.author == self._viewer:
            return True
        open_now = self._texts(event) & self._loaded.corpus.by_hash.keys()
        return self.item and open_now <= self._judged


def _by_time(steps: Sequence[Step]) -> list[Step]:
    """The steps in the order of time, those of one author as the ledger has them."""
    begin = datetime.min.replace(tzinfo=UTC)
    last: dict[tuple[str, type], datetime] = {}
    placed: list[tuple[datetime, int, Step]] = []
    for number, step in enumerate(steps):
        stream = step.author, type(step.what)
        last[stream] = max(last.get(stream, begin), moment(step.time) or begin)
        placed.append((last[stream], number, step))
    return [step for _, _, step in sorted(placed, key=lambda one: one[:2])]


def _events(ledger: Ledger[EventT], name: str | None = None) -> Iterator[EventT]:
    """The events of a ledger, or of one file of it, that can be read; a line of two may be one."""
    for file in ledger.files(name):
        yield from (placed.event for placed in file.events)
        if file.last is not None:
            yield file.last.event
