"""The whole study by the settings: the corpus read, silence calibrated, every query asked of every arm, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import get_args

from ovrag_core.base.project import project_file
from ovrag_core.base.settings import Settings
from ovrag_core.evaluation.statistics import Resampling
from ovrag_core.llm import Chat
from ovrag_core.retrieval.embedding import Embedder
from ovrag_studies.cited.answering import recorded
from ovrag_studies.cited.answering.calibration import Calibration
from ovrag_studies.cited.arms import ArmParts
from ovrag_studies.cited.corpus.golden import GoldenQuery, read_golden, require_gold
from ovrag_studies.cited.corpus.policies import Paragraph, PolicyCorpus, read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, RetrievalSettings, Way, make_retriever
from ovrag_studies.cited.critic import criticism
from ovrag_studies.cited.critic.critic_chat import criticise_by_chat
from ovrag_studies.cited.critic.criticism import CriticFinding
from ovrag_studies.cited.golden_runs import calibrate_on, run_arms
from ovrag_studies.cited.measuring import conflict_metrics, critic_metrics, golden_scores, rejections
from ovrag_studies.cited.measuring.conflict_metrics import ConflictReport
from ovrag_studies.cited.measuring.critic_metrics import Snippet
from ovrag_studies.cited.measuring.golden_scores import JudgedRecord
from ovrag_studies.cited.measuring.paragraph_ranks import DEPTH, RankedQuery, rank_queries
from ovrag_studies.cited.measuring.ratings import Given
from ovrag_studies.cited.measuring.rejections import Tried
from ovrag_studies.cited.records import PolicyRecord, rated
from ovrag_studies.cited.settings import Arm, Policy


@dataclass(frozen=True)
class PolicyStudy:
    """The material and, by golden set, where silence begins; `run` is by the calibration on the first golden set."""

    options: Policy
    parts: ArmParts
    golden: Mapping[str, Sequence[GoldenQuery]]
    calibrations: Mapping[str, Calibration]
    run: tuple[tuple[PolicyRecord, float], ...]

    @property
    def corpus(self) -> PolicyCorpus:
        """The corpus."""
        return self.parts.index.corpus

    @cached_property
    def labelled(self) -> dict[str, list[JudgedRecord]]:
        """The records beside their queries, by golden set."""
        records = [record for record, _ in self.run]
        return {name: golden_scores.judge(records, queries, self.corpus) for name, queries in self.golden.items()}

    def scored(self, plan: Resampling) -> dict[str, list[golden_scores.Figure]]:
        """All measures of all arms, by golden set."""
        return {
            name: golden_scores.score(given, self.corpus, plan, self.parts.verifier)
            for name, given in self.labelled.items()
        }

    def seconds(self) -> dict[Arm, list[float]]:
        """The seconds of each query, by arm."""
        spent: dict[Arm, list[float]] = {}
        for record, seconds in self.run:
            spent.setdefault(record.arm, []).append(seconds)
        return spent


def run_study(settings: Settings, embedder: Embedder | None = None, chat: Chat | None = None) -> PolicyStudy:
    """The study of the settings. Raises an OvragError for material that is missing or does not fit together."""
    options = Policy.of(settings)
    corpus = read_corpus(*(project_file(path) for path in options.data.corpus))
    golden = {name: _golden(project_file(path), corpus) for name, path in options.data.golden.items()}
    replayed = options.data.recorded_b1
    alone = {each.question: each for each in recorded.read_run(project_file(replayed)).answers} if replayed else {}
    parts = ArmParts(options, CorpusIndex(corpus, embedder), None, chat, settings.llm.seed, alone)
    calibrations = {name: calibrate_on(parts, queries, name) for name, queries in golden.items()}
    first = next(iter(golden))
    calibrated = replace(parts, calibration=calibrations[first])
    vars(calibrated)["conflicts"] = parts.conflicts  # where cached_property keeps it
    return PolicyStudy(
        options, calibrated, golden, calibrations, tuple(run_arms(calibrated, golden[first], options.arms))
    )


def _golden(path: Path, corpus: PolicyCorpus) -> list[GoldenQuery]:
    queries = read_golden(path)
    require_gold(queries, corpus, path)
    return queries


def size(study: PolicyStudy) -> list[str]:
    """How much the study has, in lines."""
    corpus = study.corpus
    twice = sum(len(each.places) > 1 for each in corpus.paragraphs)
    lines = [
        f"{len(corpus.documents)} documents, {len(corpus.paragraphs)} paragraphs, {twice} of them in several places"
    ]
    lines += [f"{name}: {len(queries)} queries" for name, queries in study.golden.items()]
    return [*lines, f"{len(study.seconds())} arms: {', '.join(study.seconds())}"]


def examples(study: PolicyStudy) -> list[str]:
    """The first question of each kind, in the order of the first golden set."""
    first: dict[str, str] = {}
    for query in next(iter(study.golden.values())):
        first.setdefault(query.category, query.question)
    return list(first.values())


def to_rate(study: PolicyStudy) -> list[Given]:
    """The answers of all arms, for a pack of blind rating."""
    return rated(record for record, _ in study.run)


def rankings(study: PolicyStudy) -> dict[tuple[str, str], list[RankedQuery]]:
    """How well each way of finding ranks gold paragraphs, by golden set and way; and what the settings ask for."""
    index, given = study.parts.index, study.options.retrieval
    found = {way: make_retriever(index, RetrievalSettings(by=way, top=DEPTH)) for way in get_args(Way)}
    if given.rerank != "none":
        found[f"{given.by}, {given.rerank}"] = study.parts.retriever

    def paragraphs(question: str, way: str) -> list[Paragraph]:
        return [each.paragraph for each in found[way](question).evidence[:DEPTH]]

    return {
        (name, way): rank_queries(queries, partial(paragraphs, way=way))
        for name, queries in study.golden.items()
        for way in found
    }


def tries(study: PolicyStudy) -> dict[str, list[Tried]]:
    """What the published check and ours reject of the corpus's sentences, made wrong."""
    return rejections.try_checks(
        study.corpus, rejections.checks_of(study.parts.verifier), study.options.experiments.seed
    )


def conflict_reports(study: PolicyStudy, plan: Resampling) -> dict[str, ConflictReport]:
    """The published rule and ours on pairs of paragraphs; nothing where the settings name no pairs."""
    if study.options.data.conflicts is None:
        return {}
    pairs = conflict_metrics.read_pairs(project_file(study.options.data.conflicts))
    found = {
        "published rule": conflict_metrics.flagged_as_published(study.corpus),
        "norms and weights": conflict_metrics.flagged(study.parts.conflicts, study.corpus),
    }
    return {name: conflict_metrics.assess(each, pairs, study.corpus, plan) for name, each in found.items()}


def criticised(study: PolicyStudy) -> tuple[list[Snippet], dict[str, list[Sequence[CriticFinding]]]]:
    """The snippets and what each critic finds in them; none where the settings name none."""
    if study.options.data.critic is None:
        return [], {}
    snippets = critic_metrics.read_snippets(project_file(study.options.data.critic))
    embedder, chat = study.parts.index.embedder, study.parts.chat
    found: dict[str, list[Sequence[CriticFinding]]] = {
        "rules": [criticism.by_rules(each.text) for each in snippets],
        "rules and weights": [criticism.criticise(each.text, embedder) for each in snippets],
    }
    if study.options.critic.by == "chat" and chat is not None:
        found[chat.name] = [criticise_by_chat(each.text, chat, study.parts.seed).findings for each in snippets]
    return snippets, found
