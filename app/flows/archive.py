"""The texts and questions that labels were given for, kept so that a change can be shown."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from app.core.corpus import Corpus
from app.core.errors import EngineError, StoreError
from app.core.events import QuestionChange, of_kind, readable
from app.core.grades import text_judged
from app.core.model import Chunk
from app.core.questions import Question
from app.engines.store import Store
from app.engines.texts import Texts, texts_of_executions
from app.flows.loading import Loaded
from app.workspace import Collection


def archive_of(collection: Collection) -> Texts:
    """The archive of a collection; it keeps nothing where `retain_text` is false."""
    return Texts.of(collection.vectors, retain=collection.settings.retain_text)


def wording(question: Question) -> str:
    """What a reviewer reads of a question: its text, need and facts, a line each."""
    need = [f"Need: {question.need}"] if question.need else []
    return "\n".join(
        [question.text, *need, *(f"{fact.id}: {fact.text}" for fact in question.facts)]
    )


def keep(loaded: Loaded, chunks: Iterable[Chunk]) -> None:
    """Keep the texts of chunks that were just judged; an archive that fails loses no label."""
    with suppress(EngineError):
        archive_of(loaded.collection).add({chunk.text_hash: chunk.text for chunk in chunks})


#: One at a time, beside the work: a grade waits for the ledger's disk and for no other.
_LATER = ThreadPoolExecutor(max_workers=1, thread_name_prefix="archive")


def keep_soon(loaded: Loaded, chunks: Iterable[Chunk]) -> None:
    """The same, without waiting for it; what nobody expected is told as of any thread."""
    _LATER.submit(keep, loaded, list(chunks)).add_done_callback(_tell)


def _tell(done: Future[None]) -> None:
    """Give an error to the hook for threads: nobody asks for the result, and work goes on."""
    error = done.exception()
    if error is not None:
        told = (type(error), error, error.__traceback__, threading.current_thread())
        threading.excepthook(threading.ExceptHookArgs(told))


def keep_labeled(loaded: Loaded) -> tuple[str, ...]:
    """Keep the texts of all chunks somebody has judged, and the words of the questions they were
    judged for, those that are there now.

    Writes nothing where all are kept. Returns what was noticed: an archive that cannot be used
    keeps nobody from indexing.
    """
    known = {chunk.text_hash: chunk.text for chunk in loaded.corpus.chunks.values()}
    spoken, _ = _spoken_of(loaded.collection, loaded.corpus)
    known |= {question.hash: wording(question) for question in loaded.questions.values()}
    texts = {name: known[name] for name in spoken & known.keys()}
    try:
        archive_of(loaded.collection).add(texts)
    except EngineError as error:
        return (str(error.problems[0]),)
    return ()


def kept_texts(collection: Collection, hashes: Iterable[str]) -> dict[str, str]:
    """What is still known of texts: from the archive, else from the store of executions.

    A text that neither has, or that cannot be read, is left out.
    """
    if not collection.settings.retain_text:
        return {}
    wanted = set(hashes)
    found: dict[str, str] = {}
    with suppress(EngineError):  # `desk doctor` tells; the store may have them
        found = archive_of(collection).get(wanted)
    try:
        missing = wanted - found.keys()
        return found | texts_of_executions(Store.at(collection.workspace.store_path), missing)
    except StoreError:
        return found


def known_questions(collection: Collection, hashes: Iterable[str]) -> dict[str, str]:
    """The words of questions that the file or somebody's change of a question has, by hash."""
    filed = [one.question for one in collection.question_file.read().values()]
    said = of_kind(readable(collection.events), QuestionChange)
    wanted = set(hashes)
    asked = [*filed, *(placed.event.value for placed in said)] if wanted else []
    return {one.hash: wording(one) for one in asked if one.hash in wanted}


def unneeded_texts(collection: Collection, corpus: Corpus) -> frozenset[str]:
    """Hashes of kept texts that no line of the ledger speaks of, or all where none may be kept.

    None of them where a line is refused: what it speaks of is not known. Raises EngineError.
    """
    known = archive_of(collection).known()
    if not known or not collection.settings.retain_text:
        return known
    spoken, refused = _spoken_of(collection, corpus)
    return frozenset() if refused else known - spoken


def _spoken_of(collection: Collection, corpus: Corpus) -> tuple[set[str], int]:
    """Hashes of texts and questions that the ledger speaks of; how many lines are refused."""
    hashes: set[str] = set()
    refused = 0
    for file in collection.ledger.files():
        refused += file.refused
        for placed in [*file.events, *([file.last] if file.last else [])]:
            about = text_judged(placed.event, corpus)
            if isinstance(about, str):
                hashes.add(about)
            if placed.event.question_hash:
                hashes.add(placed.event.question_hash)
    return hashes, refused
