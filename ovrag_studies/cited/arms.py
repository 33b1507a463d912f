"""Arms: a model alone, two published baselines, ours, and ours without one of its parts.

`b1` asks a model without any evidence. `b2` gives the extract, or a model's reply, unchecked. `b3` adds the published
gate and checks. `ours` checks every sentence, is silent below a certified threshold, and says which of two conflicting
rules prevails before it is silent. All but `b1` search alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ovrag_core.base import ModelError, ModelSetupError
from ovrag_core.llm import Chat, Message, tally
from ovrag_core.text import one_line
from ovrag_studies.cited.answering import published_pipeline
from ovrag_studies.cited.answering.calibration import Calibration
from ovrag_studies.cited.answering.chat_answers import TEMPERATURE, UNUSABLE
from ovrag_studies.cited.answering.cited_answers import EXTRACTIVE, LONGEST_QUERY, answer
from ovrag_studies.cited.answering.likeness import UNLIKE, load_likeness
from ovrag_studies.cited.answering.quotations import (
    CitedAnswer,
    CitedSentence,
    cite,
    find_instructions,
    silent_answer,
)
from ovrag_studies.cited.answering.replies import HeardChat, KeptReply
from ovrag_studies.cited.answering.silence import TraitReader
from ovrag_studies.cited.answering.verification import JudgingVerifier, SentenceVerifier, Support
from ovrag_studies.cited.conflicts.contested import REPORTED, Pairs, contested_pairs
from ovrag_studies.cited.conflicts.learned_precedence import LearnedPrecedence
from ovrag_studies.cited.conflicts.precedence import Precedence, find_precedence
from ovrag_studies.cited.conflicts.rule_conflicts import (
    Conflict,
    ConflictSettings,
    RuleComparison,
    find_corpus_conflicts,
    settle,
)
from ovrag_studies.cited.conflicts.rules import Rule, RuleSource, read_rules
from ovrag_studies.cited.corpus.policies import Paragraph, corpus_digest
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, RetrievedParagraphs, retrieve
from ovrag_studies.cited.settings import Arm, Policy

ALONE = """You answer questions of employees about the policies of their company, in a few plain sentences. If you
do not know, reply with INSUFFICIENT_EVIDENCE and nothing else."""
SILENT = "INSUFFICIENT_EVIDENCE"
PURPOSE = "policy answer alone"


@dataclass(frozen=True, slots=True)
class Components:
    """Request and outcome for each part: what it was asked to be, and what it was."""

    requested: Mapping[str, str] = field(default_factory=dict)
    ran: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """Outcome of an arm for a query. `confidence` decides on silence; `threshold` is None where nothing does.

    `replies` are what a chat model said on the way, `written` its tokens, those of unusable replies among them.
    """

    arm: Arm
    answer: CitedAnswer
    found: RetrievedParagraphs
    confidence: float
    threshold: float | None = None
    conflicts: tuple[Conflict, ...] = ()
    components: Components = Components()
    replies: tuple[KeptReply, ...] = ()
    written: int = 0


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
        return self._remembering(SentenceVerifier(self.index.embedder))

    @cached_property
    def judging(self) -> SentenceVerifier:
        """Verifier of a chat model's sentences: the rules, and a model after them where the settings say so."""
        if self.options.verification.by == "rules" or self.heard is None:
            return self.verifier
        return self._remembering(JudgingVerifier(self.heard, self.seed, self.index.embedder))

    @cached_property
    def heard(self) -> HeardChat | None:
        """The chat model, whose replies are remembered."""
        return HeardChat(self.chat) if self.chat else None

    @cached_property
    def unchecked(self) -> SentenceVerifier:
        """Verifier that lets every sentence pass that cites something."""
        return self._remembering(_Unchecked(self.index.embedder))

    def _remembering(self, verifier: SentenceVerifier) -> SentenceVerifier:
        verifier.remember(*self.index.vectors())
        return verifier

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        """All conflicts of the corpus."""
        return find_corpus_conflicts(self.index.corpus, self.conflict_settings, self.index.embedder)

    @cached_property
    def conflict_settings(self) -> ConflictSettings:
        """Settings for when two rules conflict."""
        return ConflictSettings(later_prevails=self.options.conflicts.later_prevails)

    @cached_property
    def rules(self) -> dict[str, list[Rule]]:
        """The rules of each paragraph, by its id."""
        ids = {name: paragraph.id for name, paragraph in self.paragraphs.items()}
        by_paragraph: dict[str, list[Rule]] = {}
        for rule in read_rules(self.index.corpus):
            by_paragraph.setdefault(ids[rule.source.paragraph_id], []).append(rule)
        return by_paragraph

    @cached_property
    def comparison(self) -> RuleComparison:
        """Comparison of the rules of the corpus."""
        return RuleComparison(read_rules(self.index.corpus), self.index.embedder)

    @cached_property
    def clauses(self) -> tuple[Precedence, ...]:
        """The clauses of the corpus that say which rules prevail."""
        return find_precedence(self.index.corpus)

    @cached_property
    def learned_precedence(self) -> LearnedPrecedence:
        """Model of which rules prevail, for where none of the clauses is read by its form."""
        return LearnedPrecedence(self.index.corpus, self.index.embedder)

    @cached_property
    def unlike(self) -> dict[str, float]:
        """The documents that are unlike those of the calibration, with their p-values; none by a corpus's own."""
        if self.calibration is None or self.calibration.documents == 1:
            return {}
        texts: dict[str, dict[int, str]] = {}
        for paragraph in self.index.corpus.paragraphs:
            for place in paragraph.places:
                texts.setdefault(place.doc_id, {})[place.start] = paragraph.text
        likeness, embed = load_likeness(), self.index.embedder.embed
        p_values = {
            name: likeness.p_value(embed([text for _, text in sorted(by_start.items())]))
            for name, by_start in texts.items()
        }
        return {name: p for name, p in p_values.items() if p <= UNLIKE}

    @cached_property
    def digest(self) -> str:
        """Digest that stands for the corpus."""
        return corpus_digest(self.index.corpus)

    @cached_property
    def reader(self) -> TraitReader:
        """Reader of the traits of answers."""
        return TraitReader(self.index.embedder)

    @cached_property
    def paragraphs(self) -> dict[str, Paragraph]:
        """Paragraphs by every name."""
        return self.index.corpus.by_id()


class _Unchecked(SentenceVerifier):
    def supports(self, sentence: str, evidence: Sequence[str]) -> Support:
        """Support by whatever is cited."""
        del sentence
        cited = any(text.strip() for text in evidence)
        return Support(0.0, cited, cited, cited, "" if cited else "it cites nothing that there is")


def runnable(arms: Sequence[Arm], parts: ArmParts) -> list[Arm]:
    """Return the arms that can run: `b1` needs a chat model."""
    return [arm for arm in arms if arm != "b1" or parts.chat is not None]


def ask(parts: ArmParts, arm: Arm, query: str) -> Result:
    """Return an arm's answer to a query. Raises ModelSetupError for `b1` without a model."""
    before = len(parts.heard.kept) if parts.heard else 0
    with tally() as used:
        if arm == "b1":
            result = _alone(parts, query)
        elif arm in ("b2", "b3"):
            result = _published(parts, arm, query, search(parts, query))
        else:
            result = _ours(parts, arm, query, search(parts, query))
    if parts.heard is None:
        return result
    return replace(result, replies=tuple(parts.heard.kept[before:]), written=used.usage.completion_tokens)


def search(parts: ArmParts, query: str) -> RetrievedParagraphs:
    """Return the evidence; a query that is refused for its length is not searched for."""
    return retrieve(query if len(query) <= LONGEST_QUERY else "", parts.index)


def _named(parts: ArmParts, found: RetrievedParagraphs, **more: str) -> Components:
    chosen = parts.options.answers.by
    ran = parts.chat.name if chosen == "chat" and parts.chat else chosen
    return Components({**found.components, "answers": chosen, **more}, {**found.components, "answers": ran, **more})


def _alone(parts: ArmParts, query: str) -> Result:
    chat = parts.heard
    if chat is None:
        raise ModelSetupError("b1 asks a chat model; set llm.provider to openai or replay")
    messages = [Message("system", ALONE), Message("user", one_line(query, LONGEST_QUERY))]
    try:
        reply = chat.complete(messages, temperature=TEMPERATURE, seed=parts.seed, purpose=PURPOSE).text
    except ModelError as error:
        cited_answer = silent_answer(query, f"{chat.name} {UNUSABLE}: {one_line(str(error), 200)}", chat.name)
    else:
        cited_answer = silent_answer(query, "the model says so", chat.name)
        if SILENT not in reply and reply.strip():
            cited_answer = CitedAnswer(
                query, (CitedSentence(" ".join(reply.split()), ()),), (), False, "", 0.0, chat.name
            )
    named = Components({"answers": "chat"}, {"answers": chat.name})
    return Result("b1", cited_answer, RetrievedParagraphs(), 0.0, components=named)


def _published(parts: ArmParts, arm: Arm, query: str, found: RetrievedParagraphs) -> Result:
    evidence = [ranked.paragraph for ranked in found.evidence]
    best = max(parts.verifier.likeness(query, [paragraph.text for paragraph in evidence]), default=0.0)
    if parts.options.answers.by == "chat":
        cited_answer = answer(query, found.evidence, parts.unchecked, parts.heard, parts.seed)
    else:
        cited_answer = published_pipeline.extract_top(query, evidence, best)
    cited_answer = replace(cited_answer, confidence=best)
    named = _named(parts, found, verification="none", silence="none")
    if arm == "b3":
        cited_answer = published_pipeline.checked(published_pipeline.gated(cited_answer), evidence)
        named = _named(parts, found, verification="published", silence="published")
        if not cited_answer.silent and published_pipeline.opposed_pairs(evidence):
            note = "some of the evidence may conflict on this"
            cited_answer = replace(cited_answer, notices=(*cited_answer.notices, note))
    return Result(arm, cited_answer, found, best, components=named)


def _ours(parts: ArmParts, arm: Arm, query: str, found: RetrievedParagraphs) -> Result:
    by_chat = parts.options.answers.by == "chat"
    calibration = None if arm == "no_silence" else parts.calibration
    named = _named(
        parts,
        found,
        verification="none" if arm == "no_verification" else _checks(parts),
        silence="learn-then-test" if calibration else "none",
        conflicts="none" if arm == "no_conflicts" else "rules",
    )
    cited_answer = copied = copy(parts, query, found)
    confidence, threshold = copied.confidence, None
    unsure = ""
    if calibration and not copied.silent:
        confidence, threshold = parts.reader.score(copied, found.evidence), calibration.threshold
        if confidence < threshold:
            unsure = f"score {confidence:.3f} is below the certified threshold {threshold:.3f}"
            if not calibration.certificate.certified:
                unsure = "no threshold is certified"
        elif parts.options.silence.unlike == "silent" and (notes := unlike_notes(parts, copied.sentences)):
            unsure = notes[0]
    if arm != "no_conflicts" and (pairs := contested(parts, query, found)):
        cited_answer, conflict = conflict_answer(parts, query, pairs, () if unsure else copied.sentences)
        return Result(arm, _noted(parts, cited_answer), found, confidence, threshold, (conflict,), named)
    if unsure:
        silent = replace(copied, sentences=(), silent=True, reason=unsure, by=named.ran["answers"])
        return Result(arm, silent, found, confidence, threshold, components=named)
    if by_chat and not copied.silent:
        verifier = parts.unchecked if arm == "no_verification" else parts.judging
        cited_answer = answer(query, found.evidence, verifier, parts.heard, parts.seed)
    return Result(arm, _noted(parts, cited_answer), found, confidence, threshold, components=named)


def _noted(parts: ArmParts, made: CitedAnswer) -> CitedAnswer:
    """Return the answer with a notice for each document that it quotes and that no certificate is for."""
    return replace(made, notices=(*made.notices, *unlike_notes(parts, made.sentences)))


def unlike_notes(parts: ArmParts, sentences: Iterable[CitedSentence]) -> tuple[str, ...]:
    """Return a sentence for each document that is quoted and is unlike those of the calibration."""
    quoted = dict.fromkeys(citation.doc_id for sentence in sentences for citation in sentence.citations)
    return tuple(
        f"{name} is unlike the documents that silence was calibrated on (p = {parts.unlike[name]:.3f}); "
        "no certificate is for answers from it"
        for name in quoted
        if name in parts.unlike
    )


def _checks(parts: ArmParts) -> str:
    """Return the name of what checks the sentences of an answer."""
    judged = parts.options.answers.by == parts.options.verification.by == "chat" and parts.heard
    return f"three rules and {judged.name}" if judged else "three rules"


def copy(parts: ArmParts, query: str, found: RetrievedParagraphs) -> CitedAnswer:
    """Return the answer of copied sentences, before silence and conflicts."""
    return answer(query, found.evidence, parts.verifier)


def contested(parts: ArmParts, query: str, found: RetrievedParagraphs) -> Pairs:
    """Return the pairs of rules in the evidence that both answer and contradict each other, likeliest first."""
    if not query.strip() or len(query) > LONGEST_QUERY:
        return []
    pairs = contested_pairs(query, found.evidence, parts.rules, parts.comparison, parts.index.embedder)
    return [pair for pair in pairs if pair[2].score() >= REPORTED]


def conflict_answer(
    parts: ArmParts, query: str, pairs: Pairs, others: Sequence[CitedSentence] = ()
) -> tuple[CitedAnswer, Conflict]:
    """Return the answer that quotes both sides of the likeliest conflict, the one that prevails first, then others."""
    first_rule, second_rule, traits = pairs[0]
    conflict = settle(
        (first_rule, second_rule), traits.score(), parts.clauses, parts.learned_precedence, parts.conflict_settings
    )
    sides = [first_rule, second_rule] if conflict.prevails != "second" else [second_rule, first_rule]
    sentences = [_sentence(parts, side.source) for side in sides]
    sentences += [sentence for sentence in others if not any(_says(sentence, side.source) for side in sides)]
    quoted = dict.fromkeys(side.source.paragraph_id for side in sides)
    notices = tuple(notice for name in quoted for notice in find_instructions(parts.paragraphs[name]))
    return CitedAnswer(query, tuple(sentences), (), False, "", traits.score(), EXTRACTIVE, notices=notices), conflict


def _says(said: CitedSentence, source: RuleSource) -> bool:
    """Return True where a sentence quotes some of a rule."""
    return any(
        citation.doc_id == source.doc_id and citation.start < source.end and source.start < citation.end
        for citation in said.citations
    )


def _sentence(parts: ArmParts, source: RuleSource) -> CitedSentence:
    paragraph = parts.paragraphs[source.paragraph_id]
    # A paragraph is cited by its first place, which need not be the one of the norm.
    begin = next(
        (
            source.start - place.start
            for place in paragraph.places
            if place.start <= source.start < place.end and place.doc_id == source.doc_id
        ),
        0,
    )
    length = source.end - source.start
    return CitedSentence(" ".join(source.text.split()), (cite(paragraph, begin, begin + length),))
