"""What checks of sentences let pass and what they reject: ours and the published one, on sentences made wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ovrag_core.evaluation.statistics import Estimate, Resampling, ratio
from ovrag_core.text.passages import find_passages
from ovrag_studies.cited.answering.recorded import published_support
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.policies import PolicyCorpus
from ovrag_studies.cited.measuring.perturbations import Perturbed, misplace, perturb

Trial = Literal["unchanged", "must", "number", "paragraph"]
Case = tuple[Trial, str, str, tuple[str, ...]]  # kind, text that it comes from, sentence, evidence
Check = Callable[[str, Sequence[str]], bool]  # whether the texts support the sentence
EACH = 5  # of how many sentences one has its evidence exchanged


class Tried(NamedTuple):
    """A sentence that was checked; `group` is the text that it comes from."""

    trial: Trial
    group: str
    rejected: bool


def checks_of(verifier: SentenceVerifier) -> dict[str, Check]:
    """The published check and ours, by name."""
    return {
        "published check": published_support,
        "three rules": lambda sentence, evidence: verifier.supports(sentence, evidence).ok,
    }


def try_checks(corpus: PolicyCorpus, checks: Mapping[str, Check], seed: int = 42) -> dict[str, list[Tried]]:
    """Every sentence of a corpus with its own paragraph, unchanged and made wrong, through each check."""
    texts = [each.text for each in corpus.paragraphs]
    own = [(text[start:end], (text,)) for text in texts for start, end in find_passages(text)]
    cases: list[Case] = [("unchanged", evidence[0], sentence, evidence) for sentence, evidence in own]
    cases += _cases(perturb(texts))
    cases += [
        ("paragraph", each.sentence, each.sentence, each.evidence)
        for each in misplace(own[::EACH], texts, times=EACH, seed=seed)
    ]
    return {
        name: [Tried(trial, group, not check(sentence, evidence)) for trial, group, sentence, evidence in cases]
        for name, check in checks.items()
    }


def _cases(wrong: Iterable[Perturbed]) -> Iterator[Case]:
    for each in wrong:
        yield each.kind, each.evidence[0], each.sentence, each.evidence


def rejected(tried: Sequence[Tried], trial: Trial, plan: Resampling) -> Estimate:
    """The share that was rejected of one kind; the interval resamples the texts that sentences come from."""
    groups: dict[str, list[bool]] = {}
    for each in tried:
        if each.trial == trial:
            groups.setdefault(each.group, []).append(each.rejected)
    return ratio([sum(of) for of in groups.values()], [len(of) for of in groups.values()], plan)
