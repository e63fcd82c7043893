"""Embeddings from an Ollama server, by its own client.

`OLLAMA_HOST` says where it is, as for every Ollama program (127.0.0.1:11434 unless set).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

import httpx
import numpy as np
import ollama

from app.core.errors import EmbedderError, EmbedderUnreachable
from app.core.text import shown
from app.engines.embedding import Embedded, embed_all, unit

_BATCH = 32
_DEFAULT_CONTEXT = 2048
_STEPS = (0.75, 0.5, 0.25, 0.1)
#: From so many characters a word on, a text is cut between characters: not all write with blanks.
_LONG_WORD = 40
#: What a gateway says when nobody is behind it, and a server that is too busy.
_NOBODY = frozenset({502, 503, 504})
T = TypeVar("T")


class OllamaEmbedder:
    """An embedding model of an Ollama server.

    `timeout` bounds one request, `deadline` all embedding from the first request on, in seconds:
    make one embedder per job. The
    server is told not to truncate; a text it refuses as too long is cut here, and flagged.
    """

    def __init__(
        self,
        model: str,
        *,
        timeout: float,
        deadline: float,
        dimension: int | None = None,
        digest: str | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """`dimension` and `digest`, where given, are what the model must have."""
        self.name = f"ollama:{model}"
        self._model = model
        self._timeout = timeout
        self._deadline = deadline
        self._wanted_dimension = dimension
        self._wanted_digest = digest
        self._seen_dimension: int | None = None
        self._until: float | None = None
        self._client = self._connection(transport)

    def _connection(self, transport: httpx.BaseTransport | None) -> ollama.Client:
        key = os.environ.get("OLLAMA_API_KEY", "")
        if not (key.isascii() and key.isprintable()):
            # What httpx says of such a header quotes it.
            raise EmbedderError(
                "the key in OLLAMA_API_KEY holds characters that no header can hold",
                remedy="Set OLLAMA_API_KEY to the key alone",
            )
        try:
            return ollama.Client(timeout=self._timeout, transport=transport)
        except (ValueError, httpx.InvalidURL) as error:
            raise EmbedderError(
                f"OLLAMA_HOST is {shown(self._host)}, which is no address of a server",
                remedy="Set it to one such as 127.0.0.1:11434, or unset it",
            ) from error

    @property
    def _host(self) -> str:
        """Where the server is, without a password that may stand there."""
        return (os.environ.get("OLLAMA_HOST") or "127.0.0.1:11434").rpartition("@")[2]

    def _call(self, request: Callable[[], T]) -> T:
        """The answer, with every way the server can fail in our words."""
        try:
            return request()
        except ConnectionError as error:
            raise EmbedderUnreachable(
                f"Ollama does not answer at {self._host}",
                remedy="Start it (ollama serve), set OLLAMA_HOST, or choose the bundled embedder",
            ) from error
        except httpx.TimeoutException as error:
            raise EmbedderUnreachable(
                f"Ollama at {self._host} did not answer within {self._timeout:g} s",
                remedy="Raise timeout in the configuration, or choose a smaller model",
            ) from error
        except ollama.ResponseError as error:
            raise self._refused(error) from error
        except httpx.HTTPError as error:
            raise EmbedderUnreachable(
                f"the connection to Ollama at {self._host} broke off: {error}",
                remedy="See the log of ollama serve, then run the command again",
            ) from error
        # An error that is a list is an AttributeError of the client.
        except (ValueError, TypeError, AttributeError) as error:
            raise EmbedderError(
                f"Ollama at {self._host} sent an answer that cannot be read",
                remedy="Check that it is an Ollama server, and its version",
            ) from error

    def _refused(self, error: ollama.ResponseError) -> EmbedderError:
        """What a status other than 2xx means."""
        status, said = error.status_code, " ".join(str(error.error).split())
        if status == 404 and "model" in said:
            return self._no_model()
        # Another server's page for what it does not know may be long.
        said = said if len(said) <= 160 else f"{said[:159]}…"
        message = f"Ollama at {self._host} refused: {said} (status {status})"
        if status == 404:
            return EmbedderError(message, remedy="Check that OLLAMA_HOST names an Ollama server")
        kind = EmbedderUnreachable if status in _NOBODY else EmbedderError
        return kind(message, remedy="See the log of ollama serve")

    def _no_model(self) -> EmbedderError:
        return EmbedderError(
            f"Ollama at {self._host} has no model {self._model}",
            remedy=f"Fetch it: ollama pull {self._model}",
        )

    @cached_property
    def digest(self) -> str:
        """The model's digest from the server's list; raises EmbedderError where it differs."""
        models = self._call(self._client.list).models
        names = (self._model, f"{self._model}:latest")
        found = next((m.digest for m in models if m.model in names and m.digest), None)
        if found is None:
            raise self._no_model()
        if self._wanted_digest and not found.startswith(self._wanted_digest):
            raise EmbedderError(
                f"{self.name} has digest {found[:12]}, the configuration asks for "
                f"{self._wanted_digest[:12]}",
                remedy="Fetch that version of the model, or correct digest in collection.toml",
            )
        return found

    @cached_property
    def dimension(self) -> int:
        """The length of its vectors, from one short text."""
        return int(embed_all(self, ["dimension"]).vectors.shape[1])

    @cached_property
    def _context(self) -> int:
        info = self._call(lambda: self._client.show(self._model)).modelinfo or {}
        lengths = [v for name, v in info.items() if name.endswith(".context_length")]
        return int(lengths[0]) if lengths else _DEFAULT_CONTEXT

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Embedded]]:
        """Unit vectors in batches of 32, within the deadline."""
        if self._until is None:
            self._until = time.monotonic() + self._deadline
        for start in range(0, len(texts), _BATCH):
            if time.monotonic() > self._until:
                # A question is a text alone; whoever asks all of them should end here.
                at, remedy = "", "Raise deadline, and go on with --resume"
                if len(texts) > 1:
                    at = f" at text {start + 1} of {len(texts)}"
                    remedy = "Run the command again (what is done is kept), or raise deadline"
                raise EmbedderUnreachable(
                    f"{self.name} passed the deadline of {self._deadline:g} s{at}", remedy=remedy
                )
            answers = self._embed_batch(list(texts[start : start + _BATCH]))
            vectors = unit(self._matrix([row for row, _ in answers]), self.name)
            positions = list(range(start, start + len(answers)))
            yield positions, Embedded(vectors, tuple(was_cut for _, was_cut in answers))

    def _embed_batch(self, batch: list[str]) -> list[tuple[Sequence[float], bool]]:
        """Vectors of a batch, one request where no text comes near the model's context."""
        # A token is about four characters; some servers truncate without a word all the same.
        if all(len(text) <= 2 * self._context for text in batch):
            try:
                return [(row, False) for row in self._request(batch)[0]]
            except EmbedderError as error:
                if not _is_too_long(error):
                    raise
        return [self._fitted(text) for text in batch]

    def _request(self, batch: list[str]) -> tuple[list[Sequence[float]], int]:
        answer = self._call(
            lambda: self._client.embed(model=self._model, input=batch, truncate=False)
        )
        if len(answer.embeddings) != len(batch):
            raise EmbedderError(
                f"{self.name} returned {len(answer.embeddings)} vectors for {len(batch)} texts",
                remedy="Update Ollama, or choose another model",
            )
        return list(answer.embeddings), answer.prompt_eval_count or 0

    def _fitted(self, text: str) -> tuple[Sequence[float], bool]:
        """The vector of a text that may be too long, and whether it had to be cut."""
        try:
            rows, tokens = self._request([text])
        except EmbedderError as error:
            if not _is_too_long(error):
                raise
        else:
            return rows[0], tokens >= self._context
        for beginning in self._beginnings(text):
            try:
                return self._request([beginning])[0][0], True
            except EmbedderError as error:
                if not _is_too_long(error):
                    raise
        raise EmbedderError(
            f"a text of {len(text):,} characters is too long for {self.name}, and so is its "
            f"beginning: {shown(text)}",
            remedy="Choose a chunking rule with shorter chunks",
        )

    def _beginnings(self, text: str) -> Iterator[str]:
        """Ever shorter ones; the last has fewer characters than the model reads tokens."""
        words = text.split()
        for share in _STEPS:
            if len(text) < _LONG_WORD * len(words):
                yield " ".join(words[: max(1, int(len(words) * share))])
            else:
                yield text[: max(1, int(len(text) * share))]
        yield text[: max(1, self._context // 2)]

    def _matrix(
        self, rows: list[Sequence[float]]
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        lengths = {len(row) for row in rows}
        wanted = self._wanted_dimension or self._seen_dimension
        if len(lengths) > 1 or (wanted is not None and lengths not in ({wanted}, set())):
            found = ", ".join(str(length) for length in sorted(lengths))
            expected = "they must be equal"
            if wanted is not None:
                asks = "the configuration asks for" if self._wanted_dimension else "others had"
                expected = f"{asks} {wanted}"
            raise EmbedderError(
                f"{self.name} returned vectors of dimension {found}; {expected}",
                remedy="Correct dimension in collection.toml, or choose the right model",
            )
        self._seen_dimension = next(iter(lengths), wanted)
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), -1)


def _is_too_long(error: EmbedderError) -> bool:
    cause = error.__cause__
    return (
        isinstance(cause, ollama.ResponseError)
        and cause.status_code == 400
        and "length" in str(cause.error).lower()
    )
