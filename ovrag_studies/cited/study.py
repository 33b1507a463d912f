"""The whole study by the settings: the corpus read, silence calibrated, every query asked of every arm, once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import pandas

from ovrag_core.base import Settings, project_file
from ovrag_core.evaluation import Estimate, Resampling
from ovrag_core.llm import Chat
from ovrag_core.retrieval import Embedder
from ovrag_studies.cited.answering.published_pipeline import opposed_pairs
from ovrag_studies.cited.answering.silence import Certificate
from ovrag_studies.cited.arms import ArmParts, calibrate_on, run_arms, search
from ovrag_studies.cited.conflicts.rule_conflicts import find_corpus_conflicts
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden
from ovrag_studies.cited.corpus.policies import PolicyCorpus, read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, RankedParagraph, Way, retrieve_by
from ovrag_studies.cited.critic.critic_rules import CriticFinding
from ovrag_studies.cited.critic.criticism import criticise, criticise_by_chat
from ovrag_studies.cited.measuring import conflict_metrics, critic_metrics, golden_scores
from ovrag_studies.cited.measuring.conflict_metrics import ConflictReport, Flagged
from ovrag_studies.cited.measuring.critic_metrics import Snippet
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord, Scored, score_ranks
from ovrag_studies.cited.measuring.perturbations import try_checks
from ovrag_studies.cited.records import PolicyRecord
from ovrag_studies.cited.settings import Arm, Policy, PolicyAnswers


@dataclass(frozen=True)
class PolicyStudy:
    """The material and, by golden set, where silence begins; `run` is by the calibration on the first golden set."""

    parts: ArmParts
    golden: Mapping[str, Sequence[GoldenQuery]]
    certificates: Mapping[str, Certificate]
    run: tuple[tuple[PolicyRecord, float], ...]

    @property
    def corpus(self) -> PolicyCorpus:
        """The corpus."""
        return self.parts.index.corpus

    @property
    def records(self) -> list[PolicyRecord]:
        """The answers of all arms."""
        return [record for record, _ in self.run]

    @cached_property
    def labelled(self) -> dict[str, list[JudgedRecord]]:
        """The records beside their queries, by golden set."""
        return {name: golden_scores.judge(self.records, queries, self.corpus) for name, queries in self.golden.items()}

    def scored(self, plan: Resampling) -> dict[str, Scored]:
        """Return all measures of all arms, by golden set."""
        return {
            name: golden_scores.score(judged_records, self.corpus, plan, self.parts.verifier)
            for name, judged_records in self.labelled.items()
        }

    def seconds(self) -> dict[Arm, list[float]]:
        """Return the seconds of each query, by arm."""
        spent: dict[Arm, list[float]] = {}
        for record, seconds in self.run:
            spent.setdefault(record.arm, []).append(seconds)
        return spent


def run_study(settings: Settings, embedder: Embedder | None = None, chat: Chat | None = None) -> PolicyStudy:
    """Run the study of the settings. Raises an OvragError for material that is missing or does not fit together."""
    options = Policy.of(settings)
    corpus = read_corpus(*map(project_file, options.data.corpus))
    golden = {name: read_golden(project_file(path), corpus) for name, path in options.data.golden.items()}
    arm_parts = ArmParts(options, CorpusIndex(corpus, embedder), None, chat, settings.llm.seed)
    calibrations = {name: calibrate_on(arm_parts, queries, name) for name, queries in golden.items()}
    first_set = next(iter(golden))
    calibrated = replace(arm_parts, calibration=calibrations[first_set])
    certificates = {name: calibration.certificate for name, calibration in calibrations.items()}
    run = tuple(run_arms(calibrated, options.sampled(golden[first_set]), options.arms))
    return PolicyStudy(calibrated, golden, certificates, run)


def copied(study: PolicyStudy) -> PolicyStudy:
    """Return the study with the same queries answered by copied sentences, without a model; `b1` is left out."""
    options = study.parts.options.model_copy(update={"answers": PolicyAnswers()})
    arm_parts = replace(study.parts, options=options, chat=None)
    queries = options.sampled(next(iter(study.golden.values())))
    return replace(study, parts=arm_parts, run=tuple(run_arms(arm_parts, queries, options.arms)))


def size(study: PolicyStudy) -> list[str]:
    """Return how much the study has, in lines."""
    corpus = study.corpus
    twice = sum(len(paragraph.places) > 1 for paragraph in corpus.paragraphs)
    lines = [
        f"{len(corpus.documents)} documents, {len(corpus.paragraphs)} paragraphs, {twice} of them in several places"
    ]
    lines += [f"{name}: {len(queries)} queries" for name, queries in study.golden.items()]
    query_count = len({record.query_id for record in study.records})
    return [*lines, f"{len(study.seconds())} arms, {query_count} queries each: {', '.join(study.seconds())}"]


def examples(study: PolicyStudy) -> list[str]:
    """Return the first question of each kind, in the order of the first golden set."""
    by_category: dict[str, str] = {}
    for query in next(iter(study.golden.values())):
        by_category.setdefault(query.category, query.question)
    return list(by_category.values())


def rankings(study: PolicyStudy, plan: Resampling) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Return how well each way of finding ranks gold paragraphs, by golden set and way; last, as arms find them."""

    def find(question: str, way: Way | None) -> Sequence[RankedParagraph]:
        return retrieve_by(way, question, study.parts.index) if way else search(study.parts, question)

    return {
        (name, way or "fused, reader"): score_ranks(
            [(query, [ranked.paragraph for ranked in find(query.question, way)]) for query in queries], plan
        )
        for name, queries in study.golden.items()
        for way in (*get_args(Way), None)
    }


def tries(study: PolicyStudy) -> pandas.DataFrame:
    """Return what the published check and ours reject of the corpus's sentences, made wrong."""
    return try_checks(study.corpus, study.parts.verifier, study.parts.options.experiments.seed)


def conflict_reports(study: PolicyStudy, plan: Resampling) -> dict[str, ConflictReport]:
    """Return what the published rule and ours find of pairs of paragraphs; nothing where the settings name no pairs."""
    path = study.parts.options.data.conflicts
    if path is None:
        return {}
    pairs = conflict_metrics.read_pairs(project_file(path))
    conflicts = find_corpus_conflicts(study.corpus, study.parts.index.embedder)
    by_system = {
        "published rule": Flagged(frozenset(opposed_pairs(study.corpus.paragraphs))),
        "learned weights": conflict_metrics.flagged(conflicts, study.corpus),
    }
    return {name: conflict_metrics.assess(flagged, pairs, study.corpus, plan) for name, flagged in by_system.items()}


def criticised(study: PolicyStudy) -> tuple[list[Snippet], dict[str, list[Sequence[CriticFinding]]]]:
    """Return the snippets and what each critic finds in them; none where the settings name none."""
    arm_parts = study.parts
    if arm_parts.options.data.critic is None:
        return [], {}
    snippets = critic_metrics.read_snippets(project_file(arm_parts.options.data.critic))
    by_critic: dict[str, list[Sequence[CriticFinding]]] = {
        "rules and weights": [criticise(snippet.text, arm_parts.index.embedder) for snippet in snippets]
    }
    if arm_parts.options.critic.by == "chat" and arm_parts.chat is not None:
        by_critic[arm_parts.chat.name] = [
            criticise_by_chat(snippet.text, arm_parts.chat, arm_parts.seed) for snippet in snippets
        ]
    return snippets, by_critic
