"""Which contract an answer is about, told from text alone, against which contract it was written from.

    python benchmarks/identity.py [--set run varied recorded] [--run FILE] [--seeds 9106 9107]

`run`: the offline answers of a run (quotes), truth from the passages they quote. `varied`: contracts in the varied
wording, generated afresh, once with the same quoting answers and once with answers in the manner of a chat model,
worded here from the ground truth of the contract that the best chunk is of (truth: that contract). `recorded`: the
thesis's answers by GPT-4o under OVRAG_EXTERNAL_DATA, which say no truth; what is found is counted.
Each set is judged by the text and its context, and by the text alone.
"""

import argparse
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random

from ovrag_core.base import Document, Question, load_questions, load_settings
from ovrag_core.documents import find
from ovrag_core.evaluation import Estimate, Resampling, about, ratio
from ovrag_core.loans import ContractTruth, Facts, Party, documents_bench, find_details, generate
from ovrag_core.loop import ARMS, KINDS, Bench, Judgement, Shelf, ask
from ovrag_core.retrieval import load_all
from ovrag_core.runs import read_run
from tables import table

PROJECT = Path(__file__).resolve().parent.parent
EXTERNAL = Path(os.environ.get("OVRAG_EXTERNAL_DATA", PROJECT / "data" / "external"))

PLAN = Resampling(samples=2000, confidence=0.95)
CONTRACTS = 60
POOLED, SCOPED = ("plain", "ovrag"), ("plain_scoped", "ovrag_scoped", "ovrag_evidence")


@dataclass(frozen=True, slots=True)
class Case:
    """An answer to judge: what was asked, what it was written from, and which documents it is of."""

    arm: str
    asked: str
    question: str
    answer: str
    context: tuple[str, ...]
    documents: frozenset[str]

    @property
    def truth(self) -> str:
        """Asked, mixed, other or none."""
        return about(self.documents, self.asked)


# --- answers in the manner of a chat model -------------------------------------------------------------------------

_KINDS = {
    "ConsumerLoan": ("a consumer loan", "a personal loan to a consumer"),
    "CommercialLoan": ("a commercial loan", "a business loan"),
    "Mortgage": ("a mortgage", "a mortgage loan secured on real estate"),
    "StudentLoan": ("a student loan", "an education loan"),
    "SubsidizedStudentLoan": ("a subsidised student loan", "a subsidized federal-style student loan"),
    "GreenLoan": ("a green loan", "a loan for an environmental project"),
    "CardAccount": ("a credit card account", "a card account"),
}
_SIDES = {
    "natural_person": ("a person", "an individual"),
    "legal_entity": ("an organisation", "a company"),
    "financial_institution": ("an organisation", "a financial institution"),
    "government": ("an organisation", "a public body"),
}
_FORMS = (
    "Limited",
    "Ltd",
    "Ltd.",
    "LLC",
    "Inc.",
    "Inc",
    "B.V.",
    "GmbH",
    "S.A.",
    "Pty",
    "AG",
    "PLC",
    "plc",
    "Corporation",
)


def name(party: Party, random: Random) -> str:
    """A party as a chat model might call it: in full, without its form, by title and surname, in capitals."""
    words = party.name.split()
    ways = [party.name] * 4
    if party.kind == "natural_person":
        ways += [f"{random.choice(('Mr.', 'Ms.'))} {words[-1]}", f"{words[0]} {words[-1]}", f"{words[-1]}, {words[0]}"]
    else:
        short = " ".join(word for word in words if word.strip(",") not in _FORMS)
        ways += [short, short, party.name.upper()]
    return random.choice(ways)


def side(party: Party, random: Random) -> str:
    """What sort of party it is."""
    return random.choice(_SIDES[party.kind or "legal_entity"])


def amount(value: float, currency: str, random: Random) -> str:
    """An amount in one of many formats."""
    exact = Decimal(str(value)).quantize(Decimal("0.01"))
    signs = {"USD": "$", "GBP": "£", "EUR": "€", "INR": "₹", "AUD": "A$", "CAD": "C$"}
    sign = signs.get(currency, f"{currency} ")
    ways = [f"{currency} {exact:,}", f"{sign}{exact:,.0f}" if exact == int(exact) else f"{sign}{exact:,}"]
    ways += [f"{exact:,.2f} {currency}", f"approximately {sign}{exact:,}"]
    if exact >= 1_000_000:
        ways.append(f"{sign}{exact / 1_000_000:.2f} million")
    return random.choice(ways)


def rate(text: str, random: Random) -> str:
    """A rate in one of a few formats."""
    percent = Decimal(text.rstrip("%"))
    return random.choice((f"{percent}%", f"{percent:.2f}%", f"{percent} per cent", f"{percent} percent per annum"))


def day(iso: str, random: Random) -> str:
    """A date in one of a few formats."""
    when = date.fromisoformat(iso)
    return random.choice((f"{when:%d %B %Y}", f"{when:%B} {when.day}, {when.year}", iso, f"{when:%B %Y}"))


def chat_answer(question: str, facts: Facts, random: Random) -> str:
    """An answer to one of the five questions worded freely from the facts."""
    say = {"Q1": _kind, "Q2": _parties, "Q3": _security, "Q4": _repayment, "Q5": _summary}[question]
    lead = random.choice(("", "", "Based on the context, ", "According to the document, ", "Certainly. "))
    text = say(facts, random)
    return f"{lead}{text[0].lower() if lead.endswith(', ') and text[:2] != 'I ' else text[0]}{text[1:]}"


def _kind(facts: Facts, random: Random) -> str:
    kind = random.choice(_KINDS[facts.loan_types[0]])
    texts = [f"The loan described in this document is {kind}.", f"This is {kind}."]
    if facts.borrower:
        texts += [
            f"The document describes {kind} made to {name(facts.borrower, random)}.",
            f"It is {kind}, since it was granted to {name(facts.borrower, random)}, {side(facts.borrower, random)}.",
        ]
    if facts.principal:
        texts.append(f"This is {kind} of {amount(facts.principal.amount, facts.principal.currency, random)}.")
    return random.choice(texts)


def _parties(facts: Facts, random: Random) -> str:
    assert facts.borrower and facts.lender
    borrower, lender = name(facts.borrower, random), name(facts.lender, random)
    one, two = side(facts.borrower, random), side(facts.lender, random)
    return random.choice(
        (
            f"The borrower is {borrower}, which is {one}; the lender is {lender}, {two}.",
            f"- **Borrower:** {borrower} ({one})\n- **Lender:** {lender} ({two})",
            f"{lender} ({two}) lends to {borrower}, {one}.",
            f"The borrower in this agreement is {borrower} and the lender is {lender}. The borrower is {one}, "
            f"the lender {two}.",
        )
    )


def _security(facts: Facts, random: Random) -> str:
    if facts.collateral:
        thing = facts.collateral[0].lower() + facts.collateral[1:]
        return random.choice(
            (
                f"The loan is secured. The collateral is {thing}.",
                f"It is a secured loan, backed by {thing}.",
                f"Secured, by: {facts.collateral}",
            )
        )
    if facts.security == "unsecured":
        return random.choice(("The loan is unsecured; no collateral is pledged.", "It is unsecured."))
    return random.choice(("The loan is secured, but the collateral is not named.", "The loan is secured."))


def _repayment(facts: Facts, random: Random) -> str:
    form = (
        "revolving: amounts repaid can be drawn again"
        if facts.credit_form == "open-end"
        else "for a fixed term and may not be redrawn"
    )
    ends = f" It must be repaid in full by {day(facts.maturity, random)}." if facts.maturity else ""
    return f"The credit is {form}.{ends}"


def _summary(facts: Facts, random: Random) -> str:
    assert facts.borrower and facts.lender
    rows = [
        (
            "Principal amount",
            amount(facts.principal.amount, facts.principal.currency, random) if facts.principal else "",
        ),
        ("Interest rate", rate(facts.interest_rate, random) if facts.interest_rate else "variable"),
        ("Kind", random.choice(_KINDS[facts.loan_types[0]])),
        ("Borrower", name(facts.borrower, random)),
        ("Lender", name(facts.lender, random)),
        ("Security", facts.collateral or facts.security),
    ]
    if random.random() < 0.5:
        return "Here are the key terms:\n\n" + "\n".join(f"- **{label}:** {value}" for label, value in rows if value)
    found = dict(rows)
    return (
        f"{found['Lender']} lends {found['Principal amount'] or 'a sum'} to {found['Borrower']} at "
        f"{found['Interest rate']} interest. It is {found['Kind']}; security: {found['Security']}."
    )


# --- cases -----------------------------------------------------------------------------------------------------------


def run_cases(path: Path, shelf: Shelf) -> Iterator[Case]:
    """The answers of a recorded run of ours."""
    for record in read_run(path):
        if record.answer is None:
            continue
        context = tuple(shelf.documents[hit.document_id].text[hit.start : hit.end] for hit in record.retrieved)
        sources = frozenset(passage.document_id for passage in record.answer.evidence)
        yield Case(record.arm, record.document_id, record.question_id, record.answer.text, context, sources)


def varied_cases(bench: Bench, truths: dict[str, ContractTruth], seed: int) -> Iterator[tuple[str, Case]]:
    """Quoting and chat-like answers of the pooled and the scoped arm."""
    for asked in bench.documents:
        for question in load_questions(PROJECT / "data" / "questions.yaml"):
            for arm in ("plain", "plain_scoped"):
                record, _ = ask(Question(id=question.id, text=question.text), asked, ARMS[arm], bench)
                if record.answer is None or not record.retrieved:
                    continue
                context = tuple(bench.index.chunk(hit.chunk_id).text for hit in record.retrieved)
                sources = frozenset(passage.document_id for passage in record.answer.evidence)
                yield "quoting", Case(arm, asked, question.id, record.answer.text, context, sources)
                random = Random(f"chat/{seed}/{asked}/{question.id}/{arm}")
                retrieved = list(dict.fromkeys(hit.document_id for hit in record.retrieved))
                first = truths[retrieved[0]]
                if len(retrieved) > 1 and random.random() < 0.15 and question.id in ("Q2", "Q5"):
                    facts = first.model_copy(update={"lender": truths[retrieved[1]].lender})
                    documents = frozenset(retrieved[:2])
                else:
                    facts, documents = first, frozenset(retrieved[:1])
                yield (
                    "chat-like",
                    Case(arm, asked, question.id, chat_answer(question.id, facts, random), context, documents),
                )


# --- figures ---------------------------------------------------------------------------------------------------------


def judge(case: Case, shelf: Shelf, how: str) -> Judgement:
    """The judgement with or without the context."""
    return shelf.judge(case.answer, case.asked, context=case.context if how == "text and context" else ())


def rates(cases: Sequence[Case], found: Sequence[Judgement]) -> tuple[Estimate, Estimate]:
    """Precision and recall of `other`, intervals over asked documents."""
    said: dict[str, list[int]] = {}
    true: dict[str, list[int]] = {}
    for case, judged in zip(cases, found, strict=True):
        hit = case.truth == "other" == judged.about
        for sums, counts in ((said, judged.about == "other"), (true, case.truth == "other")):
            row = sums.setdefault(case.asked, [0, 0])
            row[0] += hit
            row[1] += counts
    return tuple(ratio([r[0] for r in t.values()], [r[1] for r in t.values()], PLAN) for t in (said, true))


def report(title: str, cases: Sequence[Case], shelf: Shelf) -> None:
    """Confusion and rates of a set of cases, both ways of judging."""
    rows, confusion = [], []
    for how in ("text and context", "text alone"):
        found = [judge(case, shelf, how) for case in cases]
        precision, recall = rates(cases, found)
        alarms = sum(judged.about == "other" != case.truth for case, judged in zip(cases, found, strict=True))
        rows.append((f"{title}, by {how}", len(cases), show(precision), show(recall), alarms))
        counts = Counter((case.truth, judged.about) for case, judged in zip(cases, found, strict=True))
        confusion += [(f"{title}, by {how}", truth, *(counts[truth, kind] for kind in KINDS)) for truth in KINDS[:3]]
    print(table(("about other contracts only", "answers", "precision", "recall", "false alarms"), rows))
    print(table(("answers", "truth", *(f"judged `{kind}`" for kind in KINDS)), confusion))


def show(estimate: Estimate) -> str:
    """A rate with its interval."""
    bounds = f" [{estimate.low:.3f}, {estimate.high:.3f}]" if estimate.low is not None else ""
    return f"{estimate.value:.3f}{bounds}" if estimate.value is not None else "n/a"


def shelf_of(documents: Iterable[Document]) -> Shelf:
    """A shelf of these documents."""
    return Shelf({document.id: document for document in documents}, find_details)


def report_arms(title: str, cases: Sequence[Case], shelf: Shelf) -> None:
    """Pooled arms by themselves, then the scoped ones: false alarms."""
    for group, arms in (("pooled arms", POOLED), ("scoped arms", SCOPED)):
        chosen = [case for case in cases if case.arm in arms]
        if chosen:
            report(f"{title}, {group}", chosen, shelf)


def measure_run(path: Path) -> None:
    """The offline run."""
    if not path.exists():
        print(f"{path} is absent; `ovrag run` makes it")
        return
    shelf = shelf_of(load_all(find(PROJECT / "data" / "contracts")))
    report_arms(path.stem, list(run_cases(path, shelf)), shelf)


def measure_varied(seeds: Sequence[int]) -> None:
    """Fresh contracts in the varied wording."""
    settings = load_settings(PROJECT / "params.yaml")
    for seed in seeds:
        cases: dict[str, list[Case]] = {}
        with tempfile.TemporaryDirectory(prefix="ovrag-identity-") as name:
            folder = Path(name)
            truths = generate(folder, folder / "truth.json", count=CONTRACTS, seed=seed, wording="varied")
            documents = load_all(find(folder))
        bench = documents_bench(settings, documents)
        shelf = shelf_of(bench.documents.values())
        for kind, case in varied_cases(bench, truths, seed):
            cases.setdefault(f"{kind} answers, seed {seed}", []).append(case)
        for title in [title for title in cases if title.endswith(f"seed {seed}")]:
            report_arms(title, cases[title], shelf)


def measure_recorded() -> None:
    """The thesis's recorded answers: what they are found to be about."""
    folder = EXTERNAL / "loan_thesis"
    if not folder.exists():
        print(f"{folder} is absent: skipped")
        return
    shelf = shelf_of(replace(document, id=document.id[-3:]) for document in load_all(find(folder / "contracts")))
    rows = [json.loads(line) for line in (folder / "recorded_queries.jsonl").read_text(encoding="utf-8").splitlines()]
    answered = [row for row in rows if row["answer"] and not row["error"]]
    found = []
    for arm in sorted({row["condition"] for row in answered}):
        chosen = [(row, shelf.judge(row["answer"], row["contract_id"])) for row in answered if row["condition"] == arm]
        counts = Counter(judged.about for _, judged in chosen)
        named = [judged for _, judged in chosen if _parties_named(judged)]
        others = sum(not any(sign.kind == "name" for sign in judged.own) for judged in named)
        found.append((f"arm {arm}", len(chosen), *(counts[kind] for kind in KINDS), len(named), others))
    judged_as = (f"judged `{kind}`" for kind in KINDS)
    print(table(("recorded answers", "answers", *judged_as, "name parties", "only other contracts'"), found))


def _parties_named(judged: Judgement) -> bool:
    return any(sign.kind == "name" for sign in (*judged.own, *judged.foreign, *judged.unknown))


def main() -> None:
    """Print the figures of the sets asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--set", nargs="+", default=["run", "varied", "recorded"], choices=["run", "varied", "recorded"]
    )
    parser.add_argument("--run", type=Path, default=PROJECT / "data" / "runs" / "main.jsonl")
    parser.add_argument("--seeds", nargs="+", type=int, default=[9106, 9107])
    args = parser.parse_args()
    if "run" in args.set:
        measure_run(args.run)
    if "varied" in args.set:
        measure_varied(args.seeds)
    if "recorded" in args.set:
        measure_recorded()


if __name__ == "__main__":
    main()
