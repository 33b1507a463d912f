"""Language models: messages in, text and usage out, recorded once and replayed for ever. Nothing about any task.

`connect` gives a chat model and an embedder as the settings ask, `open_chat` the first alone, None offline; `tally`
counts what a part of the work used.
"""

from ovrag_core.llm.chat import Chat, ChatModel, Message, Reply, fence
from ovrag_core.llm.connect import Connection, connect, open_chat
from ovrag_core.llm.meter import Budget, CostEstimate, Planned, Tally, estimate, tally
from ovrag_core.llm.once import Once
from ovrag_core.llm.prices import Prices, load_prices
from ovrag_core.llm.replay import RecordedReplies
from ovrag_core.llm.store import ReplyStore

__all__ = [
    "Budget",
    "Chat",
    "ChatModel",
    "Connection",
    "CostEstimate",
    "Message",
    "Once",
    "Planned",
    "Prices",
    "RecordedReplies",
    "Reply",
    "ReplyStore",
    "Tally",
    "connect",
    "estimate",
    "fence",
    "load_prices",
    "open_chat",
    "tally",
]
