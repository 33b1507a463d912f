"""Whether the cause of each contradiction is named rightly: planted answer, source and mixture cases.

    python benchmarks/causes.py [--seeds 9301 9302]

Contracts are generated afresh in the varied wording (unused seeds); the development agreements and the hard negatives
of the tests are added. Answers are worded here, from the ground truth and with a planted error where the case wants
one. Each case goes through the loop itself (one attempt), with the arm that it needs, and with the causes of all its
clashes. A case is right where the record's cause is the planted one; mixtures must also name the planted documents.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from ovrag_core.base import Answer, Chunk, Document, QueryRecord, Question, Retrieved
from ovrag_core.documents import find
from ovrag_core.evaluation import wilson
from ovrag_core.loans import ContractTruth, generate
from ovrag_core.loans.reading import reader
from ovrag_core.loop import ARMS, Bench, Validator, ask
from ovrag_core.ontology import load_ontology
from ovrag_core.retrieval import load_all
from tables import table

PROJECT = Path(__file__).resolve().parent.parent

CONTRACTS = 100
AGREEMENTS = PROJECT / "training" / "loans" / "agreements"
SETS = ("development", "hard_negatives")
CAUSES = ("answer", "source", "mixture", "none")
CONSUMER = {"ConsumerLoan", "StudentLoan", "SubsidizedStudentLoan"}
ASK = Question(id="Q", text="What does the document say of the loan?")


@dataclass(frozen=True, slots=True)
class Case:
    """A planted cause: the answer, the asked document, the others in the context, and the arm that is used."""

    planted: str
    way: str
    asked: str
    answer: str
    context: tuple[str, ...]
    arm: str = "ovrag_evidence"


class Chunks:
    """An index that finds the documents of the case, each one chunk."""

    def __init__(self, documents: dict[str, Document]) -> None:
        self.documents = documents
        self.wanted: tuple[str, ...] = ()

    def search(self, vector: np.ndarray, top_k: int, documents: Collection[str] | None = None) -> list[Retrieved]:
        """The documents wanted, in order."""
        return [
            Retrieved(chunk_id=name, document_id=name, start=0, end=len(self.documents[name].text), score=1.0)
            for name in self.wanted
        ]

    def chunk(self, chunk_id: str) -> Chunk:
        """The whole document."""
        document = self.documents[chunk_id]
        return Chunk(chunk_id, chunk_id, 0, len(document.text), document.text)


class Zeros:
    """Embeds everything at one point."""

    name = "zeros"

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One dimension, all zero."""
        return np.zeros((len(texts), 1), dtype=np.float32)


class Said:
    """Answers with the text of the case."""

    name = "scripted"
    text = ""

    def answer(self, question: str, chunks: Sequence[Chunk], **_: object) -> Answer:
        """The text."""
        return Answer(text=self.text)


# --- wordings -----------------------------------------------------------------------------------------------

_UNSECURED = (
    "The loan is unsecured.",
    "It is an unsecured loan; no collateral is pledged.",
    "The borrower gives no security for it.",
)
_SECURED = (
    "The loan is secured by a first mortgage over the borrower's warehouse.",
    "It is a secured loan; the collateral is a delivery van.",
    "The loan is secured, by a pledge of the borrower's savings account.",
)
_OPEN = (
    "It is a revolving line of credit.",
    "The credit is revolving: amounts repaid may be drawn again.",
    "This is open-end credit.",
)
_CLOSED = (
    "It is a closed-end loan for a fixed term, and amounts repaid may not be drawn again.",
    "The credit is not revolving; it is a fixed-term loan.",
    "This is closed-end credit.",
)
_KINDS = {
    "ConsumerLoan": ("It is a consumer loan.", "The loan is a personal loan for household purposes."),
    "CommercialLoan": ("It is a commercial loan.", "The loan is a business loan."),
    "Mortgage": ("It is a mortgage loan.",),
    "StudentLoan": ("It is a student loan.",),
    "SubsidizedStudentLoan": ("It is a subsidised student loan.",),
    "GreenLoan": ("It is a green loan.",),
    "CardAccount": ("It is a credit card account.",),
}
_PERSONS = ("Harriet Lindqvist", "Tomás Arreola", "Yusuf Demirel", "Ingrid Solberg")
_COMPANIES = ("Copperfield Traders Ltd", "Larch & Vane GmbH", "Whitby Freight LLC")


def parties(truth: ContractTruth) -> str:
    """A sentence on who borrows and lends."""
    kinds = {"natural_person": "a person", None: "a party"}
    parts = [
        f"the {role} is {party.name}, {kinds.get(party.kind, 'an organisation')}"
        for role, party in (("borrower", truth.borrower), ("lender", truth.lender))
        if party
    ]
    text = " and ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def faithful(truth: ContractTruth, random: Random) -> str:
    """An answer that says what is true, and takes no side where the document contradicts itself."""
    said = [parties(truth)]
    if truth.loan_types:
        said.append(random.choice(_KINDS[truth.loan_types[0]]))
    if truth.security == "unsecured":
        said.append(random.choice(_UNSECURED))
    if truth.security == "secured" and truth.collateral:
        said.append(f"The loan is secured by {truth.collateral[0].lower()}{truth.collateral[1:]}.")
    said += {"open-end": [random.choice(_OPEN)], "closed-end": [random.choice(_CLOSED)]}.get(truth.credit_form, [])
    chosen = [text for text in said if text and random.random() < 0.8] or said[:1]
    return " ".join(chosen)


def repeated(truth: ContractTruth, random: Random) -> str:
    """An answer to a document that contradicts itself, which repeats the contradiction or takes one of its sides."""
    quotes = [" ".join(quote.split()) for quote in truth.evidence]
    ways = (
        "The document says: " + " It also says: ".join(f"“{quote}”" for quote in quotes),
        faithful(truth, random),
        random.choice(quotes) if quotes else faithful(truth, random),
        f"{faithful(truth, random)} {random.choice(quotes)}" if quotes else faithful(truth, random),
    )
    return random.choice(ways)


def errors(truth: ContractTruth, random: Random) -> Iterator[tuple[str, str]]:
    """Wrong statements about a consistent document, by their way; only those that a rule of the ontology forbids."""
    kinds, borrower = set(truth.loan_types), truth.borrower.kind if truth.borrower else None
    if truth.security == "unsecured":
        yield "invented security", random.choice(_SECURED)
    if truth.security == "secured":
        yield "wrongly unsecured", random.choice(_UNSECURED)
    if truth.credit_form == "closed-end":
        yield "wrongly revolving", random.choice(_OPEN)
    if truth.credit_form == "open-end":
        yield "wrongly closed", random.choice(_CLOSED)
    if borrower == "legal_entity" and not kinds & CONSUMER:
        yield "wrong kind", random.choice(_KINDS["ConsumerLoan"])
    if borrower == "natural_person" and not kinds & {"CommercialLoan"}:
        yield "wrong kind", random.choice(_KINDS["CommercialLoan"])
    if kinds & CONSUMER and borrower == "natural_person":
        company = random.choice(_COMPANIES)
        yield "wrong borrower", f"The borrower is {company}, a company."
    if "CommercialLoan" in kinds and borrower == "legal_entity":
        yield "wrong borrower", f"The borrower is {random.choice(_PERSONS)}, a natural person."
    if kinds & {"CommercialLoan", "Mortgage", "CardAccount"}:
        yield "wrong lender", f"The lender is {random.choice(_PERSONS)}, a private individual."


# --- cases --------------------------------------------------------------------------------------------------


def answer_cases(truths: dict[str, ContractTruth], seed: int) -> Iterator[Case]:
    """Consistent documents and wrong answers: the error alone, or among what is right."""
    for name, truth in truths.items():
        if truth.label != "CLEAN":
            continue
        random = Random(f"answer/{seed}/{name}")
        possible = list(errors(truth, random))
        for way, wrong in random.sample(possible, min(2, len(possible))):
            text = wrong if random.random() < 0.4 else f"{parties(truth)} {wrong}" if "wrong " not in way else wrong
            yield Case("answer", way, name, text, (name,))


def source_cases(truths: dict[str, ContractTruth], seed: int) -> Iterator[Case]:
    """Documents that contradict themselves and answers that do not add to it."""
    for name, truth in truths.items():
        if truth.label == "CLASH":
            random = Random(f"source/{seed}/{name}")
            yield Case("source", f"faithful, {truth.clash_type}", name, repeated(truth, random), (name,))


def both_cases(truths: dict[str, ContractTruth], seed: int) -> Iterator[Case]:
    """Documents that contradict themselves and answers that add an error of another kind: the answer goes first."""
    for name, truth in truths.items():
        if truth.label != "CLASH":
            continue
        random = Random(f"both/{seed}/{name}")
        touched = {
            "secured_unsecured": ("security", "unsecured"),
            "openend_closedend": ("revolving", "closed"),
        }.get(truth.clash_type or "", ("kind", "borrower", "lender"))
        possible = [
            (way, text)
            for way, text in errors(truth, random)
            if not any(word in way for word in touched) and "kind" not in way
        ]
        if possible:
            way, wrong = random.choice(possible)
            yield Case("answer", f"beside a contradictory source: {way}", name, wrong, (name,))


def mixture_cases(truths: dict[str, ContractTruth], seed: int) -> Iterator[Case]:
    """Two consistent documents in one merged context that cannot be of one loan; the answer is of either or neither."""
    clean = [name for name, truth in truths.items() if truth.label == "CLEAN"]
    for name in clean:
        random = Random(f"mixture/{seed}/{name}")
        rivals = [other for other in clean if other != name and _disagree(truths[name], truths[other])]
        if not rivals:
            continue
        other = random.choice(rivals)
        way, text = random.choice(
            (
                ("faithful answer", faithful(truths[name], random)),
                ("answer of the other document", faithful(truths[other], random)),
                ("answer of both", f"{faithful(truths[name], random)} {faithful(truths[other], random)}"),
                ("answer that says nothing", "The context describes a loan."),
            )
        )
        order = (name, other) if random.random() < 0.5 else (other, name)
        yield Case("mixture", way, name, text, order, "ovrag")


def foreign_cases(truths: dict[str, ContractTruth], seed: int) -> Iterator[Case]:
    """Answers that carry another contract's fact which the context does not hold: the answer's own error."""
    clean = [name for name, truth in truths.items() if truth.label == "CLEAN"]
    for name in clean:
        random = Random(f"foreign/{seed}/{name}")
        secured = [other for other in clean if truths[other].collateral and other != name]
        if truths[name].security == "unsecured" and secured and random.random() < 0.4:
            thing = truths[random.choice(secured)].collateral or ""
            yield Case("answer", "another contract's security", name, f"The loan is secured by {thing}.", (name,))


def _disagree(one: ContractTruth, two: ContractTruth) -> bool:
    return {one.security, two.security} == {"secured", "unsecured"} or (
        {one.credit_form, two.credit_form} == {"open-end", "closed-end"}
    )


# --- figures ------------------------------------------------------------------------------------------------


def run(case: Case, bench: Bench, index: Chunks, said: Said) -> QueryRecord:
    """The record of one attempt."""
    index.wanted, said.text = case.context, case.answer
    return ask(ASK, case.asked, ARMS[case.arm], bench)[0]


def named(record: QueryRecord) -> str:
    """The cause that the record names, or none."""
    return record.cause or "none"


def documents_named(record: QueryRecord) -> set[str]:
    """The documents that the clashes of a mixture name."""
    verdict = record.attempts[-1].verdict
    clashes = [violation for violation in (verdict.violations if verdict else ()) if violation.cause == "mixture"]
    quoted = {triple.evidence.document_id for clash in clashes for triple in clash.triples if triple.evidence}
    return {name for name in quoted if any(name in clash.message for clash in clashes)}


def load_sets(seeds: Sequence[int]) -> Iterator[tuple[int, dict[str, Document], dict[str, ContractTruth]]]:
    """Documents and truths: generated ones by seed, then the test agreements as seed 0."""
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="ovrag-causes-") as name:
            folder = Path(name)
            truths = generate(folder, folder / "truth.json", count=CONTRACTS, seed=seed, wording="varied")
            documents = {document.id: document for document in load_all(find(folder))}
        yield seed, documents, truths
    documents, gold = {}, dict[str, ContractTruth]()
    for name in SETS:
        values = json.loads((AGREEMENTS / name / "gold.json").read_text(encoding="utf-8"))
        gold |= {key: ContractTruth.model_validate(_gold(value)) for key, value in values.items()}
        documents |= {document.id: document for document in load_all(find(AGREEMENTS / name)) if document.id in gold}
    yield 0, documents, {name: gold[name] for name in documents}


def _gold(value: dict[str, object]) -> dict[str, object]:
    """A record of the test agreements as ground truth: names and kinds as they are, unknown values left out."""
    kept = dict(value)
    for role in ("borrower", "lender"):
        party = kept.get(role)
        kept[role] = party if isinstance(party, dict) and party.get("name") else None
    kept["evidence"] = tuple(str(each) for each in value.get("evidence") or ())
    return {key: kept[key] for key in kept if kept[key] is not None}


def main() -> None:
    """Print the confusion of causes and the share named rightly."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", nargs="+", type=int, default=[9301, 9302])
    args = parser.parse_args()
    validator = Validator(load_ontology(PROJECT / "ontologies"))
    results: list[tuple[Case, QueryRecord, bool]] = []
    for seed, documents, truths in load_sets(args.seeds):
        index, said = Chunks(documents), Said()
        bench = Bench(index, Zeros(), said, reader, validator, documents, corrections=0)
        for kind in (answer_cases, source_cases, both_cases, mixture_cases, foreign_cases):
            for case in kind(truths, seed):
                record = run(case, bench, index, said)
                right = named(record) == case.planted
                if case.planted == "mixture":
                    right = right and set(case.context) == documents_named(record)
                results.append((case, record, right))
    validator.close()
    report(results)


def report(results: Sequence[tuple[Case, QueryRecord, bool]]) -> None:
    """Confusion by planted cause, shares with intervals, and each way."""
    counts = Counter((case.planted, named(record)) for case, record, _ in results)
    rows: list[tuple[object, ...]] = []
    for planted in (*CAUSES[:3], "all"):
        chosen = [right for case, _, right in results if planted in (case.planted, "all")]
        cells = (counts[planted, cause] if planted != "all" else "" for cause in CAUSES)
        rate = wilson(sum(chosen), len(chosen))
        rows.append((planted, len(chosen), *cells, f"{rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"))
    print(table(("planted", "cases", *(f"named `{cause}`" for cause in CAUSES), "named rightly"), rows))
    ways = Counter((case.planted, case.way) for case, _, _ in results)
    hits = Counter((case.planted, case.way) for case, _, right in results if right)
    print(table(("planted", "way", "named rightly"), ((*key, f"{hits[key]} of {ways[key]}") for key in sorted(ways))))


if __name__ == "__main__":
    main()
