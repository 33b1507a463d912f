"""Licence of a graph to say YES, NO or UNKNOWN of a claim, or that it was not checked; with the proof.

YES is what is recorded or follows by the chain. NO needs a constraint of the domain that graph and claim break together
and the graph alone does not. A claim is unchecked where the graph contradicts itself in what it rests on, or is silent.

In a second look at a licence a chain is a SPARQL property path, and a NO by a constraint holds only where the SHACL
shape behind that finds nothing in the proof and the facts of the subject, but something with the claim beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain as chained
from itertools import combinations

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.base import Unchecked
from ovrag_core.graph import LABEL, TYPE, EmbeddedStore, Store
from ovrag_studies.abstention.knowledge.domain import Domain
from ovrag_studies.abstention.knowledge.known import Breach, Known, Value, clash, path_to, torn, wrong_classes
from ovrag_studies.abstention.knowledge.likeness import called, canonical, same_value
from ovrag_studies.abstention.parsing.claim_reader import GraphClaim

COMPLETE = "complete"  # the constraint of a predicate whose facts are all recorded
CHAIN = "complete chain"  # of a chain that is recorded down to where it ends
DIFFERENT = NamedNode("http://www.w3.org/2002/07/owl#differentFrom")
_MOST = 1_000  # facts that shapes look at: one that forbids circles takes the square of their number


class LicenceVerdict(StrEnum):
    """Verdict on a claim. UNCHECKED: nothing may be said, as there was no answer or the graph contradicts itself."""

    YES = "YES"
    NO = "NO"
    UNKNOWN = "UNKNOWN"
    UNCHECKED = "UNCHECKED"


@dataclass(frozen=True, slots=True)
class Licence:
    """A verdict with what it rests on.

    `proof` are triples that say it (YES), or that contradict it together with the claim (NO). `constraint` is the name
    of the broken constraint, `lacking` a sentence: what UNKNOWN and UNCHECKED want.
    """

    verdict: LicenceVerdict
    claim: GraphClaim
    proof: tuple[Triple, ...] = ()
    constraint: str | None = None
    lacking: str = ""


def license_claim(claim: GraphClaim, store: Store, domain: Domain) -> Licence:
    """Find what the graph licenses to say of the claim. Raises DomainError for a predicate that the domain has not."""
    predicate = domain.predicate(claim.predicate)
    known = Known(store, domain, predicate)
    try:
        return _of_chain(claim, known) if predicate.is_chain(claim.predicate) else _of_fact(claim, known)
    except Unchecked as error:
        return Licence(LicenceVerdict.UNCHECKED, claim, lacking=str(error))


def license_any(claims: Sequence[GraphClaim], store: Store, domain: Domain) -> Licence:
    """The licence of a question that may mean several claims: one that all of them have, else UNKNOWN."""
    licences = [license_claim(claim, store, domain) for claim in claims]
    if len({licence.verdict for licence in licences}) == 1:
        return licences[0]
    unchecked = next((licence for licence in licences if licence.verdict == LicenceVerdict.UNCHECKED), None)
    lacking = f"the question fits {len(claims)} claims, which the graph answers differently"
    return unchecked or Licence(LicenceVerdict.UNKNOWN, claims[0], lacking=lacking)


def _of_fact(claim: GraphClaim, known: Known) -> Licence:
    values = known.values(claim.subject)
    _refuse_clash([claim.subject], claim, known)
    recorded = next((value for value in values if same_value(value, claim.object, known.predicate)), None)
    if recorded is not None:
        return Licence(LicenceVerdict.YES, claim, (known.fact(claim.subject, recorded),))
    if breach := next(_breaches(claim, values, known), None):
        return Licence(LicenceVerdict.NO, claim, *breach)
    return Licence(LicenceVerdict.UNKNOWN, claim, lacking=_what_a_fact_lacks(claim, values, known))


def _of_chain(claim: GraphClaim, known: Known) -> Licence:
    reached = known.below(claim.subject)
    if claim.object in reached:
        path = path_to(claim.object, claim.subject, reached)
        _refuse_clash([triple.subject for triple in path], claim, known)
        return Licence(LicenceVerdict.YES, claim, path)
    if breach := next(_ways_back(claim, known), None):
        return Licence(LicenceVerdict.NO, claim, *breach)
    nodes = [claim.subject, *(node for node in reached if isinstance(node, NamedNode))]
    _refuse_clash(nodes, claim, known)
    if lacking := _what_a_chain_lacks(claim, reached, known):
        return Licence(LicenceVerdict.UNKNOWN, claim, lacking=lacking)
    links = [known.fact(node, value) for node in nodes for value in known.values(node)]
    about = [triple for node in [*nodes, claim.object] for triple in known.about(node)]
    return Licence(LicenceVerdict.NO, claim, tuple(dict.fromkeys([*links, *about])), CHAIN)


def _refuse_clash(subjects: Sequence[object], claim: GraphClaim, known: Known) -> None:
    """Raise Unchecked where what is recorded of a subject contradicts itself, or do the classes of the asked object."""
    if sentence := torn(claim.object, known):
        raise Unchecked(f"the graph contradicts itself: {sentence}")
    for subject in subjects:
        if isinstance(subject, NamedNode) and (sentence := clash(subject, known)):
            raise Unchecked(sentence)


def _breaches(claim: GraphClaim, values: Sequence[Value], known: Known) -> Iterator[Breach]:
    """What the claim of a fact breaks together with the graph."""
    for name, constraint in known.constraints("functional"):
        counted = known.of_class(values, constraint.of) if known.is_a(claim.object, constraint.of) else []
        if counted and not any(known.why_among(counted, claim.object)):
            about = [*known.about(counted[0]), *known.about(claim.object)]
            yield (known.fact(claim.subject, counted[0]), *about), name
    yield from _ways_back(claim, known)
    yield from wrong_classes(claim.subject, claim.object, known)
    for name, excluded in known.excluding():
        if claim.object in excluded.values(claim.subject):
            yield (excluded.fact(claim.subject, claim.object),), name
    complete = known.predicate.complete and values and not known.is_vague(claim.subject)
    if complete and not any(known.why_among(values, claim.object)):
        about = [triple for value in (*values, claim.object) for triple in known.about(value)]
        yield (*(known.fact(claim.subject, value) for value in values), *about), COMPLETE


def _ways_back(claim: GraphClaim, known: Known) -> Iterator[Breach]:
    """What a claim breaks that closes a circle, or says of a pair what is recorded the other way round."""
    if not isinstance(claim.object, NamedNode):
        return
    acyclic = next(known.constraints("acyclic"), None)
    direct = None if known.predicate.is_chain(claim.predicate) else next(known.constraints("asymmetric"), None)
    if claim.object == claim.subject and (broken := acyclic or direct):
        yield (), broken[0]
    if direct and claim.subject in known.values(claim.object):
        _refuse_clash([claim.object], claim, known)
        yield (known.fact(claim.object, claim.subject),), direct[0]
    if acyclic and claim.subject in (back := known.below(claim.object)):
        path = path_to(claim.subject, claim.object, back)
        _refuse_clash([triple.subject for triple in path], claim, known)
        yield path, acyclic[0]


def _what_a_fact_lacks(claim: GraphClaim, values: Sequence[Value], known: Known) -> str:
    subject, relation = called(known.thing(claim.subject)), known.predicate.called
    if not values:
        return f"no {relation} of {subject} is recorded"
    recorded = f"the recorded {relation} of {subject}, {known.listed(values)}"
    functional = next(known.constraints("functional"), None)
    if functional is None:
        return f"{recorded}, need not be the only one"
    class_ = functional[1].of
    counted = known.of_class(values, class_)
    if not counted:
        return f"{recorded}, is not known to be a {class_}"
    if not known.is_a(claim.object, class_):
        return f"{called(known.thing(claim.object))} is not known to be a {class_}"
    return next(known.why_among(counted, claim.object), f"{recorded}, does not decide it")


def _what_a_chain_lacks(claim: GraphClaim, reached: Mapping[Value, Triple], known: Known) -> str | None:
    """Say why a chain that does not pass the asked thing is not a NO; None where nothing keeps it from that."""
    chain = known.predicate.chain
    functional = next(known.constraints("functional"), None)
    if chain is None or not chain.ends_in or functional is None:
        return "nothing says where the chain ends"
    passed = (claim.subject, *reached)
    ends = {node for end in chain.ends_in for node in known.of_class(reached, end)}
    gaps = (_gap(node, claim, node in ends and node != claim.subject, functional[1].of, known) for node in passed)
    return next(chained(filter(None, gaps), known.why_among(passed, claim.object)), None)


def _gap(node: Value, claim: GraphClaim, is_end: bool, of: str | None, known: Known) -> str | None:
    """Say why a chain is not known to go on from a thing that it passes, to something of the class `of`."""
    name, relation = called(known.thing(node)), known.predicate.called
    following = known.values(node)
    if known.is_vague(node):
        return f"a {relation} of {name} is recorded without a name"
    if is_end or known.of_class(following, of):
        return None
    if not following:
        return f"the chain from {called(known.thing(claim.subject))} stops at {name}"
    return f"the recorded {relation} of {name}, {known.listed(following)}, is not known to be a {of}"


# -- a second look, by other means ------------------------------------------------------------------------------------


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
    if not proof or (len(proof) > 1 and not is_chain) or any(step.predicate != known.iri for step in proof):
        return False
    *passed, end = (step.object for step in proof)
    if [step.subject for step in proof] != [claim.subject, *passed]:
        return False
    if isinstance(end, Literal):
        return same_value(end, claim.object, known.predicate)
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
