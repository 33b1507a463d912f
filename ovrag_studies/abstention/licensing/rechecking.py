"""Licences checked a second time, by other means: the proof is asked of the graph, and the domain's shapes judge it.

`license_claim` walks the graph by itself. Here the triples of a proof are asked one by one, chains are SPARQL property
paths, and a NO holds only where the SHACL shape behind the constraint finds nothing in the proof and the facts of the
subject, but something as soon as the claim stands beside them, or beside the proof alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base.errors import Unchecked
from ovrag_core.graph import LABEL, TYPE, EmbeddedStore, Store
from ovrag_core.graph.shapes import SECONDS, Violation
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.known import Known, Value, torn
from ovrag_studies.abstention.knowledge.likeness import canonical, same_value
from ovrag_studies.abstention.licensing.licence import CHAIN, COMPLETE, Licence, Verdict
from ovrag_studies.abstention.parsing.claim_reader import Claim

DIFFERENT = NamedNode("http://www.w3.org/2002/07/owl#differentFrom")
_ASK = "ASK { ?s ?p ?o }"
_MOST = 1_000  # facts that shapes look at: one that forbids circles takes the square of their number


def recheck(licence: Licence, store: Store, domain: Domain) -> bool:
    """Whether graph and shapes bear the licence out. Raises Unchecked where the graph gives no answer."""
    claim, predicate = licence.claim, domain.predicate(licence.claim.predicate)
    known = Known(store, domain, predicate)
    if not all(store.ask(_ASK, {"s": part.subject, "p": part.predicate, "o": part.object}) for part in licence.proof):
        return False
    is_chain = predicate.is_chain(claim.predicate)
    if licence.verdict == Verdict.YES:
        return _says_it(licence, known, is_chain)
    if licence.verdict == Verdict.UNKNOWN:
        return _is_open(claim, known, is_chain)
    if licence.verdict == Verdict.UNCHECKED:
        around = _around(claim, known)
        nodes = {claim.subject, claim.object, *(part for fact in around for part in (fact.subject, fact.object))}
        is_torn = any(isinstance(node, NamedNode) and torn(node, known) for node in nodes)
        return is_torn or bool(_broken(around, known))
    return _contradicts_it(licence, known, is_chain)


def _contradicts_it(licence: Licence, known: Known, is_chain: bool) -> bool:
    constraint = known.predicate.constraints.get(licence.constraint or "")
    if licence.constraint == CHAIN:
        return is_chain and _ends_elsewhere(licence.claim, known)
    if constraint is None:
        return licence.constraint == COMPLETE and known.predicate.complete and _is_none_of(licence.claim, known)
    shapes, claimed = [constraint.shape], known.fact(licence.claim.subject, licence.claim.object)
    proof = [part for part in licence.proof if part.predicate not in (TYPE, LABEL)]
    recorded = [known.fact(licence.claim.subject, value) for value in known.values(licence.claim.subject)]
    together = list(dict.fromkeys([*proof, *recorded]))
    return not _broken(together, known, shapes) and all(
        _broken(facts, known, shapes, claimed) for facts in (proof, together)
    )


def _says_it(licence: Licence, known: Known, is_chain: bool) -> bool:
    proof, claim = licence.proof, licence.claim
    if not proof or (len(proof) > 1 and not is_chain):
        return False
    if any(one.object != following.subject for one, following in pairwise(proof)):
        return False
    if proof[0].subject != claim.subject or any(part.predicate != known.iri for part in proof):
        return False
    end = proof[-1].object
    if isinstance(end, Literal) and isinstance(claim.object, Literal):
        return same_value(end, claim.object, known.predicate)
    return end == claim.object and _reaches(claim.subject, claim.object, known, is_chain)


def _is_open(claim: Claim, known: Known, is_chain: bool) -> bool:
    if _reaches(claim.subject, claim.object, known, is_chain):
        return False
    if known.predicate.complete and _is_none_of(claim, known):
        return False
    kinds = ("acyclic",) if is_chain else None
    shapes = [each.shape for each in known.predicate.constraints.values() if kinds is None or each.kind in kinds]
    around = _around(claim, known)
    claimed = known.fact(claim.subject, claim.object)
    added = _broken(around, known, shapes, claimed) - _broken(around, known, shapes)
    return not added and not (is_chain and _ends_elsewhere(claim, known))


def _ends_elsewhere(claim: Claim, known: Known) -> bool:
    """Whether the chain is recorded down to where chains end, and passes nothing that the asked thing may be."""
    chain, functional = known.predicate.chain, next(known.constraints("functional"), None)
    if chain is None or functional is None or _reaches(claim.subject, claim.object, known, is_chain=True):
        return False
    passed = [claim.subject, *_objects(f"SELECT DISTINCT ?o WHERE {{ ?s {known.iri}+ ?o }}", claim.subject, known)]
    for node in passed:
        if known.why_one(node, claim.object) is not None or _is_vague(node, known):
            return False
        if node != claim.subject and any(known.is_a(known.thing(node), end) for end in chain.ends_in):
            continue
        onward = _objects(f"SELECT ?o WHERE {{ ?s {known.iri} ?o }}", node, known)
        if not any(known.is_a(known.thing(each), functional[1].of) for each in onward):
            return False
    return not _broken(_facts_below([claim.subject], known), known)


def _is_none_of(claim: Claim, known: Known) -> bool:
    recorded = _objects(f"SELECT ?o WHERE {{ ?s {known.iri} ?o }}", claim.subject, known)
    if not recorded or _is_vague(claim.subject, known):
        return False
    return all(known.why_one(each, claim.object) is None for each in recorded)


def _is_vague(subject: Value, known: Known) -> bool:
    """Whether something without a name is recorded of a thing."""
    query = f"ASK {{ ?s {known.iri} ?o FILTER(isBlank(?o)) }}"
    return isinstance(subject, NamedNode) and known.store.ask(query, {"s": subject})


def _reaches(subject: NamedNode, value: Value, known: Known, is_chain: bool) -> bool:
    path = f"{known.iri}+" if is_chain else f"{known.iri}"
    return known.store.ask(f"ASK {{ ?s {path} ?o }}", {"s": subject, "o": value})


def _objects(query: str, subject: Value, known: Known) -> list[Value]:
    rows = known.store.select(query, {"s": subject}) if isinstance(subject, NamedNode) else []
    found = {each for row in rows if isinstance(each := row.get("o"), NamedNode | Literal)}
    return sorted(found, key=str)


def _around(claim: Claim, known: Known) -> list[Triple]:
    """The facts below the subject and the object, and those under predicates that exclude the claimed one."""
    starts = [claim.subject, *([claim.object] if isinstance(claim.object, NamedNode) else [])]
    facts = _facts_below(starts, known)
    for _, other in known.excluding():
        facts += [other.fact(claim.subject, value) for value in other.values(claim.subject)]
    return facts


def _facts_below(starts: Sequence[NamedNode], known: Known) -> list[Triple]:
    nodes: dict[Value, None] = dict.fromkeys(starts)
    for start in starts:
        nodes.update(dict.fromkeys(_objects(f"SELECT DISTINCT ?o WHERE {{ ?s {known.iri}+ ?o }}", start, known)))
    onward = f"SELECT ?o WHERE {{ ?s {known.iri} ?o }}"
    things = [node for node in nodes if isinstance(node, NamedNode)]
    return [known.fact(node, value) for node in things for value in _objects(onward, node, known)]


def _broken(
    facts: Sequence[Triple], known: Known, shapes: Sequence[str] | None = None, claimed: Triple | None = None
) -> set[Violation]:
    """What breaks the shapes (those of the predicate) in the facts, and in what is claimed beside them.

    What is claimed of a chain is taken for the shortest chain there is, which a longer one breaks no less.
    Raises Unchecked for more facts than shapes can look at.
    """
    if len(facts) > _MOST:
        raise Unchecked(f"the claim rests on {len(facts):,} facts; shapes look at {_MOST:,} at most")
    chosen = [each.shape for each in known.predicate.constraints.values()] if shapes is None else shapes
    together = [*facts, claimed] if claimed is not None and claimed not in facts else list(facts)
    data = EmbeddedStore(as_data(together, known, claimed), seconds=SECONDS)
    return set(known.domain.shape_set.violations(data, chosen))


def as_data(facts: Sequence[Triple], known: Known, claimed: Triple | None = None) -> list[Triple]:
    """Facts as the shapes see them: values in one form, the classes of things, and which objects are certainly two.

    `claimed` is the fact among them that is not recorded.
    """
    literals = [fact.object for fact in facts if isinstance(fact.object, Literal)]
    forms = canonical(literals, known.predicate)
    data: list[Triple] = []
    for fact in facts:
        object_ = forms.get(fact.object) if isinstance(fact.object, Literal) else fact.object
        if object_ is not None:
            data.append(Triple(fact.subject, fact.predicate, object_))
    nodes = {node for fact in facts for node in (fact.subject, fact.object) if isinstance(node, NamedNode)}
    for node in sorted(nodes, key=str):
        data += [Triple(node, TYPE, known.domain.class_iri(name)) for name in known.thing(node).classes]
    for one, other in sorted(_apart(facts, known, claimed), key=str):
        data += [Triple(one, DIFFERENT, other), Triple(other, DIFFERENT, one)]
    return [*data, *known.domain.hierarchy]


def _apart(facts: Sequence[Triple], known: Known, claimed: Triple | None) -> set[tuple[NamedNode, NamedNode]]:
    """Objects of one subject that are certainly two; a claimed one that may be one of the others is left alone."""
    beside: dict[NamedNode, set[NamedNode]] = {}
    for fact in facts:
        if fact.predicate == known.iri and isinstance(fact.object, NamedNode) and isinstance(fact.subject, NamedNode):
            beside.setdefault(fact.subject, set()).add(fact.object)
    found: set[tuple[NamedNode, NamedNode]] = set()
    for subject, objects in beside.items():
        pairs = combinations(sorted(objects, key=str), 2)
        alike = {pair for pair in pairs if known.why_one(*pair) is not None}
        added = claimed.object if claimed is not None and claimed.subject == subject else None
        unsure = any(added in pair for pair in alike)
        found |= {
            pair
            for pair in combinations(sorted(objects, key=str), 2)
            if pair not in alike and not (unsure and added in pair)
        }
    return found
