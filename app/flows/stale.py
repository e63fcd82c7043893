"""A reviewer's stale judgments, what changed since, and which of them changed alike.

Reads the reviewer's own file alone, and retirements; nobody else's label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from app.core.events import readable, retirements
from app.core.gathering import Retired
from app.core.grades import Subject
from app.core.judgments import Judgment, file_name
from app.core.model import Chunk, ChunkKey
from app.core.questions import Question
from app.core.staleness import Outdated, Outlook, Why, is_settled, outdated, overlapping
from app.core.text import digest
from app.core.worddiff import Part, change_in, word_diff
from app.flows.archive import kept_texts, known_questions, wording
from app.flows.loading import Loaded


@dataclass(frozen=True, slots=True)
class Stale:
    """A judgment that does not count until it is confirmed, and what it would be given for now.

    `chunk`, `question` and `guidelines` are what is there now. `suggestions`: the document was cut
    anew, and these chunks have the largest share (0..1) of the judged words; the first is `chunk`.
    What it was given for is looked for when it is first asked for.
    """

    event: Judgment
    chunk: Chunk
    question: Question
    guidelines: str | None
    why: tuple[Why, ...]
    past: Past = field(repr=False, compare=False)
    suggestions: tuple[tuple[ChunkKey, float], ...] = ()

    @property
    def key(self) -> ChunkKey:
        """The chunk as it is now."""
        return self.chunk.key

    @property
    def old_text(self) -> str | None:
        """The text that was judged; None where it did not change or is not known any more."""
        return self.past.text(self.event.text_hash) if self._other_text else None

    @property
    def old_question(self) -> str | None:
        """The question as it was; None where it did not change or is not known any more."""
        return self.past.text(self.event.question_hash) if "question" in self.why else None

    @property
    def text_parts(self) -> tuple[Part, ...]:
        """The change of the text by words; none where there is none, or it is not known."""
        return self._text_change[0] if self._other_text else ()

    @property
    def question_parts(self) -> tuple[Part, ...]:
        """The same of the question."""
        return self._question_change[0] if "question" in self.why else ()

    @property
    def unknown(self) -> str | None:
        """A sentence on what is not known any more; None where all is."""
        lost = ["the text that was judged"] if self._other_text and self.old_text is None else []
        if "question" in self.why and self.old_question is None:
            lost.append("the question as it was")
        return self.past.words(lost) if lost else None

    @property
    def change(self) -> str:
        """A digest that is equal for judgments which the same change made stale."""
        return self.past.once(self.event.event, self._digest)

    def _digest(self) -> str:
        changes: list[object] = [self.event.event] if self.suggestions else []
        if self._other_text:
            changes.append(["text", self._text_change[1]])
        if "question" in self.why:
            changes.append(["question", self._question_change[1]])
        if "guidelines" in self.why:
            changes.append(["guidelines", self.event.guidelines])
        return digest(changes)

    @property
    def _other_text(self) -> bool:
        return "text" in self.why or bool(self.suggestions)

    @property
    def _text_change(self) -> tuple[tuple[Part, ...], str]:
        return self.past.change(self.event.text_hash, self.chunk.text_hash, self.chunk.text)

    @property
    def _question_change(self) -> tuple[tuple[Part, ...], str]:
        return self.past.change(
            self.event.question_hash, self.question.hash, wording(self.question)
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Judgments that one change made stale, to be confirmed together; `items` has at least one."""

    change: str
    items: tuple[Stale, ...]


def stale_of(loaded: Loaded, reviewer: str) -> list[Stale]:
    """The reviewer's grades and `cannot judge` in force that are stale and can be given again.

    In the order of the ledger. Raises InvalidInput where a line of the reviewer's is refused.
    """
    snapshot = loaded.collection.ledger.read(file_name(reviewer))
    outlook = outlook_of(loaded)
    found, said = outdated(snapshot.events, reviewer, outlook)
    return [*_Showing(loaded, outlook, Past(loaded, found), said).all(found)] if found else []


def groups(stale: Sequence[Stale]) -> list[Group]:
    """The same by what changed, the largest group first, else in the order given."""
    found: dict[str, list[Stale]] = {}
    for one in stale:
        found.setdefault(one.change, []).append(one)
    made = [Group(change, tuple(items)) for change, items in found.items()]
    return sorted(made, key=lambda group: -len(group.items))


def outlook_of(loaded: Loaded) -> Outlook:
    """What the judgments of a collection are held against now."""
    retired = Retired.of(retirements(readable(loaded.collection.events)))
    pin = loaded.collection.guidelines_pin()
    return Outlook(loaded.questions, loaded.corpus, retired, pin)


class Past:
    """What stale judgments were given for, read once and when something is first asked for.

    Each change is compared once. Safe for threads: what two of them work out is the same.
    """

    def __init__(self, loaded: Loaded, found: Sequence[Outdated]) -> None:
        """`found` are the judgments that may be asked about."""
        self._loaded = loaded
        self._found = found
        self._compared: dict[tuple[str, str], tuple[tuple[Part, ...], str]] = {}
        self._once: dict[str, str] = {}

    @cached_property
    def _known(self) -> Mapping[str, str]:
        """Old texts and wordings by hash."""
        collection, found = self._loaded.collection, self._found
        texts = {one.event.text_hash for one in found if {"text", "re-chunked"} & {*one.why}}
        asked = {one.event.question_hash for one in found if "question" in one.why}
        known = kept_texts(collection, filter(None, texts | asked))
        return known | known_questions(collection, filter(None, asked - known.keys()))

    def text(self, name: str | None) -> str | None:
        """An old text or wording by its hash, None where it is not known any more."""
        return self._known.get(name or "")

    def change(self, before: str | None, now: str, text: str) -> tuple[tuple[Part, ...], str]:
        """The parts and the digest of a change, both hashes alone where the old text is lost."""
        name = before or "", now
        found = self._compared.get(name)
        if found is None:
            old = self.text(before)
            parts = () if old is None else tuple(word_diff(old, text))
            change = digest(name) if old is None else change_in(parts)
            found = self._compared[name] = parts, change
        return found

    def once(self, name: str, work: Callable[[], str]) -> str:
        """What `work` gives, worked out the first time."""
        found = self._once.get(name)
        if found is None:
            found = self._once[name] = work()
        return found

    def words(self, lost: Sequence[str]) -> str:
        """A sentence on what is not known, and why."""
        what, collection = " and ".join(lost), self._loaded.collection
        verb = "is" if len(lost) == 1 else "are"
        if collection.settings.retain_text:
            return f"Not known here any more {verb} {what}."
        place = f"data/{collection.name}/collection.toml"
        return f"Not kept {verb} {what}: retain_text is false in {place}."


class _Showing:
    """Makes what is shown of stale judgments."""

    def __init__(
        self, loaded: Loaded, outlook: Outlook, past: Past, said: Mapping[Subject, object]
    ) -> None:
        """`said` are the reviewer's last words."""
        self._loaded = loaded
        self._outlook = outlook
        self._past = past
        self._said = said
        self._guidelines = loaded.collection.guidelines_version()
        self._overlaps: dict[tuple[str, str], list[tuple[ChunkKey, float]]] = {}

    def all(self, found: Sequence[Outdated]) -> Iterator[Stale]:
        """One for each judgment that there is a chunk for."""
        chunks, questions = self._loaded.corpus.chunks, self._loaded.questions
        for one in found:
            event = one.event
            suggestions = () if one.key else self._suggestions(event)
            key = one.key or (suggestions[0][0] if suggestions else None)
            if key is not None:
                yield Stale(
                    event=event,
                    chunk=chunks[key],
                    question=questions[event.question],
                    guidelines=self._guidelines,
                    why=one.why,
                    past=self._past,
                    suggestions=suggestions,
                )

    def _suggestions(self, event: Judgment) -> tuple[tuple[ChunkKey, float], ...]:
        """The chunks of the same document that have most of the judged words."""
        text = self._past.text(event.text_hash)
        if text is None:
            return ()
        name = event.key.document, event.text_hash or ""
        found = self._overlaps.get(name)
        if found is None:
            found = overlapping(text, self._documents.get(name[0], ()))
            self._overlaps[name] = found
        outlook = self._outlook
        return tuple(one for one in found if not is_settled(event, one[0], self._said, outlook))

    @cached_property
    def _documents(self) -> Mapping[str, list[Chunk]]:
        """The eligible chunks by document."""
        found: dict[str, list[Chunk]] = {}
        for key, chunk in self._loaded.corpus.eligible.items():
            found.setdefault(key.document, []).append(chunk)
        return found
