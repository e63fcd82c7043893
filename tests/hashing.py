"""An embedder without weights."""

import hashlib

import numpy as np

from app.engines.embedding import Embedded

SIZE = 8


class Hashing:
    """A model without weights: any change of the words it reads gives quite another vector."""

    name, digest, dimension = "bundled", "hashing", SIZE

    def __init__(self, limit=1000, salt=""):
        self.limit, self.salt, self.embedded = limit, salt, 0

    def vector(self, text):
        read = " ".join(text.split()[: self.limit]) + self.salt
        seed = int.from_bytes(hashlib.sha256(read.encode()).digest()[:8])
        made = np.random.default_rng(seed).normal(size=SIZE)
        return made / np.linalg.norm(made)

    def batches(self, texts):
        self.embedded += len(texts)
        rows = np.stack([self.vector(text) for text in texts]).astype(np.float32)
        yield list(range(len(texts))), Embedded(rows, (False,) * len(texts))
