"""How often a wrong answer is put right by our feedback: a scripted model that errs in known ways.

    python benchmarks/corrections.py [--seeds 9401 9402] [--errors]

The model answers in prose from the ground truth of a consistent contract, with one or two planted errors (kind of loan,
secured or not, borrower's kind, lender, revolving or not). When it gets feedback it knows nothing but the feedback's
words: it looks which of its own statements they name, and corrects those. What is named though it was right it gives
up; what is not named it repeats; where several of its statements stand in the words quoted and nothing tells them
apart, it repeats its error. Now and then it also loses a statement that nobody named (`--lose`: in which share).

An answer is attempted where the loop re-prompts it. It succeeds where the loop ends with `corrected` and every fact
that was asked for is there and right. What this shows is whether feedback names what is wrong, all of it and nothing
else; it does not show how well a language model follows feedback.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import causes

from ovrag_core.base.types import Answer, Chunk, Correction, QueryRecord
from ovrag_core.evaluation.statistics import wilson
from ovrag_core.loans.contracts.truth import ContractTruth
from ovrag_core.loans.reading import reader
from ovrag_core.loop import pipeline
from ovrag_core.loop.arms import ARMS
from ovrag_core.loop.pipeline import Bench, ask
from ovrag_core.loop.validation import Validator
from ovrag_core.ontology.load import load_ontology
from tables import table

PROJECT = Path(__file__).resolve().parent.parent

TOPICS = ("kind", "borrower", "lender", "security", "form", "principal", "maturity")
# Words by which a person knows what a complaint is about.
WORDS = {
    "kind": r"consumer loan|commercial loan|business loan|mortgage|student loan|green loan|card account|personal loan",
    "borrower": r"borrower",
    "lender": r"lender",
    "security": r"secured|unsecured|collateral|security",
    "form": r"revolving|open[- ]end|closed[- ]end|fixed[- ]term",
    "principal": r"principal",
    "maturity": r"maturity",
}
LAYOUTS = ("sentences", "bullets", "joined")


@dataclass
class Statement:
    """What the model says of a topic: the right words, and the wrong ones that it may say instead."""

    topic: str
    right: str
    wrong: str = ""
    says: str = "right"  # right, wrong, or nothing

    @property
    def text(self) -> str:
        """What it says now."""
        return {"right": self.right, "wrong": self.wrong}.get(self.says, "")


@dataclass
class ErringModel:
    """Answers with its statements, and corrects those that feedback names."""

    statements: list[Statement]
    layout: str
    random: Random
    loses: float = 0.0
    name: str = "scripted, erring"
    heard: list[str] = field(default_factory=list)

    def answer(
        self,
        question: str,
        chunks: Sequence[Chunk],
        *,
        exclude: frozenset[pipeline.Span] = frozenset(),
        corrections: Sequence[Correction] = (),
    ) -> Answer:
        """The statements in the model's layout, after what the last feedback names has been changed."""
        if corrections:
            self.heard.append(corrections[-1].feedback)
            self._correct(corrections[-1].feedback)
        return Answer(text=self._worded())

    def _worded(self) -> str:
        said = [statement.text for statement in self.statements if statement.text]
        if self.layout == "bullets":
            return "\n".join(f"- {text}" for text in said)
        if self.layout == "joined":
            pairs = [said[place : place + 2] for place in range(0, len(said), 2)]
            return " ".join(
                f"{pair[0].rstrip('.')}, and {pair[1][0].lower()}{pair[1][1:]}" if len(pair) > 1 else pair[0]
                for pair in pairs
            )
        return " ".join(said)

    def _correct(self, feedback: str) -> None:
        named = self._named(feedback)
        for statement in named:
            # It takes the feedback's word for it: what was wrong becomes right, and what was right is given up.
            statement.says = "right" if statement.says == "wrong" else "nothing"
        rest = [statement for statement in self.statements if statement not in named and statement.says == "right"]
        if named and rest and self.loses and self.random.random() < self.loses:
            self.random.choice(rest).says = "nothing"

    def _named(self, feedback: str) -> list[Statement]:
        """The statements that the feedback quotes from the last answer; of several in one quote, those it speaks of."""
        named: list[Statement] = []
        for line in feedback.splitlines():
            said = line.split("The document says", maxsplit=1)[0]
            for match in re.finditer(r"([^“”]*)“([^”]*)”", said):
                inside = [each for each in self.statements if each.text and _overlap(each.text, match[2])]
                meant = inside if len(inside) < 2 else _spoken_of(inside, match[1].rsplit(". ", 1)[-1])
                named += [each for each in meant if each not in named]
        return named


def _spoken_of(statements: Sequence[Statement], clause: str) -> list[Statement]:
    """The statements whose topic a clause names, or else whose names it has."""
    by_topic = [each for each in statements if re.search(WORDS[each.topic], clause, re.IGNORECASE)]
    if by_topic:
        return by_topic
    names = set(re.findall(r"\b[A-Z]\w+", clause)) - {"You", "The"}
    return [each for each in statements if len(names & set(re.findall(r"\w+", each.text))) > 1]


def _overlap(statement: str, quote: str) -> bool:
    """Whether the statement's words stand in the quote, or the quote's in the statement."""
    one, two = (" ".join(re.findall(r"\w+", text.lower())) for text in (statement, quote))
    return bool(two) and (f" {one} " in f" {two} " or f" {two} " in f" {one} ")


# --- answers ------------------------------------------------------------------------------------------------


def statements(truth: ContractTruth, random: Random) -> list[Statement]:
    """What a full answer says of a contract, with every wrong statement that a rule forbids."""
    wrong = dict(_wrong(truth, random))
    made: list[Statement] = []
    if truth.loan_types:
        made.append(Statement("kind", random.choice(causes._KINDS[truth.loan_types[0]])))
    for role, party in (("borrower", truth.borrower), ("lender", truth.lender)):
        if party is not None:
            what = "a natural person" if party.kind == "natural_person" else "an organisation"
            made.append(Statement(role, f"The {role} is {party.name}, {what}."))
    if truth.security == "unsecured":
        made.append(Statement("security", random.choice(causes._UNSECURED)))
    if truth.security == "secured" and truth.collateral:
        made.append(Statement("security", f"It is secured by {truth.collateral[0].lower()}{truth.collateral[1:]}."))
    forms = {"open-end": causes._OPEN, "closed-end": causes._CLOSED}.get(truth.credit_form)
    if forms:
        made.append(Statement("form", random.choice(forms)))
    if truth.principal:
        amount = f"{truth.principal.currency} {truth.principal.amount:,.2f}"
        made.append(Statement("principal", f"The principal amount is {amount}."))
    if truth.maturity:
        made.append(Statement("maturity", f"It ends on {truth.maturity}."))
    for statement in made:
        statement.wrong = wrong.get(statement.topic, "")
    return made


def _wrong(truth: ContractTruth, random: Random) -> Iterator[tuple[str, str]]:
    topics = {
        "invented security": "security",
        "wrongly unsecured": "security",
        "wrongly revolving": "form",
        "wrongly closed": "form",
        "wrong kind": "kind",
        "wrong borrower": "borrower",
        "wrong lender": "lender",
    }
    for way, text in causes.errors(truth, random):
        yield topics[way], text


def models(truths: dict[str, ContractTruth], seed: int, loses: float) -> Iterator[tuple[str, ErringModel, str]]:
    """An erring model for each consistent contract and each of two drawings; the last value says how it errs."""
    for name, truth in truths.items():
        if truth.label != "CLEAN":
            continue
        for drawing in range(2):
            random = Random(f"corrections/{seed}/{name}/{drawing}")
            said = statements(truth, random)
            able = [statement for statement in said if statement.wrong]
            if not able:
                continue
            count = 2 if len(able) > 1 and random.random() < 0.25 else 1
            for statement in random.sample(able, count):
                statement.says = "wrong"
            erring = sorted(statement.topic for statement in said if statement.says == "wrong")
            chosen = [each for each in said if each.says == "wrong" or random.random() < 0.75]
            random.shuffle(chosen)
            yield name, ErringModel(chosen, random.choice(LAYOUTS), random, loses), " and ".join(erring)


# --- figures ------------------------------------------------------------------------------------------------


def succeeded(record: QueryRecord, model: ErringModel) -> bool:
    """Consistent in the end, and every fact asked for is there and right."""
    return record.outcome == "corrected" and all(statement.says == "right" for statement in model.statements)


def measure(seeds: Sequence[int], loses: float, *, vague: bool, show: bool) -> None:
    """Print what became of the erring answers."""
    validator = Validator(load_ontology(PROJECT / "ontologies"))
    results: list[tuple[str, ErringModel, QueryRecord]] = []
    for seed, documents, truths in causes.load_sets(seeds):
        index = causes.Chunks(documents)
        for name, model, erring in models(truths, seed, loses):
            index.wanted = (name,)
            bench = Bench(index, causes.Zeros(), model, reader, validator, documents)
            record, _ = ask(causes.ASK, name, ARMS["ovrag_evidence"], bench)
            results.append((erring, model, record))
            if show and len(record.attempts) > 1 and not succeeded(record, model):
                explain(name, erring, model, record)
    validator.close()
    report(results, vague=vague)


def explain(name: str, erring: str, model: ErringModel, record: QueryRecord) -> None:
    """A correction that failed, in full."""
    print(f"--- {name}: erred on {erring}, {model.layout}, {record.outcome} {record.cause}")
    print(f"    {[(each.topic, each.says) for each in model.statements]}")
    for attempt in record.attempts:
        print(f"    answer: {attempt.answer.text!r}\n    feedback before: {attempt.feedback!r}")


def report(results: Sequence[tuple[str, ErringModel, QueryRecord]], *, vague: bool) -> None:
    """Attempts, successes, and each way of erring."""
    tried = [each for each in results if len(each[2].attempts) > 1]
    right = sum(succeeded(record, model) for _, model, record in tried)
    rate = wilson(right, len(tried))
    title = "the published loop's words" if vague else "ours"
    rounds = Counter(len(record.attempts) - 1 for _, model, record in tried if succeeded(record, model))
    row = (title, len(results), len(tried), right, rounds[1], f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]")
    print(table(("feedback", "wrong answers", "found", "put right", "at the first try", "share put right"), [row]))
    groups = (("error", lambda item: item[0]), ("layout", lambda item: item[1].layout))
    rows = []
    for what, key in groups:
        for group in sorted({key(item) for item in tried}):
            members = [item for item in tried if key(item) == group]
            rows.append((what, group, f"{sum(succeeded(item[2], item[1]) for item in members)} of {len(members)}"))
    print(table((f"by, feedback {title}", "", "put right"), rows))


def main() -> None:
    """Print the figures for our feedback, then for the published loop's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[9401, 9402])
    parser.add_argument("--lose", type=float, default=0.02, help="share of corrections that lose a right statement")
    parser.add_argument("--errors", action="store_true", help="show corrections that failed")
    args = parser.parse_args()
    measure(args.seeds, args.lose, vague=False, show=args.errors)
    pipeline.answer_feedback = pipeline.correction_feedback
    measure(args.seeds, args.lose, vague=True, show=False)


if __name__ == "__main__":
    main()
