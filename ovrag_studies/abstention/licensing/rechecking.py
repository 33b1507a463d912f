"""Proofs checked a second time, by other means.

Here a chain is a SPARQL property path, and a NO by a constraint holds only where the SHACL shape behind that finds
nothing in the proof and the facts of the subject, but something as soon as the claim stands beside them.
"""

from collections.abc import Sequence
from itertools import combinations, pairwise

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import Unchecked
from ovrag_core.graph import LABEL, TYPE, EmbeddedStore, Store
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.known import Known
from ovrag_studies.abstention.knowledge.likeness import canonical, same_value
from ovrag_studies.abstention.licensing.licence import Licence, LicenceVerdict

DIFFERENT = NamedNode("http://www.w3.org/2002/07/owl#differentFrom")
_MOST = 1_000  # facts that shapes look at: one that forbids circles takes the square of their number


def recheck(licence: Licence, store: Store, domain: Domain) -> bool | None:
    """Tell whether graph and shapes bear out a YES, or a NO by a constraint that a shape backs; None for all else.

    Raises Unchecked where the graph gives no answer.
    """
    predicate = domain.predicate(licence.claim.predicate)
    known = Known(store, domain, predicate)
    says_yes = licence.verdict == LicenceVerdict.YES
    constraint = predicate.constraints.get(licence.constraint or "") if licence.verdict == LicenceVerdict.NO else None
    if not says_yes and constraint is None:
        return None
    if not all(store.ask("ASK { ?s ?p ?o }", {"s": t.subject, "p": t.predicate, "o": t.object}) for t in licence.proof):
        return False
    if constraint is not None:
        return _contradicts_it(licence, constraint.shape, known)
    return _says_it(licence, known, predicate.is_chain(licence.claim.predicate))


def _contradicts_it(licence: Licence, shape: str, known: Known) -> bool:
    claimed = known.fact(licence.claim.subject, licence.claim.object)
    proof = [triple for triple in licence.proof if triple.predicate not in (TYPE, LABEL)]
    recorded = [known.fact(licence.claim.subject, value) for value in known.values(licence.claim.subject)]
    together = list(dict.fromkeys([*proof, *recorded]))
    return not _is_broken(shape, together, known) and all(
        _is_broken(shape, facts, known, claimed) for facts in (proof, together)
    )


def _says_it(licence: Licence, known: Known, is_chain: bool) -> bool:
    proof, claim = licence.proof, licence.claim
    linked = all(step.object == next_step.subject for step, next_step in pairwise(proof))
    if not proof or not linked or (len(proof) > 1 and not is_chain):
        return False
    if proof[0].subject != claim.subject or any(step.predicate != known.iri for step in proof):
        return False
    end = proof[-1].object
    if isinstance(end, Literal):
        return isinstance(claim.object, Literal) and same_value(end, claim.object, known.predicate)
    path = f"{known.iri}+" if is_chain else f"{known.iri}"
    return end == claim.object and known.store.ask(f"ASK {{ ?s {path} ?o }}", {"s": claim.subject, "o": claim.object})


def _is_broken(shape: str, facts: Sequence[Triple], known: Known, claimed: Triple | None = None) -> bool:
    """Return True where the facts break a shape, with what is claimed beside them; Unchecked for too many facts.

    What is claimed of a chain is taken for the shortest chain there is, which a longer one breaks no less.
    """
    if len(facts) > _MOST:
        raise Unchecked(f"the claim rests on {len(facts):,} facts; shapes look at {_MOST:,} at most")
    together = [*facts, claimed] if claimed is not None and claimed not in facts else list(facts)
    data = EmbeddedStore(as_data(together, known, claimed))
    return bool(known.domain.shape_set.violations(data, [shape]))


def as_data(facts: Sequence[Triple], known: Known, claimed: Triple | None = None) -> list[Triple]:
    """Facts as the shapes see them, with what is certainly two; `claimed` among them is not recorded."""
    forms = canonical([fact.object for fact in facts if isinstance(fact.object, Literal)], known.predicate)
    objects = [forms.get(fact.object) if isinstance(fact.object, Literal) else fact.object for fact in facts]
    pairs = [(fact, object_) for fact, object_ in zip(facts, objects, strict=True) if object_ is not None]
    data = [Triple(fact.subject, fact.predicate, object_) for fact, object_ in pairs]
    nodes = {node for fact in facts for node in (fact.subject, fact.object) if isinstance(node, NamedNode)}
    for node in sorted(nodes, key=str):
        data += [Triple(node, TYPE, known.domain.class_iri(name)) for name in known.thing(node).classes]
    for left, right in sorted(_apart(facts, known, claimed), key=str):
        data += [Triple(left, DIFFERENT, right), Triple(right, DIFFERENT, left)]
    return [*data, *known.domain.hierarchy]


def _apart(facts: Sequence[Triple], known: Known, claimed: Triple | None) -> set[tuple[NamedNode, NamedNode]]:
    """Objects of one subject that are certainly two; a claimed one that may be one of the others is left alone."""
    beside: dict[NamedNode, set[NamedNode]] = {}
    for fact in facts:
        if fact.predicate == known.iri and isinstance(fact.object, NamedNode) and isinstance(fact.subject, NamedNode):
            beside.setdefault(fact.subject, set()).add(fact.object)
    distinct: set[tuple[NamedNode, NamedNode]] = set()
    for subject, objects in beside.items():
        pairs = list(combinations(sorted(objects, key=str), 2))
        alike = {pair for pair in pairs if known.why_one(*pair) is not None}
        added = claimed.object if claimed is not None and claimed.subject == subject else None
        unsure = any(added in pair for pair in alike)
        distinct |= {pair for pair in pairs if pair not in alike and not (unsure and added in pair)}
    return distinct
