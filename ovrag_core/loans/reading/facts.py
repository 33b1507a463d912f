"""Facts of facilities, as their triples state them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal

from ovrag_core.base import Triple
from ovrag_core.loans.loan_facts import Facility, Money, Party, PartyKind
from ovrag_core.loans.reading.subjects import loans, words_of
from ovrag_core.ontology import Ontology, fold, read_value

KINDS = (
    "ConsumerLoan", "CommercialLoan", "Mortgage", "StudentLoan", "SubsidizedStudentLoan", "GreenLoan", "CardAccount",
)  # fmt: skip
PARTY_CLASSES: dict[PartyKind, str] = {  # the narrower first: a bank is a legal entity too
    "government": "GovernmentBody",
    "financial_institution": "FinancialInstitution",
    "natural_person": "NaturalPerson",
    "legal_entity": "LegalEntity",
}

# By whether a loan is of either of two opposite classes.
_SECURITY: dict[tuple[bool, bool], Literal["secured", "unsecured", "contradictory", "unstated"]] = {
    (True, False): "secured", (False, True): "unsecured", (True, True): "contradictory", (False, False): "unstated",
}  # fmt: skip
_FORM: dict[tuple[bool, bool], Literal["open-end", "closed-end", "contradictory", "unstated"]] = {
    (True, False): "open-end", (False, True): "closed-end", (True, True): "contradictory", (False, False): "unstated",
}  # fmt: skip

Classes = Callable[[Iterable[str]], Collection[str]]  # all classes of what is of some


def facilities_of(triples: Sequence[Triple], ontology: Ontology) -> tuple[Facility, ...]:
    """A facility for each loan the triples speak of, in their order; of several values of one fact the first."""

    def classes(names: Iterable[str]) -> frozenset[str]:
        terms = [ontology.class_names.get(fold(name)) for name in names]
        above = {iri for term in terms if term for iri in ontology.superclasses[term.iri]}
        return frozenset(ontology.by_iri[iri].name for iri in above if iri in ontology.by_iri)

    return tuple(facility_of(subject, words_of(subject), triples, classes) for subject in loans(triples))


def facility_of(subject: str, name: str, triples: Sequence[Triple], classes_of: Classes = frozenset) -> Facility:
    """The facility `subject` as the triples state it."""
    mine = [triple for triple in triples if triple.subject == subject]
    classes = classes_of(triple.object for triple in mine if triple.predicate == "rdf:type")
    rate = _lexical(_values(mine, "hasInterestRate"), "rate")
    maturity = _lexical(_values(mine, "hasMaturityDate"), "date")
    months = _lexical(_values(mine, "hasTerm"), "months")
    borrower, lender, guarantors = (
        [_party(name, triples, classes_of) for name in _values(mine, predicate)]
        for predicate in ("hasBorrower", "hasLender", "hasGuarantor")
    )
    return Facility(
        name=name,
        subject=subject,
        loan_types=tuple(kind for kind in KINDS if kind in classes),
        security=_SECURITY["SecuredLoan" in classes, "UnsecuredLoan" in classes],
        credit_form=_FORM["OpenEndCredit" in classes, "ClosedEndCredit" in classes],
        borrower=next(iter(borrower), None),
        lender=next(iter(lender), None),
        guarantors=tuple(guarantors),
        principal=_money(_values(mine, "hasPrincipalAmount")),
        interest_rate=f"{rate}%" if rate else None,
        maturity=maturity[:10] if maturity else None,
        collateral=next(iter(_values(mine, "hasCollateral")), None),
        purpose=next(iter(_values(mine, "hasPurpose")), None),
        term_months=round(float(months)) if months else None,
    )


def _values(triples: Iterable[Triple], predicate: str) -> list[str]:
    return [triple.object for triple in triples if triple.predicate == predicate]


def _party(name: str, triples: Sequence[Triple], classes_of: Classes) -> Party:
    type_names = [triple.object for triple in triples if triple.subject == name and triple.predicate == "rdf:type"]
    type_names += [triple.object_type for triple in triples if triple.object == name]
    classes = classes_of(type_names)
    return Party(name=name, kind=next((kind for kind, type_ in PARTY_CLASSES.items() if type_ in classes), None))


def _money(values: Sequence[str]) -> Money | None:
    for text in values:
        if (value := read_value(text, "amount")) and value.currency:
            return Money(amount=float(value.lexical), currency=value.currency)
    return None


def _lexical(values: Iterable[str], kind: str) -> str | None:
    return next((value.lexical for text in values if (value := read_value(text, kind))), None)
