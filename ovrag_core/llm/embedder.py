"""Embeddings by a model behind a backend, in batches: an `Embedder` like the bundled one."""

import asyncio
from collections.abc import Sequence

import numpy

from ovrag_core.base import MalformedReplyError, Usage
from ovrag_core.llm.background import run
from ovrag_core.llm.chat import Backend, Vectors
from ovrag_core.llm.meter import Tally, current_tally

PURPOSE = "embedding"
BATCH = 64


class RemoteEmbedder:
    """Turns texts into vectors of unit length by the embedding model `name`. The same text is sent once in a call."""

    def __init__(self, backend: Backend, name: str, *, batch: int = BATCH) -> None:
        self._backend = backend
        self._batch = batch
        self.name = name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text (n × d, float32, unit length). Raises a ModelError where the model gives none."""
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return numpy.zeros((0, 0), dtype=numpy.float32)
        vectors = run(self._embed(distinct, current_tally()))
        rows = {text: row for row, text in enumerate(distinct)}
        lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
        unit = (vectors / numpy.where(lengths == 0, 1, lengths)).astype(numpy.float32)
        return unit[[rows[text] for text in texts]]

    async def _embed(self, texts: Sequence[str], tally: Tally | None) -> Vectors:
        async def embed_batch(batch: Sequence[str]) -> Vectors:
            embedded = await self._backend.embed(self.name, batch)
            if tally is not None:
                tally.add(PURPOSE, Usage(calls=1, prompt_tokens=sum(embedded.tokens)), embedded.seconds)
            return embedded.vectors

        batches = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        done = await asyncio.gather(*map(embed_batch, batches))
        if len({vectors.shape[1] for vectors in done}) > 1:
            raise MalformedReplyError(f"{self.name} gave vectors of different lengths; record them anew")
        return numpy.vstack(done)
