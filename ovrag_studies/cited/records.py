"""Records of a run as JSON Lines: what an arm was asked, found, answered and ran. Labels are not in them.

Seconds are kept apart, in a sidecar, so that a run's own bytes do not depend on the machine; in another stand the
replies of a chat model with what it was asked, so that an audit bundle can file them.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ovrag_core.base import Frozen, RunError, read_records, sidecar, write_records, writing
from ovrag_core.llm import Chat, Message, Reply
from ovrag_core.text import one_line
from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence, Removed
from ovrag_studies.cited.conflicts.rule_conflicts import Conflict
from ovrag_studies.cited.corpus.policies import PolicyCorpus, require_known
from ovrag_studies.cited.corpus.retrieval import RankedParagraph
from ovrag_studies.cited.corpus.sources import text_digest
from ovrag_studies.cited.settings import Arm

DECIMALS = 6
OF_ANSWER = ("sentences", "removed", "silent", "reason", "notices", "repairs", "unknown", "invented")


class EvidenceRecord(Frozen):
    """A paragraph that was found; `by` names what scored it last."""

    paragraph_id: str
    rank: int
    score: float
    by: str


class PolicyRecord(Frozen):
    """A query through an arm. `corpus` stands for all documents as they were, see `PolicyCorpus.digest`.

    `replies` are the keys of what a chat model said on the way, `written` its tokens.
    """

    arm: Arm
    query_id: str
    question: str
    sentences: tuple[CitedSentence, ...]
    removed: tuple[Removed, ...]
    silent: bool
    reason: str
    confidence: float
    threshold: float | None
    evidence: tuple[EvidenceRecord, ...]
    conflicts: tuple[Conflict, ...]
    notices: tuple[str, ...]
    requested: dict[str, str]
    ran: dict[str, str]
    replies: tuple[str, ...] = ()
    written: int = 0
    repairs: int
    unknown: int
    invented: int
    corpus: str

    @property
    def cited(self) -> frozenset[str]:
        """The paragraphs that the answer cites."""
        return frozenset(citation.paragraph_id for sentence in self.sentences for citation in sentence.citations)


def record_of(
    arm: Arm,
    answer: CitedAnswer,
    evidence: Iterable[RankedParagraph],
    confidence: float,
    threshold: float | None = None,
    **more: Any,
) -> PolicyRecord:
    """Return the record of an arm's answer by its evidence, as far as it is known; `more` are other fields of it."""
    fields: dict[str, Any] = {name: getattr(answer, name) for name in OF_ANSWER}
    fields |= {"query_id": "asked", "conflicts": (), "requested": {}, "ran": {}, "corpus": ""} | more
    return PolicyRecord(
        arm=arm,
        question=answer.query,
        confidence=round(confidence, DECIMALS),
        threshold=None if threshold is None else round(threshold, DECIMALS),
        evidence=tuple(
            EvidenceRecord(paragraph_id=ranked.paragraph.id, rank=ranked.rank, score=ranked.score, by=ranked.by)
            for ranked in evidence
        ),
        **fields,
    )


def write_run(path: Path, records: Iterable[tuple[PolicyRecord, float]]) -> int:
    """Write records, and their seconds to `<name>.latency.jsonl`; return their number. Raises RunError."""
    seconds = []
    with writing(path, RunError) as file:
        for record, spent in records:
            file.write(record.model_dump_json() + "\n")
            seconds.append({"arm": record.arm, "query_id": record.query_id, "seconds": round(spent, 4)})
    return write_records(seconds, sidecar(path, "latency"), RunError)


def read_run(path: Path, corpus: PolicyCorpus) -> list[PolicyRecord]:
    """Return the records of a run over a corpus.

    Raises RunError with the line of what is no record, or stands twice, and CorpusError, with the list, where records
    name paragraphs that the corpus lacks.
    """
    records: dict[tuple[str, str], PolicyRecord] = {}
    for _, record in read_records(path, PolicyRecord, RunError, "give what `ovrag policy run` wrote"):
        if records.setdefault((record.arm, record.query_id), record) is not record:
            name = f"{record.arm} {one_line(record.query_id, 80)}"
            raise RunError(f"{path} has {name} more than once; run the queries anew")
    if not records:
        raise RunError(f"{path} holds no record; run the queries anew")
    named = {name for r in records.values() for name in (*r.cited, *(ranked.paragraph_id for ranked in r.evidence))}
    require_known(named, corpus, str(path))
    return list(records.values())


class KeptReply(Frozen):
    """A reply of a model with all that its key is made of: `prompt` is the system's, `text` is what was asked.

    Where there is more than one message after the system's, `text` is JSON, with the roles.
    """

    text: str
    prompt: str
    model: str
    reply: str

    @property
    def key(self) -> str:
        """Hash over text, prompt and model, told apart wherever one ends."""
        return text_digest(json.dumps([self.text, self.prompt, self.model]))


class HeardChat:
    """A chat model that remembers its usable replies, in the order in which they came."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self.name = chat.name
        self.kept: list[KeptReply] = []

    def complete(self, messages: Sequence[Message], **options: Any) -> Reply:
        """See `Chat.complete`."""
        reply = self._chat.complete(messages, **options)
        prompt = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [message for message in messages if message.role != "system"]
        text = turns[0].content if len(turns) == 1 else json.dumps([[turn.role, turn.content] for turn in turns])
        self.kept.append(KeptReply(text=text, prompt=prompt, model=self.name, reply=reply.text))
        return reply


def write_replies(run: Path, kept: Iterable[KeptReply]) -> None:
    """Write a run's replies to `<name>.replies.jsonl`, each once, sorted by key; no file for none. Raises RunError."""
    path = sidecar(run, "replies")
    path.unlink(missing_ok=True)
    if by_key := {reply.key: reply.model_dump() for reply in kept}:
        write_records([by_key[key] for key in sorted(by_key)], path, RunError)


def read_replies(run: Path) -> list[KeptReply]:
    """Return the replies behind a run; none where no model was asked. Raises RunError with the line of a fault."""
    path = sidecar(run, "replies")
    if not path.exists():
        return []
    return [reply for _, reply in read_records(path, KeptReply, RunError, "run the queries anew")]
