"""Facts of facilities, as their triples state them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ovrag_core.base import Triple
from ovrag_core.loans.loan_facts import Facility, Money, Party, PartyKind
from ovrag_core.loans.reading.reader import KINDS, PARTY_CLASSES, form_of, security_of
from ovrag_core.loans.reading.subjects import loans, words_of
from ovrag_core.ontology import Ontology, fold, read_value

# The narrower kind first: a bank is a legal entity too.
_NARROW_FIRST: tuple[PartyKind, ...] = ("government", "financial_institution", "natural_person", "legal_entity")


def facilities_of(triples: Sequence[Triple], ontology: Ontology) -> tuple[Facility, ...]:
    """A facility for each loan the triples speak of, in their order; of several values of one fact the first."""
    return tuple(_facility(subject, triples, ontology) for subject in loans(triples))


def _facility(subject: str, triples: Sequence[Triple], ontology: Ontology) -> Facility:
    mine = [triple for triple in triples if triple.subject == subject]
    classes = _classes((triple.object for triple in mine if triple.predicate == "rdf:type"), ontology)
    rate = _lexical(_values(mine, "hasInterestRate"), "rate")
    maturity = _lexical(_values(mine, "hasMaturityDate"), "date")
    months = _lexical(_values(mine, "hasTerm"), "months")
    return Facility(
        name=words_of(subject),
        subject=subject,
        loan_types=tuple(kind for kind in KINDS if kind in classes),
        security=security_of(classes),
        credit_form=form_of(classes),
        borrower=_first_party(mine, triples, "hasBorrower", ontology),
        lender=_first_party(mine, triples, "hasLender", ontology),
        guarantors=tuple(_party(name, triples, ontology) for name in _values(mine, "hasGuarantor")),
        principal=_money(_values(mine, "hasPrincipalAmount")),
        interest_rate=f"{rate}%" if rate else None,
        maturity=maturity[:10] if maturity else None,
        collateral=next(iter(_values(mine, "hasCollateral")), None),
        purpose=next(iter(_values(mine, "hasPurpose")), None),
        term_months=round(float(months)) if months else None,
    )


def _values(triples: Iterable[Triple], predicate: str) -> list[str]:
    return [triple.object for triple in triples if triple.predicate == predicate]


def _classes(names: Iterable[str], ontology: Ontology) -> frozenset[str]:
    """Names of the classes and of all above them."""
    terms = [ontology.class_names.get(fold(name)) for name in names]
    above = {iri for term in terms if term for iri in ontology.superclasses[term.iri]}
    return frozenset(ontology.by_iri[iri].name for iri in above if iri in ontology.by_iri)


def _first_party(mine: Sequence[Triple], triples: Sequence[Triple], predicate: str, ontology: Ontology) -> Party | None:
    names = _values(mine, predicate)
    return _party(names[0], triples, ontology) if names else None


def _party(name: str, triples: Sequence[Triple], ontology: Ontology) -> Party:
    type_names = [triple.object for triple in triples if triple.subject == name and triple.predicate == "rdf:type"]
    type_names += [triple.object_type for triple in triples if triple.object == name]
    classes = _classes(type_names, ontology)
    return Party(name=name, kind=next((kind for kind in _NARROW_FIRST if PARTY_CLASSES[kind] in classes), None))


def _money(values: Sequence[str]) -> Money | None:
    for text in values:
        if (value := read_value(text, "amount")) and value.currency:
            return Money(amount=float(value.lexical), currency=value.currency)
    return None


def _lexical(values: Iterable[str], kind: str) -> str | None:
    return next((value.lexical for text in values if (value := read_value(text, kind))), None)
