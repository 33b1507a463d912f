"""What a run is going to call and cost, before it does: a sample of its queries asked with a pretended model.

The prompts are those that the run would send, as they are made by the same code; only replies are guessed at. No key,
no index and no network is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel

from ovrag_core.base import (
    Chunk,
    Document,
    Origin,
    Reading,
    Retrieved,
    Settings,
    Triple,
    Usage,
    Verdict,
    bar,
    project_file,
)
from ovrag_core.documents import split
from ovrag_core.llm import Message, Planned, Reply, estimate, load_prices
from ovrag_core.loans import PURPOSES, ChatExtractor
from ovrag_core.loop import ARMS, Bench, ChatAnswerer, Extractor, ask
from ovrag_core.loop import PURPOSE as ANSWER
from ovrag_core.retrieval import Vectors
from ovrag_core.runs import PlannedQuery

SAMPLE = 20  # contracts
ANSWER_WORDS = "The document says so in these words, and names the parties, the amount and the date. " * 5
REPLY_TOKENS = {ANSWER: 120, PURPOSES["answer"]: 400, PURPOSES["context"]: 1_500}  # of gpt-4o on loan contracts


@dataclass(frozen=True, slots=True)
class Forecast:
    """Queries of a run, and its calls: when every first answer is accepted, and when none is."""

    queries: int
    sampled: int
    least: tuple[Planned, ...]
    most: tuple[Planned, ...]


class Pretended:
    """A chat model that sends nothing: it keeps the lengths of what it is asked, and answers everybody something else.

    The same request is kept once, as it would be sent once, but for different values of `apart`.
    """

    name = "pretended"

    def __init__(self) -> None:
        self.asked: dict[str, dict[tuple[object, ...], int]] = {}
        self.apart: object = None

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: type[BaseModel] | None = None,
        temperature: float,
        seed: int | None,
        purpose: str,
    ) -> Reply:
        """A text that no other request gets, or an object without entries."""
        requests = self.asked.setdefault(purpose, {})
        requests[self.apart, *messages] = sum(len(message.content) for message in messages)
        text = f"{ANSWER_WORDS}{list(requests).index((self.apart, *messages))}"
        parsed = None if schema is None else schema.model_validate({field: [] for field in schema.model_fields})
        return Reply(text, parsed, Usage(), None, 0.0, self.name, cached=True)


class FirstChunks:
    """In place of an index: the first chunks of the first documents asked for, of the size that the best would have."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = {chunk.id: chunk for chunk in chunks}

    def search(self, vector: np.ndarray, top_k: int, documents: Collection[str] | None = None) -> list[Retrieved]:
        """Chunks of the last of the documents, which in a pool that grows is the asked one."""
        last = max(documents) if documents else max(chunk.document_id for chunk in self._chunks.values())
        found = [chunk for chunk in self._chunks.values() if chunk.document_id == last]
        return [Retrieved(chunk_id=c.id, document_id=c.document_id, start=c.start, end=c.end, score=0) for c in found][
            :top_k
        ]

    def chunk(self, chunk_id: str) -> Chunk:
        """The chunk of that id."""
        return self._chunks[chunk_id]


class Unread:
    """In place of an extractor without a model, which sends no prompt: nothing is read."""

    def read(self, document: Document) -> Reading:
        """A reading without facts."""
        return Reading(document_id=document.id)

    def read_passage(
        self, text: str, *, document_id: str, start: int = 0, origin: Origin = "context"
    ) -> tuple[Triple, ...]:
        """No triples."""
        return ()

    def read_chunks(self, chunks: Sequence[Chunk]) -> tuple[Triple, ...]:
        """No triples."""
        return ()


class Agreeing:
    """In place of a validator: nothing contradicts anything."""

    def check(self, triples: Sequence[Triple], *, closed_world: bool = True, document: str | None = None) -> Verdict:
        """Consistent."""
        return Verdict(status="consistent")


class Nowhere:
    """In place of an embedder: every text is at the same point."""

    name = "nowhere"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Zeros, one row a text."""
        return np.zeros((len(texts), 1), dtype=np.float32)


def forecast(settings: Settings, queries: Sequence[PlannedQuery], documents: Mapping[str, Document]) -> Forecast:
    """The calls of a run, from a sample of its contracts. `documents` are those of its corpus, read when asked for."""
    contracts = list(dict.fromkeys(query.document_id for query in queries))
    sample = set(contracts[:: max(1, len(contracts) // SAMPLE)][:SAMPLE])
    if settings.llm.provider == "offline" or not queries:
        return Forecast(len(queries), 0, (), ())
    chat = Pretended()
    sampled = [query for query in queries if query.document_id in sample]
    with bar(len(sampled), "estimating", "query") as progress:
        bench = _bench(settings, [documents[name] for name in sorted(sample)], chat)
        for query in sampled:
            # What a search of all documents finds is not known, so its prompts are taken to be all different.
            chat.apart = None if ARMS[query.arm].scoped else query
            ask(query.question, query.document_id, ARMS[query.arm], bench)
            progress.update()
    scale = len(contracts) / len(sample)
    least = [
        Planned(purpose, round(len(asked) * scale), _mean(asked.values()), REPLY_TOKENS.get(purpose, 200))
        for purpose, asked in chat.asked.items()
    ]
    validating = sum(ARMS[query.arm].validates for query in queries)
    again = settings.experiment.corrections * validating
    # Every correction asks for an answer and its triples anew, on top of the conversation so far.
    more = [replace(each, calls=again) for each in least if each.purpose != PURPOSES["context"]]
    return Forecast(len(queries), len(sample), tuple(least), (*least, *more) if again else tuple(least))


def forecast_text(settings: Settings, found: Forecast) -> list[str]:
    """A forecast for people."""
    if not found.least:
        return [f"{found.queries:,} queries, no model call: the provider is offline"]
    prices = load_prices(project_file(settings.llm.prices))
    least, most = (estimate(planned, settings.llm.model, prices) for planned in (found.least, found.most))
    lines = [f"{found.queries:,} queries with {settings.llm.model}, estimated from {found.sampled} contracts:"]
    for name, each in (("where every first answer stands", least), ("where none does", most)):
        cost = each.reason if each.cost_usd is None else f"{each.cost_usd:.2f} USD by the prices of {prices.as_of}"
        tokens = f"{each.usage.prompt_tokens:,} tokens in prompts, {each.usage.completion_tokens:,} in replies"
        lines.append(f"{name}: {each.usage.calls:,} calls, {tokens}, {cost}")
    lines += [f"  {purpose}: {usage.calls:,} calls" for purpose, usage in least.by_purpose.items()]
    if settings.llm.provider == "replay" or settings.llm.store is not None:
        lines.append("what is recorded in the store already costs nothing")
    return lines


def _bench(settings: Settings, documents: Sequence[Document], chat: Pretended) -> Bench:
    from ovrag_core.ontology import open_ontology  # noqa: PLC0415

    extractor: Extractor[Reading] = Unread()
    if settings.extractor != "reader":  # a hybrid sends what the model alone is sent
        extractor = ChatExtractor(
            chat, open_ontology(settings), seed=settings.llm.seed, window=settings.extraction.window
        )
    size, overlap = settings.chunking.size, settings.chunking.overlap
    chunks = [chunk for document in documents for chunk in split(document, settings.chunking.method, size, overlap)]
    return Bench(
        index=FirstChunks(chunks),
        embedder=Nowhere(),
        answerer=ChatAnswerer(chat, temperature=settings.llm.temperature, seed=settings.llm.seed),
        extractor=extractor,
        validator=Agreeing(),
        documents={document.id: document for document in documents},
        top_k=settings.retrieval.top_k,
        corrections=settings.experiment.corrections,
        pool=settings.retrieval.pool,
    )


def _mean(values: Collection[int]) -> int:
    return round(sum(values) / len(values))
