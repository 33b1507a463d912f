"""One question asked of a graph: how it is read, what may be said of it, and the proof as sentences and triples."""

from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import Unchecked
from ovrag_core.graph import LABEL, TYPE, Store
from ovrag_core.text import one_line
from ovrag_studies.abstention.knowledge.domain import Domain, Wording
from ovrag_studies.abstention.knowledge.likeness import local_name
from ovrag_studies.abstention.licensing.licence import CHAIN, COMPLETE, Licence, LicenceVerdict, license_any, recheck
from ovrag_studies.abstention.parsing.claim_reader import QuestionReading, read_claim
from ovrag_studies.abstention.parsing.name_index import Names

OPPOSITE = {LicenceVerdict.YES: LicenceVerdict.NO, LicenceVerdict.NO: LicenceVerdict.YES}
_OWN = {
    CHAIN: "the chain is recorded down to its end, and does not pass what was asked about",
    COMPLETE: "all facts of this kind are recorded, and what was asked about is not among them",
}


@dataclass(frozen=True)
class Asked:
    """A question with its reading and licence; `licence` is None where no claim could be read."""

    question: str
    reading: QuestionReading
    licence: Licence | None
    domain: Domain
    names: Names

    @property
    def verdict(self) -> LicenceVerdict:
        """Verdict on the question; one that asks whether something is *not* so turns YES and NO round."""
        if self.licence is None:
            return LicenceVerdict.UNKNOWN
        verdict = self.licence.verdict
        return OPPOSITE.get(verdict, verdict) if self.reading.negated else verdict

    @cached_property
    def claim(self) -> str:
        """The claim as a sentence; empty where none was read."""
        if self.licence is None:
            return ""
        claim, predicate = self.licence.claim, self.domain.predicate(self.licence.claim.predicate)
        wording = predicate.chain if predicate.is_chain(claim.predicate) and predicate.chain else predicate
        return wording.state(self.names.called(claim.subject), self.names.called(claim.object), claim.predicate)

    @property
    def constraint(self) -> str:
        """Sentence on what the claim and the graph break together; empty where nothing is broken."""
        if self.licence is None or self.licence.constraint is None:
            return ""
        return constraint_sentence(self.licence.claim.predicate, self.licence.constraint, self.domain)

    @property
    def lacking(self) -> str:
        """Reason why nothing, or nothing certain, may be said; empty for YES and NO."""
        if self.licence is None:
            return self.reading.reason
        if self.licence.verdict in OPPOSITE:
            return ""
        return "; ".join(filter(None, (self.reading.reason, self.licence.lacking)))

    def proof(self) -> list[tuple[str, str]]:
        """Each triple of the proof, as N-Triples write it and as a sentence."""
        triples = self.licence.proof if self.licence else ()
        return [(written(triple), sentence(triple, self.domain, self.names)) for triple in triples]


def ask(question: str, store: Store, domain: Domain, names: Names) -> Asked:
    """The question read as a claim about the graph, and its licence; several claims are licensed where they agree."""
    reading = read_claim(question, names, domain)
    claims = (reading.claim,) if reading.claim is not None else reading.candidates
    return Asked(question, reading, license_any(claims, store, domain) if claims else None, domain, names)


def is_borne_out(asked: Asked, store: Store) -> bool | None:
    """Check by other means whether the licence holds; None where there is nothing to check."""
    try:
        return recheck(asked.licence, store, asked.domain) if asked.licence else None
    except Unchecked:
        return None


def as_record(asked: Asked) -> dict[str, object]:
    """The answer as plain values, for JSON."""
    licence, reading = asked.licence, asked.reading
    claim = licence and {
        "subj": licence.claim.subject.value,
        "pred": licence.claim.predicate,
        "obj": licence.claim.object.value,
        "sentence": asked.claim,
    }
    return {
        "question": asked.question,
        "verdict": str(asked.verdict),
        "negated": reading.negated,
        "claim": claim,
        "confidence": round(reading.confidence, 4),
        "proof": [{"triple": triple, "sentence": text} for triple, text in asked.proof()],
        "constraint": licence and licence.constraint and {"name": licence.constraint, "says": asked.constraint},
        "lacking": asked.lacking,
    }


def as_text(asked: Asked) -> str:
    """The answer for people: the verdict, the claim, and its proof with the triples; nothing moves the cursor."""
    lines = [f"{asked.verdict}: {asked.question}"]
    if asked.claim:
        negated = ", which the question denies" if asked.reading.negated else ""
        lines.append(f"claim: {asked.claim}{negated}")
    if asked.constraint and asked.licence:
        lines.append(f"breaks {asked.licence.constraint}: {asked.constraint}")
    for triple, text in asked.proof():
        lines += [f"proof: {text}", f"       {triple}"]
    if asked.lacking:
        lines.append(f"lacking: {asked.lacking}")
    return "\n".join(line[: len(line) - len(line.lstrip())] + one_line(line) for line in lines)


def written(triple: Triple) -> str:
    """A triple as N-Triples write it."""
    return f"{triple.subject} {triple.predicate} {triple.object} ."


def sentence(triple: Triple, domain: Domain, names: Names) -> str:
    """A triple in words: a fact as the domain states it, a class, or a name."""
    subject, object_ = _node(triple.subject), _node(triple.object)
    if triple.predicate == TYPE:
        labels = [c.labels for name, c in domain.classes.items() if domain.class_iri(name) == object_ and c.labels]
        return f"{names.called(subject)} is recorded as {labels[0][0] if labels else names.called(object_)}"
    if triple.predicate == LABEL:
        return f"{local_name(subject.value)} is called {object_.value}"
    predicate = next((p for p in domain.predicates.values() if p.iri == triple.predicate.value), None)
    wording, relation = predicate or Wording(), local_name(triple.predicate.value)
    return wording.state(names.called(subject), names.called(object_), relation)


def constraint_sentence(predicate: str, constraint: str, domain: Domain) -> str:
    """Return the sentence of a constraint of the predicate, or of its chain."""
    declared = domain.predicate(predicate).constraints.get(constraint)
    return declared.says if declared else _OWN.get(constraint, constraint)


def _node(term: object) -> NamedNode | Literal:
    return term if isinstance(term, NamedNode | Literal) else Literal(str(term))
