"""Sentences made wrong on purpose, with evidence that does not support them, and what checks reject of these."""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import pandas

from ovrag_core.evaluation import Estimate, Resampling, ratio
from ovrag_core.text import find_passages
from ovrag_studies.cited.answering.published_pipeline import published_support
from ovrag_studies.cited.answering.verification import SentenceVerifier
from ovrag_studies.cited.corpus.policies import PolicyCorpus

Kind = Literal["unchanged", "must", "number", "paragraph"]
EACH = 5  # of how many sentences one has its evidence exchanged, and for how many other paragraphs
TRIALS: Mapping[Kind, str] = {
    "unchanged": "unchanged",
    "must": "must and must not swapped",
    "number": "a number changed",
    "paragraph": "another paragraph",
}

CHECKS = ("published check", "three rules")
_MUST = re.compile(r"\bmust(?P<turned> (?:not|never))?\b")
_NUMBER = re.compile(r"(?<![\w.,:-])\d+(?:\.\d+)?(?![\w:]|[.,]\d)")


class Perturbed(NamedTuple):
    """A sentence, what was done to it, and evidence, which does not support it unless it is unchanged."""

    kind: Kind
    sentence: str
    evidence: tuple[str, ...]


def perturb(paragraphs: Sequence[str]) -> Iterator[Perturbed]:
    """Yield of each sentence: every must turned into must not and back, and every number changed, one at a time."""
    for text in paragraphs:
        for start, end in find_passages(text):
            sentence = text[start:end]
            if _MUST.search(sentence):
                yield Perturbed("must", swap_must(sentence), (text,))
            yield from (Perturbed("number", changed, (text,)) for changed in change_numbers(sentence))


def misplace(sentences: Iterable[Perturbed], paragraphs: Sequence[str], seed: int = 42) -> Iterator[Perturbed]:
    """Yield sentences with their evidence exchanged for EACH other paragraphs, drawn by `seed`."""
    drawn = random.Random(seed)
    for case in sentences:
        candidates = [text for text in paragraphs if text not in case.evidence]
        for text in drawn.sample(candidates, min(EACH, len(candidates))):
            yield Perturbed("paragraph", case.sentence, (text,))


def try_checks(corpus: PolicyCorpus, verifier: SentenceVerifier, seed: int) -> pandas.DataFrame:
    """Return every sentence of a corpus, unchanged and made wrong, with the two checks as columns: True is rejected.

    `kind` tells what was done, `group` is the text that the sentence comes from.
    """
    texts = [paragraph.text for paragraph in corpus.paragraphs]
    unchanged = [Perturbed("unchanged", text[i:j], (text,)) for text in texts for i, j in find_passages(text)]
    cases = [(case, case.evidence[0]) for case in (*unchanged, *perturb(texts))]
    cases += [(case, case.sentence) for case in misplace(unchanged[::EACH], texts, seed)]
    rows = [
        (kind, group, not published_support(sentence, evidence), bool(verifier.objection(sentence, evidence)))
        for (kind, sentence, evidence), group in cases
    ]
    return pandas.DataFrame(rows, columns=["kind", "group", *CHECKS])


def share_rejected(tried: pandas.DataFrame, check: str, kind: Kind, plan: Resampling) -> Estimate:
    """Return the share that a check rejects of one kind; the interval resamples the texts that sentences come from."""
    groups = tried[tried["kind"] == kind].groupby("group", sort=False)[check]
    return ratio(groups.sum().tolist(), groups.size().tolist(), plan)


def swap_must(sentence: str) -> str:
    """Return must as must not, and must not or must never as must, wherever they stand."""
    return _MUST.sub(lambda match: "must" if match["turned"] else "must not", sentence)


def change_numbers(sentence: str) -> list[str]:
    """Return the sentence once for each number in figures, with that number more than doubled."""
    changed = []
    for match in _NUMBER.finditer(sentence):
        number = match[0]
        more = 2 * int(number) + 1 if number.isdigit() else round(2 * float(number) + 1, 3)
        changed.append(f"{sentence[: match.start()]}{more}{sentence[match.end() :]}")
    return changed
