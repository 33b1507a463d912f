"""Subjects of statements: a model's many names for one loan and one party made into one each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ovrag_core.base import Triple
from ovrag_core.ontology import Ontology, OntologyTerm, fold

LOAN = "Loan"
ROLES = {"hasBorrower": "borrower", "hasLender": "lender", "hasGuarantor": "guarantor"}
ROLE_WORDS = {
    **dict.fromkeys(("borrower", "borrowers", "obligor", "debtor", "maker", "mortgagor", "customer"), "hasBorrower"),
    **dict.fromkeys(("lender", "lenders", "creditor", "payee", "bank", "mortgagee", "issuer"), "hasLender"),
    **dict.fromkeys(("guarantor", "surety"), "hasGuarantor"),
}

_GENERIC_WORDS = """
a the this that our said above loan loans credit agreement facility note contract advance account document deal
promissory letter instrument debt main 1 one consumer commercial personal business student green secured unsecured
mortgage open closed end
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
_TITLE = re.compile(r"^(?:(?:mr|mrs|ms|miss|mx|dr|prof|messrs)\.?\s+)+(?=\S)", re.IGNORECASE)
_DESCRIPTION = re.compile(
    r"\s*(?:\(|,\s+(?:an?|the|of|whose|residing|resident|having|born|acting|as|dba|trading|with|located)\b).*$",
    re.IGNORECASE | re.DOTALL,
)


def words_of(name: str) -> str:
    """A name in words: `TermLoanA` is `Term Loan A`."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])", " ", re.sub(r"[\W_]+", " ", name))
    return " ".join(spaced.split())


def is_generic(name: str) -> bool:
    """Return True where a name of a loan tells it from no other: `the Loan`, `LoanAgreement`, `SecuredLoan`."""
    return all(word in _GENERIC for word in words_of(name).casefold().split())


def loans(triples: Iterable[Triple]) -> list[str]:
    """The loans that statements speak of, in the order of their first."""
    return list(dict.fromkeys(triple.subject for triple in triples if triple.subject_type == LOAN))


def with_loan_types(triples: Sequence[Triple], ontology: Ontology) -> list[Triple]:
    """The statements with every loan of type Loan; a narrower type becomes a statement of its own."""
    subjects = {triple.subject for triple in triples if _speaks_of_loan(triple, ontology)}
    typed: list[Triple] = []
    for triple in triples:
        if triple.subject not in subjects:
            typed.append(triple)
            continue
        typed.append(triple.model_copy(update={"subject_type": LOAN}))
        if triple.subject_type != LOAN and _is_loan(ontology.class_names.get(fold(triple.subject_type)), ontology):
            narrower = {"predicate": "rdf:type", "object": triple.subject_type, "subject_type": LOAN, "object_type": ""}
            typed.append(triple.model_copy(update=narrower))
    return typed


def _speaks_of_loan(triple: Triple, ontology: Ontology) -> bool:
    if _is_loan(ontology.class_names.get(fold(triple.subject_type)), ontology):
        return True
    if triple.predicate == "rdf:type":
        return _is_loan(ontology.class_names.get(fold(triple.object)), ontology)
    term = ontology.property_names.get(fold(triple.predicate))
    return term is not None and any(_is_loan(ontology.by_iri[iri], ontology) for iri in ontology.ends(term)[0])


def _is_loan(term: OntologyTerm | None, ontology: Ontology) -> bool:
    loan = ontology.class_names[fold(LOAN)]
    return term is not None and loan.iri in ontology.superclasses[term.iri]


def one_name_each(triples: Sequence[Triple]) -> tuple[Triple, ...]:
    """The statements with one name for each loan and each party.

    Where no two names tell loans apart, all are the one `Loan`. Parties lose titles and descriptions.
    """
    return renamed(triples, loan_names(loans(triples)) | party_names(triples))


def loan_names(names: Sequence[str]) -> dict[str, str]:
    """Each name of a loan → the one it is given."""
    telling = {fold(name): name for name in reversed(names) if not is_generic(name)}
    if len(telling) < 2:
        return dict.fromkeys(names, LOAN)
    return {name: LOAN if is_generic(name) else words_of(telling[fold(name)]).replace(" ", "") for name in names}


def party_names(triples: Iterable[Triple]) -> dict[str, str]:
    """Each name of a party → the bare name: `Ms. Ann Lee, a natural person` is `Ann Lee`."""
    return {triple.object: bare_name(triple.object) for triple in triples if triple.predicate in ROLES}


def bare_name(name: str) -> str:
    """A party's name without title and description."""
    bare = _TITLE.sub("", _DESCRIPTION.sub("", name)).strip(" ,;:\"'“”")
    return bare or name


def renamed(triples: Iterable[Triple], names: Mapping[str, str]) -> tuple[Triple, ...]:
    """The statements under other names, repetitions dropped."""
    moved = []
    for triple in triples:
        is_name = triple.predicate != "rdf:type"
        object_ = names.get(triple.object, triple.object) if is_name else triple.object
        moved.append(
            triple.model_copy(update={"subject": names.get(triple.subject, triple.subject), "object": object_})
        )
    return without_repetitions(moved)


def without_repetitions(triples: Iterable[Triple]) -> tuple[Triple, ...]:
    """The statements, of several that say the same the first."""
    unique: dict[tuple[str, str, str], Triple] = {}
    for triple in triples:
        unique.setdefault((triple.subject, triple.predicate, triple.object), triple)
    return tuple(unique.values())
