"""Arms: a model alone, two published baselines, ours, and ours without one of its parts.

`b1` asks a model without any evidence. `b2` gives the extract, or a model's reply, unchecked. `b3` adds the published
gate and checks. `ours` checks every sentence, is silent below a certified threshold, and says which of two conflicting
rules prevails before it is silent. All but `b1` search alike.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from time import perf_counter
from typing import Any

from ovrag_core.base import ModelError, ModelSetupError, bar
from ovrag_core.llm import Chat, Message, tally
from ovrag_core.text import one_line
from ovrag_studies.cited.answering import published_pipeline
from ovrag_studies.cited.answering.cited_answers import LONGEST_QUERY, UNUSABLE, answer
from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence, cite, find_instructions, silent_answer
from ovrag_studies.cited.answering.silence import Calibration, learn_then_test, score_answer
from ovrag_studies.cited.answering.verification import TEMPERATURE, SentenceVerifier
from ovrag_studies.cited.conflicts.learned_precedence import CorpusPrecedence
from ovrag_studies.cited.conflicts.rule_conflicts import (
    REPORTED,
    Conflict,
    Pairs,
    RuleComparison,
    contested_pairs,
    settle,
)
from ovrag_studies.cited.conflicts.rules import RuleSource, read_rules
from ovrag_studies.cited.corpus.golden import GoldenQuery
from ovrag_studies.cited.corpus.policies import Paragraph
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, RankedParagraph, retrieve
from ovrag_studies.cited.records import HeardChat, PolicyRecord, record_of
from ovrag_studies.cited.settings import Arm, Policy

ALONE = """You answer questions of employees about the policies of their company, in a few plain sentences. If you
do not know, reply with INSUFFICIENT_EVIDENCE and nothing else."""
SILENT = "INSUFFICIENT_EVIDENCE"
PURPOSE = "policy answer alone"


@dataclass(frozen=True)
class ArmParts:
    """Parts that arms are made of. Without a calibration nothing is silent for want of confidence."""

    options: Policy
    index: CorpusIndex
    calibration: Calibration | None = None
    chat: Chat | None = None
    seed: int | None = 42

    def __post_init__(self) -> None:
        """Raise ModelSetupError where answers are asked of a chat model and there is none."""
        if self.options.answers.by == "chat" and self.chat is None:
            raise ModelSetupError("answering by chat asks a chat model; set llm.provider to openai or replay")

    @cached_property
    def verifier(self) -> SentenceVerifier:
        """Verifier of sentences."""
        return SentenceVerifier(self.index.embedder, self.index.vectors)

    @cached_property
    def judging(self) -> SentenceVerifier:
        """Verifier of a chat model's sentences: the rules, and a model after them where the settings say so."""
        chat = self.heard if self.options.answers.by == self.options.verification.by == "chat" else None
        return SentenceVerifier(self.index.embedder, self.index.vectors, chat, self.seed)

    @cached_property
    def unchecked(self) -> SentenceVerifier:
        """Verifier that lets every sentence pass that cites something."""
        return _Unchecked(self.index.embedder, self.index.vectors)

    @cached_property
    def heard(self) -> HeardChat | None:
        """The chat model, whose replies are remembered."""
        return HeardChat(self.chat) if self.chat else None

    @cached_property
    def comparison(self) -> RuleComparison:
        """Comparison of the rules of the corpus."""
        return RuleComparison(read_rules(self.index.corpus), self.index.embedder)

    @cached_property
    def precedence(self) -> CorpusPrecedence:
        """Clauses and model of which rules of the corpus prevail."""
        return CorpusPrecedence(self.index.corpus, self.index.embedder)


class _Unchecked(SentenceVerifier):
    name = "none"

    def objection(self, sentence: str, evidence: Sequence[str]) -> str:
        """Object to a sentence that cites nothing."""
        return "" if any(text.strip() for text in evidence) else "it cites nothing that there is"


def runnable(arms: Sequence[Arm], parts: ArmParts) -> list[Arm]:
    """Return the arms that can run: `b1` needs a chat model."""
    return [arm for arm in arms if arm != "b1" or parts.chat is not None]


def run_arms(
    parts: ArmParts, queries: Sequence[GoldenQuery], arms: Sequence[Arm]
) -> Iterator[tuple[PolicyRecord, float]]:
    """Each query through each arm that can run, with the seconds it took; golden labels are not looked at."""
    chosen = runnable(arms, parts)
    with bar(len(chosen) * len(queries), "asking", "query") as progress:
        for arm in chosen:
            for query in queries:
                begun = perf_counter()
                yield ask(parts, arm, query.question, query.query_id), perf_counter() - begun
                progress.update()


def calibrate_on(parts: ArmParts, queries: Sequence[GoldenQuery], golden: str) -> Calibration:
    """Learn where silence begins by these queries, whose labels `golden` names.

    The score of a query is that of the copied answer to it, whoever answers in the end. An answer is wrong as scores
    count it, conflicts being reported. Conflicts below the threshold, which are reported all the same, are not covered.
    """
    corpus = parts.index.corpus
    scores, wrong = [], []
    with bar(len(queries), "calibrating silence", "query") as progress:
        for query in queries:
            retrieved = search(parts, query.question)
            pairs = contested(parts, query.question, retrieved)
            copied = answer(query.question, retrieved, parts.verifier)
            scores.append(score_answer(copied, retrieved, parts.verifier))
            cited_answer = conflict_answer(parts, query.question, pairs, copied.sentences)[0] if pairs else copied
            cited = {citation.paragraph_id for sentence in cited_answer.sentences for citation in sentence.citations}
            gold = {corpus.by_id[name].id for name in query.gold}
            wrong.append(not cited_answer.silent and not (query.answerable and cited & gold))
            progress.update()
    levels = parts.options.silence
    certificate = learn_then_test(scores, wrong, levels.alpha, levels.delta)
    return Calibration(corpus=corpus.digest, golden=golden, certificate=certificate)


def ask(parts: ArmParts, arm: Arm, query: str, query_id: str = "asked") -> PolicyRecord:
    """Return an arm's answer to a query. Raises ModelSetupError for `b1` without a model."""
    before = len(parts.heard.kept) if parts.heard else 0
    with tally() as used:
        if arm == "b1":
            record = _alone(parts, query)
        elif arm in ("b2", "b3"):
            record = _published(parts, arm, query, search(parts, query))
        else:
            record = _ours(parts, arm, query, search(parts, query))
    update: dict[str, object] = {"query_id": query_id, "corpus": parts.index.corpus.digest}
    if parts.heard:
        keys = dict.fromkeys(reply.key for reply in parts.heard.kept[before:])
        update |= {"replies": tuple(keys), "written": used.usage.completion_tokens}
    return record.model_copy(update=update)


def search(parts: ArmParts, query: str) -> list[RankedParagraph]:
    """Return the evidence; a query that is refused for its length is not searched for."""
    return retrieve(query if len(query) <= LONGEST_QUERY else "", parts.index)


def _components(parts: ArmParts, **more: str) -> dict[str, Any]:
    """Return for each part what it was asked to be, and what it was."""
    chosen = parts.options.answers.by
    ran = parts.chat.name if chosen == "chat" and parts.chat else chosen
    finding = {"retrieval": "fused", "embedder": parts.index.embedder.name, "rerank": "reader"}
    requested = {**finding, "answers": chosen, **more}
    return {"requested": requested, "ran": requested | {"answers": ran}}


def _alone(parts: ArmParts, query: str) -> PolicyRecord:
    chat = parts.heard
    if chat is None:
        raise ModelSetupError("b1 asks a chat model; set llm.provider to openai or replay")
    messages = [Message("system", ALONE), Message("user", one_line(query, LONGEST_QUERY))]
    try:
        reply = chat.complete(messages, temperature=TEMPERATURE, seed=parts.seed, purpose=PURPOSE).text
    except ModelError as error:
        cited_answer = silent_answer(query, f"{chat.name} {UNUSABLE}: {one_line(str(error), 200)}")
    else:
        cited_answer = silent_answer(query, "the model says so")
        if SILENT not in reply and reply.strip():
            cited_answer = CitedAnswer(query, (CitedSentence(" ".join(reply.split()), ()),))
    return record_of("b1", cited_answer, (), 0.0, requested={"answers": "chat"}, ran={"answers": chat.name})


def _published(parts: ArmParts, arm: Arm, query: str, found: Sequence[RankedParagraph]) -> PolicyRecord:
    evidence = [ranked.paragraph for ranked in found]
    best = max(parts.verifier.likeness(query, [paragraph.text for paragraph in evidence]), default=0.0)
    if parts.options.answers.by == "chat":
        cited_answer = answer(query, found, parts.unchecked, parts.heard, parts.seed)
    else:
        cited_answer = published_pipeline.extract_top(query, evidence)
    cited_answer = replace(cited_answer, confidence=best)
    checks = "published" if arm == "b3" else "none"
    if arm == "b3":
        cited_answer = published_pipeline.checked(cited_answer, evidence)
        if not cited_answer.silent and published_pipeline.opposed_pairs(evidence):
            note = "some of the evidence may conflict on this"
            cited_answer = replace(cited_answer, notices=(*cited_answer.notices, note))
    return record_of(arm, cited_answer, found, best, **_components(parts, verification=checks, silence=checks))


def _ours(parts: ArmParts, arm: Arm, query: str, found: Sequence[RankedParagraph]) -> PolicyRecord:
    calibration = None if arm == "no_silence" else parts.calibration
    verifier = parts.unchecked if arm == "no_verification" else parts.judging
    cited_answer = copied = answer(query, found, parts.verifier)
    confidence, threshold, unsure = copied.confidence, None, ""
    if calibration and not copied.silent:
        confidence, threshold = score_answer(copied, found, parts.verifier), calibration.threshold
        unsure = calibration.doubt(confidence)
    conflicts: tuple[Conflict, ...] = ()
    if arm != "no_conflicts" and (pairs := contested(parts, query, found)):
        cited_answer, conflict = conflict_answer(parts, query, pairs, () if unsure else copied.sentences)
        conflicts = (conflict,)
    elif unsure:
        cited_answer = replace(copied, sentences=(), silent=True, reason=unsure)
    elif parts.options.answers.by == "chat" and not copied.silent:
        cited_answer = answer(query, found, verifier, parts.heard, parts.seed)
    components = _components(
        parts,
        verification=verifier.name,
        silence="learn-then-test" if calibration else "none",
        conflicts="none" if arm == "no_conflicts" else "rules",
    )
    return record_of(arm, cited_answer, found, confidence, threshold=threshold, conflicts=conflicts, **components)


def contested(parts: ArmParts, query: str, found: Sequence[RankedParagraph]) -> Pairs:
    """Return the pairs of rules in the evidence that both answer and contradict each other, likeliest first."""
    pairs = contested_pairs(query, found, parts.comparison) if found else []
    return [pair for pair in pairs if pair[2].score() >= REPORTED]


def conflict_answer(
    parts: ArmParts, query: str, pairs: Pairs, others: Sequence[CitedSentence] = ()
) -> tuple[CitedAnswer, Conflict]:
    """Return the answer that quotes both sides of the likeliest conflict, the one that prevails first, then others."""
    first, second, traits = pairs[0]
    conflict = settle((first, second), parts.precedence)
    sources = [second.source, first.source] if conflict.prevails == "second" else [first.source, second.source]
    paragraphs = [parts.index.corpus.by_id[source.paragraph_id] for source in sources]
    sentences = [_sentence(paragraph, source) for paragraph, source in zip(paragraphs, sources, strict=True)]
    sentences += [
        sentence
        for sentence in others
        if not any(
            source.doc_id == cited.doc_id and source.start < cited.end and cited.start < source.end
            for source, cited in product(sources, sentence.citations)
        )
    ]
    notices = tuple(notice for paragraph in paragraphs for notice in find_instructions(paragraph))
    return CitedAnswer(query, tuple(sentences), confidence=traits.score(), notices=notices), conflict


def _sentence(paragraph: Paragraph, source: RuleSource) -> CitedSentence:
    # A paragraph is cited by its first place, which need not be the one of the norm.
    begin = source.start - next(place.start for place in paragraph.places if place.id == source.paragraph_id)
    citation = cite(paragraph, begin, begin + source.end - source.start)
    return CitedSentence(" ".join(source.text.split()), (citation,))
