"""From the settings to a chat model: server, store, budget and price file put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ovrag_core.base import ModelSetupError, Options, StoreError, project_file
from ovrag_core.llm.background import run
from ovrag_core.llm.chat import Chat, ChatModel
from ovrag_core.llm.keys import key_for
from ovrag_core.llm.meter import Budget, Prices, Tally, load_prices
from ovrag_core.llm.store import RecordedReplies, ReplyStore, warn_on_stderr

if TYPE_CHECKING:
    from ovrag_core.llm.openai import OpenAIBackend

# What a reply depends on. The rest says how it is come by: a replay has the records of the run that was recorded.
SHAPES_REPLIES = frozenset({"model", "max_tokens", "temperature", "seed"})
CONNECTING = {"base_url", "concurrency", "retries", "seconds_per_attempt", "seconds_per_call", "structured"}


@dataclass(frozen=True, slots=True)
class Connection(AbstractContextManager["Connection"]):
    """Everything a run needs of language models. Close it at the end."""

    chat: ChatModel
    prices: Prices
    budget: Budget | None
    store: ReplyStore | None
    server: OpenAIBackend | None

    def close(self) -> None:
        """Close the connections."""
        if self.server is not None:
            run(self.server.close())

    def cost_usd(self, used: Tally) -> float | None:
        """US dollars for what was used, by the price file; None where the model has no price."""
        if not used.by_purpose:
            return 0.0
        price = self.prices.find(self.chat.name)
        return None if price is None else round(price.cost(used.usage), 9)

    def __exit__(self, *exception: object) -> None:
        self.close()


def connect(
    options: Options, *, folder: Path = Path(), spent_usd: float = 0.0, say: Callable[[str], None] = warn_on_stderr
) -> Connection:
    """The models that `options` ask for; paths are relative to `folder`, `spent_usd` is what a resumed run has spent.

    Nothing is sent yet. Raises ModelSetupError for a missing key or a bad address, StoreError for a store that cannot
    be used, PriceError for a budget without prices, ValueError for `offline`.
    """
    if options.provider == "offline":
        raise ValueError("offline work connects to no model")
    prices = load_prices(project_file(folder / options.prices))
    budget, server, store = None, None, None
    if options.provider == "replay":
        if options.store is None:
            raise ModelSetupError("provider replay needs the path of a store of recorded replies in llm.store")
        store = ReplyStore(folder / options.store, warn=say)
        if not len(store):
            raise StoreError(
                f"{store.path} holds no recorded reply; record some with a model first, or name another store"
            )
    else:
        if options.budget_usd is not None:
            prices.of(options.model)
            budget = Budget(options.budget_usd, prices, spent_usd=spent_usd)
        from ovrag_core.llm.openai import OpenAIBackend  # noqa: PLC0415 - takes a second; a replay shall not wait for it

        key = key_for(options.base_url, options.key_variable, folder / ".env")
        how = options.model_dump(include=CONNECTING)
        server = OpenAIBackend(key=key, budget=budget, announce=say, **how)
        store = ReplyStore(folder / options.store, create=True, warn=say) if options.store else None
    backend = server if store is None else RecordedReplies(store, server)
    assert backend is not None
    chat = ChatModel(backend, options.model, max_tokens=options.max_tokens, retry_failures=options.retry_failures)
    return Connection(chat, prices, budget, store, server)


@contextmanager
def open_chat(options: Options) -> Iterator[Chat | None]:
    """The chat model that `options` ask for, None offline; closed at the end, and told how many replies a store lacked.

    Who asks takes a missing reply for one that cannot be used. Raises as `connect`.
    """
    if options.provider == "offline":
        yield None
        return
    with connect(options) as connection:
        yield connection.chat
        if connection.store is not None and (missed := connection.store.missed):
            warn_on_stderr(
                f"{connection.store.path} has no reply to {missed} of the requests, which count as replies that cannot "
                "be used; record them with a model"
            )
