"""A few rivers and their mouths, and an embedder of words, for the tests of systems that answer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy
from numpy.typing import NDArray
from pyoxigraph import NamedNode

from ovrag_core.graph import EmbeddedStore, open_graph
from ovrag_studies.abstention.cards.card import GOLD, LABELS, Card, CardClaim, Gold
from ovrag_studies.abstention.knowledge.domain import Domain, load_domain

PROJECT = Path(__file__).resolve().parent.parent
PLACE = "http://example.org/place/"
MOUTHS = [
    ("Main", "Rhine", "river"),
    ("Neckar", "Rhine", "river"),
    ("Rhine", "North Sea", "sea"),
    ("Tauber (Main tributary)", "Main", "river"),
    ("Elbe", "North Sea", "sea"),
    ("Saale", "Elbe", "river"),
    ("Saale (Leine tributary)", "Leine", "river"),
    ("Leine", "Aller", "river"),
    ("Isar", "Danube", "river"),
    ("Danube", "Black Sea", "sea"),
]


class Words:
    """Vectors of hashed words, of unit length."""

    name = "words"

    def embed(self, texts: Sequence[str]) -> NDArray[numpy.float32]:
        vectors = numpy.full((len(texts), 256), 1e-3, dtype=numpy.float32)
        for row, text in enumerate(texts):
            for word in text.casefold().split():
                vectors[row, hashlib.sha256(word.strip("?.,").encode()).digest()[0]] += 1
        return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def iri(name: str) -> str:
    return PLACE + name.replace(" ", "_")


def rivers() -> Domain:
    return load_domain(PROJECT / "ontologies" / "domains" / "rivers.yaml")


def graph(folder: Path, hidden: Sequence[str] = ()) -> EmbeddedStore:
    lines = ["subject\tsubject_label\tobject\tobject_label\tobject_kind"]
    lines += [f"{iri(one)}\t{one}\t{iri(other)}\t{other}\t{kind}" for one, other, kind in MOUTHS]
    path = folder / "rivers.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return opened(path, map(iri, hidden))


def opened(path: Path, hidden: Iterable[str]) -> EmbeddedStore:
    """The graph of a table without the facts of hidden subjects."""
    domain = rivers()
    store = open_graph(path, domain.table)
    assert isinstance(store, EmbeddedStore)
    pairs = [(NamedNode(each), predicate.node) for each in hidden for predicate in domain.predicates.values()]
    return store.without(fact for pair in pairs for fact in store.triples(*pair))


def card(subject: str, value: str, gold: Gold, question: str | None = None, *, id_: str = "", pred: str = "") -> Card:
    label = dict(zip(GOLD, LABELS, strict=True))[gold]
    return Card(
        id_ or f"{label}_{subject}_{value}",
        f"{label}_direct",
        gold,
        question or f"Does {subject} flow into {value}?",
        CardClaim(iri(subject), pred or "hasMouth", iri(value)),
    )
