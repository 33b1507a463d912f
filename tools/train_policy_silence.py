"""Calibrate silence and conflicts of cited answers on documents of many kinds: `python tools/train_policy_silence.py`.

Asks the queries of `training/cited/calibration`, from which neither the reader nor its weights learned anything, and
prints what comes of it by kind of prose. Silence: the threshold that answers COVERAGE of the queries, the least risk
that it certifies, and that for a new document; written to `ovrag_studies/cited/weights/calibration.json`. Conflicts:
the weights of `rule_conflicts.py`, learned on the kinds that taught the weights of pairs too (TAUGHT), and how often a
conflict is rightly reported on these and on the others. Some ten minutes on two cores. With `--unread` the documents of
`tests/data/policy/unread` are asked with what there is, and nothing is written; nor is it with `--measure`.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from labelled_documents import LabelledDocument, LabelledQuery, read_labelled
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tqdm import tqdm
from training_data import learned_from

from ovrag_core.evaluation import Resampling, paired_difference, ratio, sums
from ovrag_studies.cited.answering.cited_answers import answer
from ovrag_studies.cited.answering.silence import (
    BUNDLED,
    Calibration,
    Certificate,
    certificate_at,
    read_calibration,
    score_answer,
    write_calibration,
)
from ovrag_studies.cited.arms import ArmParts, search
from ovrag_studies.cited.conflicts.rule_conflicts import REPORTED, ContestedTraits, contested_pairs, settle
from ovrag_studies.cited.conflicts.rules import Rule
from ovrag_studies.cited.corpus.retrieval import CorpusIndex
from ovrag_studies.cited.printing import value_text
from ovrag_studies.cited.settings import Policy

DOCUMENTS = Path("training/cited/calibration")
UNREAD = Path("tests/data/policy/unread")
LEARNED_FROM = [f"{DOCUMENTS}/*.yaml"]
TAUGHT = ("firm policy", "university regulations", "hospital procedures")  # kinds that teach what a conflict is
COVERAGE = 0.4  # of the queries, that the threshold is set to answer; it looks at scores alone
DELTA = 0.1
PAIRS = 10  # of a query that teach the weights of `rule_conflicts`
PLAN = Resampling()
RISKS = tuple(step / 100 for step in range(1, 100))
STAKES = tuple(step / 20 for step in range(1, 20))


@dataclass(frozen=True)
class Candidate:
    """Two rules that may be reported as a conflict: their paragraphs by number, and the one that prevails, if any."""

    paragraphs: frozenset[int]
    prevails: int | None
    traits: ContestedTraits
    score: float


@dataclass(frozen=True)
class Outcome:
    """What becomes of a query: paragraphs by number, `pairs` are of those that may be reported as a conflict."""

    document: str
    kind: str
    query: LabelledQuery
    score: float
    cosine: float
    first: int
    quoted: frozenset[int]
    pairs: tuple[Candidate, ...]

    @property
    def contested(self) -> bool:
        """Whether a conflict is reported."""
        return bool(self.pairs) and self.pairs[0].score >= REPORTED

    def right(self, paragraphs: Iterable[int]) -> bool:
        """Whether one of these paragraphs answers."""
        return bool(set(self.query.gold) & set(paragraphs))

    @property
    def cited(self) -> frozenset[int]:
        """The paragraphs that the answer cites, if one is given."""
        return self.pairs[0].paragraphs if self.contested else self.quoted

    def given(self, threshold: float) -> frozenset[int]:
        """The paragraphs that an answer cites: of a conflict, and of what is surely enough an answer beside it."""
        return self.cited | (self.quoted if self.score >= threshold else frozenset())


def ask_document(name: str, document: LabelledDocument) -> list[Outcome]:
    """All queries of a document."""
    corpus = document.corpus(name)
    places = {id_: each.index for id_, each in corpus.by_id.items()}
    parts = ArmParts(Policy(), CorpusIndex(corpus))

    def candidate(one: Rule, other: Rule, traits: ContestedTraits) -> Candidate:
        conflict = settle((one, other), parts.precedence)
        sides = {"first": places[one.source.paragraph_id], "second": places[other.source.paragraph_id]}
        prevails = sides[conflict.prevails] if conflict.prevails else None
        return Candidate(frozenset(sides.values()), prevails, traits, traits.score())

    found = []
    for query in document.queries:
        evidence = search(parts, query.question)
        copied = answer(query.question, evidence, parts.verifier)
        pairs = contested_pairs(query.question, evidence, parts.comparison)
        found.append(
            Outcome(
                name,
                document.kind,
                query,
                score_answer(copied, evidence, parts.verifier),
                max(parts.verifier.likeness(query.question, [each.paragraph.text for each in evidence])),
                places[evidence[0].paragraph.id],
                frozenset(places[each.paragraph_id] for said in copied.sentences for each in said.citations),
                tuple(candidate(*each) for each in pairs[:PAIRS]),
            )
        )
    return found


def weigh(outcomes: Sequence[Outcome]) -> tuple[float, ...]:
    """The weights of `rule_conflicts` that the queries teach: is a pair the two sides of what is asked for?"""
    rows = [pair.traits for each in outcomes for pair in each.pairs]
    sides = [
        each.query.category == "contradiction" and pair.paragraphs <= set(each.query.gold)
        for each in outcomes
        for pair in each.pairs
    ]
    model = LogisticRegression(max_iter=1000).fit(rows, sides)
    weights = tuple(round(float(weight), 2) for weight in (*model.coef_[0], *model.intercept_))
    print(
        f"\nWEIGHTS of rule_conflicts.py: {weights}; "
        f"by {len(rows)} pairs of rules, {sum(sides)} of them the sides asked for"
    )
    return weights


def weighed(outcome: Outcome, weights: Sequence[float]) -> Outcome:
    """The outcome with other weights of `rule_conflicts`."""
    pairs = (replace(pair, score=pair.traits.score(weights)) for pair in outcome.pairs)
    return replace(outcome, pairs=tuple(sorted(pairs, key=lambda pair: -pair.score)))


def report_conflicts(title: str, outcomes: Sequence[Outcome]) -> None:
    """Print how often a conflict is reported where there is one, and how often rightly."""
    probes = [each for each in outcomes if each.query.category == "contradiction"]
    reported = [each for each in outcomes if each.contested]
    right = [each for each in reported if each.query.category == "contradiction"]
    exact = [each for each in right if each.cited <= set(each.query.gold)]
    told = [each for each in exact if each.pairs[0].prevails == each.query.prevails]
    print(f"\n{title}\n\n| conflicts | count | share |\n|---|---|---|")
    for name, some, of in (
        ("conflict queries reported as such", right, probes),
        ("reported: of conflict queries", right, reported),
        ("both paragraphs are the sides", exact, right),
        ("superseded or not, and what prevails, told rightly", told, exact),
    ):
        print(f"| {name} | {len(some)} of {len(of)} | {share(outcomes, some, of)} |")
    if not reported:
        return
    order = sorted((each for each in outcomes if each.pairs), key=lambda each: -each.pairs[0].score)
    print("\n| most surely reported | score | conflict queries | right sides |\n|---|---|---|---|")
    for count in range(10, len(order), 10):
        best = order[:count]
        hits = [each for each in best if each.query.category == "contradiction"]
        sides = sum(each.pairs[0].paragraphs <= set(each.query.gold) for each in hits)
        print(f"| {count} | {best[-1].pairs[0].score:.3f} | {len(hits)} | {sides} |")


def share(outcomes: Sequence[Outcome], some: Sequence[Outcome], of: Sequence[Outcome]) -> str:
    """A share with its interval over documents."""
    documents = list(dict.fromkeys(each.document for each in outcomes))
    tops = [float(sum(each.document == name for each in some)) for name in documents]
    return value_text(ratio(tops, [float(sum(each.document == name for each in of)) for name in documents], PLAN))


def certify(outcomes: Sequence[Outcome], untaught: Sequence[Outcome]) -> Calibration:
    """The calibration: the threshold that answers COVERAGE of the queries, and the risk below which it stays; of
    reported conflicts too, on outcomes that taught no weights of `rule_conflicts`.
    """
    scores = [1.0 if each.contested else each.score for each in outcomes]
    threshold = sorted(scores, reverse=True)[round(COVERAGE * len(scores)) - 1]
    wrong = [not each.right(each.given(threshold)) for each in outcomes]
    documents = len({each.document for each in outcomes})
    contested = [each.pairs[0].score if each.pairs else 0.0 for each in untaught]
    invented = [each.query.category != "contradiction" for each in untaught]
    return Calibration(
        corpus=f"{documents} documents", golden=str(DOCUMENTS), documents=documents,
        certificate=bounded(scores, wrong, threshold, DELTA),
        new_document=for_new_document(outcomes, [score >= threshold for score in scores], wrong),
        conflicts=bounded(contested, invented, REPORTED, DELTA),
        conflicts_in_new_document=for_new_document(untaught, [score >= REPORTED for score in contested], invented),
        learned_from=dict(learned_from(LEARNED_FROM)),
    )  # fmt: skip


def bounded(scores: Sequence[float], wrong: Sequence[bool], threshold: float, delta: float) -> Certificate:
    """Return the certificate of a threshold that was chosen by scores alone: alpha is the least risk that its answers
    stay below at `delta`, by the exact bound of Clopper and Pearson (1934).
    """
    counted = certificate_at(scores, wrong, threshold, 1.0, delta)
    alpha, right = 1.0, counted.answered - counted.errors
    if right:
        alpha = round(float(stats.beta.ppf(1 - delta, counted.errors + 1, right)), 4)
    return certificate_at(scores, wrong, threshold, alpha, delta)


def least_certified(asked: Sequence[int], answered: Sequence[int], wrong: Sequence[int], delta: float) -> float | None:
    """Return the least risk, wrong ÷ answered, that holds for a new document at `delta`; None where none of RISKS does.

    One count each for each document, which are taken as independent draws of one kind. For a risk r the mean of
    (wrong - r · answered) / asked is tested against 0 by betting (Waudby-Smith and Ramdas 2024): with a bet at each of
    STAKES the mean of the gains is an e-value, and its inverse a p-value whatever the distribution.
    """
    least = None
    for risk in reversed(RISKS):
        losses = [
            (errors - risk * answers) / queries for queries, answers, errors in zip(asked, answered, wrong, strict=True)
        ]
        gains = [prod(1 - stake / (1 - risk) * loss for loss in losses) for stake in STAKES]
        if sum(gains) / len(gains) * delta < 1:
            return least
        least = risk
    return least


def for_new_document(outcomes: Sequence[Outcome], given: Sequence[bool], wrong: Sequence[bool]) -> float | None:
    """The least risk, wrong ÷ given, that these documents certify for another."""
    names = [each.document for each in outcomes]
    bad = [a and b for a, b in zip(given, wrong, strict=True)]
    counts = (
        [int(count) for count in sums([float(each) for each in what], names)]
        for what in ([True] * len(names), given, bad)
    )
    return least_certified(*counts, DELTA)


def report_silence(outcomes: Sequence[Outcome], calibration: Calibration) -> None:
    """Print coverage and risk by kind and by document, and right outcomes beside those of plain baselines."""
    threshold = calibration.threshold
    open_ = {id(each): each.contested or each.score >= threshold for each in outcomes}
    right = [each.right(each.quoted) for each in outcomes]
    area = roc_auc_score(right, [each.score for each in outcomes])
    print(f"\nright answers against wrong ones by the score: AUROC {area:.3f}, {len(outcomes)} queries")
    print("\n| documents | queries | answered | wrong of answered |\n|---|---|---|---|")
    groups: list[tuple[str, list[Outcome]]] = [("all", list(outcomes))]
    for of in (lambda each: each.kind, lambda each: each.document):
        groups += [(name, [each for each in outcomes if of(each) == name]) for name in dict.fromkeys(map(of, outcomes))]
    for name, own in groups:
        given = [each for each in own if open_[id(each)]]
        bad = [each for each in given if not each.right(each.given(threshold))]
        cells = (f"{len(given)} ({share(own, given, own)})", f"{len(bad)} ({share(own, bad, given)})")
        print(f"| {name} | {len(own)} | {' | '.join(cells)} |")
    least = sorted((each.cosine for each in outcomes), reverse=True)[round(COVERAGE * len(outcomes)) - 1]
    ours = [good(each, each.given(threshold), open_[id(each)]) for each in outcomes]
    plain: dict[str, Callable[[Outcome], bool]] = {
        "the first paragraph": lambda _: True,
        f"the first paragraph, silent below a cosine of {least:.2f}": lambda each: each.cosine >= least,
    }
    names = [each.document for each in outcomes]
    ones = sums([1.0] * len(names), names)
    print("\n| right outcomes | share | ours less that |\n|---|---|---|")
    print(f"| ours | {value_text(ratio(sums([float(each) for each in ours], names), ones, PLAN))} | |")
    for name, answers in plain.items():
        theirs = sums([float(good(each, {each.first}, answers(each))) for each in outcomes], names)
        less = paired_difference((sums([float(each) for each in ours], names), ones), (theirs, ones), PLAN)
        interval = f" [{less.low:.3f}, {less.high:.3f}]" if less.low is not None else ""
        print(f"| {name} | {value_text(ratio(theirs, ones, PLAN))} | {less.value:+.3f}{interval} |")


def good(outcome: Outcome, cited: Iterable[int], answered: bool) -> bool:
    """Whether silence or the answer is right; of a conflict, whether a side of it is cited."""
    return outcome.right(cited) if answered and outcome.query.gold else not answered and not outcome.query.gold


def main() -> None:
    """Ask, print, and write the calibration unless the documents are those for scoring alone."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unread", action="store_true")
    parser.add_argument("--measure", action="store_true")
    asked = parser.parse_args()
    unread = asked.unread
    documents = {path.stem: read_labelled(path) for path in sorted((UNREAD if unread else DOCUMENTS).glob("*.yaml"))}
    outcomes = [each for name in tqdm(documents, desc="documents") for each in ask_document(name, documents[name])]
    if not unread:
        weights = weigh([each for each in outcomes if each.kind in TAUGHT])
        outcomes = [weighed(each, weights) for each in outcomes]
        report_conflicts("Kinds that teach", [each for each in outcomes if each.kind in TAUGHT])
    untaught = [each for each in outcomes if each.kind not in TAUGHT or unread]
    report_conflicts("Kinds that do not", untaught)
    calibration = read_calibration(BUNDLED) if unread else certify(outcomes, untaught)
    report_silence(outcomes, calibration)
    print(f"\n{calibration.certificate.text}; a new document: at most {calibration.new_document} wrong of answered")
    if calibration.conflicts:
        certified = f"{calibration.conflicts.text}; a new document: at most {calibration.conflicts_in_new_document}"
        print(f"conflicts, answered is reported: {certified} reported where there is none")
    if not unread and not asked.measure:
        write_calibration(BUNDLED, calibration)


if __name__ == "__main__":
    main()
