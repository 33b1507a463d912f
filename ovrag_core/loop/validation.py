"""Triples in, verdict out: what contradicts the rules, in which statements, and whose contradiction it is."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ovrag_core.base import OntologyError, ReasonerError, Status, Triple, Verdict, Violation
from ovrag_core.loop.closed_world import ClosedWorld
from ovrag_core.ontology import (
    PLACEHOLDER,
    ABox,
    Explanation,
    Fact,
    Ontology,
    Reasoner,
    ReasonerName,
    Rule,
    Source,
    Value,
    assert_triples,
)
from ovrag_core.text import one_line

_EXPLANATIONS = 64
_LINE = 120  # characters of a name or value in a message


@dataclass(frozen=True, slots=True)
class _Finding:
    """A broken rule with the facts and axioms that break it, before one is chosen for each rule and individual."""

    rule: Rule
    subject: int
    facts: tuple[Fact, ...]
    axioms: tuple[str, ...]
    rules: tuple[Rule, ...]


class Validator:
    """Checks triples against an ontology. The reasoner is started once and stays warm.

    Raises OntologyError at once for shapes that are not supported, and for axioms that contradict each other; for these
    at the first check where it does not `wait` for the reasoner. Where Java is missing, every verdict is `unchecked`
    with that reason.
    """

    def __init__(
        self,
        ontology: Ontology,
        *,
        reasoner: ReasonerName = "hermit",
        seconds_per_check: float = 10,
        heap_megabytes: int = 1024,
        wait: bool = True,
    ) -> None:
        self.ontology = ontology
        self._closed_world = ClosedWorld(ontology)
        self._reasoner = Reasoner(ontology, reasoner=reasoner, seconds=seconds_per_check, heap_megabytes=heap_megabytes)
        self._order = {rule.id: position for position, rule in enumerate(ontology.rules)}
        if wait:
            self._start()
        else:
            threading.Thread(target=self._start, args=(OntologyError,), daemon=True).start()

    def _start(self, *passed_over: type[Exception]) -> None:
        with contextlib.suppress(ReasonerError, *passed_over):  # every check tries again and says so
            self._reasoner.start()

    def check(
        self,
        triples: Sequence[Triple],
        *,
        closed_world: bool = True,
        document: str | None = None,
        literal_names: bool = False,
    ) -> Verdict:
        """The verdict on `triples`.

        `closed_world` adds what must be there ("secured, but no collateral named"); leave it off where the triples are
        of a part of a document only. `document` is the one that was asked about: among several explanations of one
        violation, one from it alone is preferred. `literal_names` keeps names in messages as the triples have them;
        else a loan called `TermLoan` is "the term loan". A check that cannot be run or finished is `unchecked`, never
        a pass.
        """
        abox = assert_triples(triples, self.ontology)
        unmapped = tuple(triples[index] for index in abox.unheard)
        statements = _Statements(triples, abox, document, self.ontology, literal_names)
        facts = list(abox.facts)
        try:
            findings = self._contradictions(facts, statements)
        except ReasonerError as error:
            return Verdict(status="unchecked", reason=str(error), unmapped=unmapped)
        if closed_world:
            for failure in self._closed_world.failures(facts):
                rule = self.ontology.rule[failure.rule]
                findings.append(_Finding(rule, failure.focus, failure.facts, (), (rule,)))
        violations = [statements.violation(finding) for finding in _choose(findings, statements)]
        reason = next((violation.message for violation in violations if violation.severity == "clash"), None)
        status: Status = "consistent" if reason is None else "inconsistent"
        violations.sort(key=lambda item: (item.severity, item.clash_type or "", self._order.get(item.rule, -1)))
        return Verdict(status=status, violations=tuple(violations), reason=reason, unmapped=unmapped)

    def close(self) -> None:
        """Ends the reasoner's process."""
        self._reasoner.close()

    def _contradictions(self, facts: list[Fact], statements: _Statements) -> list[_Finding]:
        """Find what the axioms forbid. Raises ReasonerError where it cannot be said whether a clash is among it."""
        if self._reasoner.check(facts, explain=False).consistent:
            return []
        fewer = statements.without_doubles(sorted(facts, key=lambda fact: statements.key(statements.best(fact))))
        outcome = self._reasoner.check(fewer, limit=_EXPLANATIONS)
        findings = [finding for explanation in outcome.explanations for finding in self._findings(fewer, explanation)]
        if not findings or not (outcome.complete or any(finding.rule.severity == "clash" for finding in findings)):
            raise ReasonerError("the statements contradict each other, but the time did not suffice to explain how")
        return findings

    def _findings(self, facts: list[Fact], explanation: Explanation) -> Iterable[_Finding]:
        """One finding for each set of axioms that explains the facts, by the rule that it breaks."""
        chosen = tuple(facts[number] for number in explanation.facts)
        for numbers in explanation.axioms:
            ids = [id_ for number in numbers for id_ in self._reasoner.axiom_rules[number]]
            rules = tuple(self.ontology.rule[id_] for id_ in ids if id_ in self.ontology.rule)
            axioms = tuple(self._reasoner.axioms[number] for number in numbers)
            yield _Finding(_broken(rules) or _UNNAMED, _subject(chosen), chosen, axioms, rules)


# A contradiction from axioms that state no rule (the hierarchy, a domain, a range): listed, but of no clash type.
_UNNAMED = Rule(
    id="ontology",
    form="axiom",
    kind="owl",
    clash_type=None,
    severity="warning",
    sentence="The statements fit the ontology",
    message="",
    source="the ontology's axioms",
)


def _broken(rules: Sequence[Rule]) -> Rule | None:
    """The rule to name: a supporting one only where no other takes part, and the mildest of the others."""
    chief = [rule for rule in rules if not rule.supporting]
    if chief:
        return min(chief, key=lambda rule: (rule.severity != "warning", rule.id))
    return min(rules, key=lambda rule: (rule.severity == "warning", rule.id), default=None)


def _subject(facts: Sequence[Fact]) -> int:
    """The individual that a contradiction is about: the one with properties, else the one with types."""
    return next((fact.subject for fact in facts if fact.kind != "class"), facts[0].subject)


@dataclass(frozen=True, slots=True)
class _Statements:
    """The triples of one check: how well they state a fact, and a finding put into words.

    The best ones are from the context, with evidence, outright, in few words.
    """

    triples: Sequence[Triple]
    abox: ABox
    document: str | None
    ontology: Ontology
    literal_names: bool

    def key(self, source: Source) -> tuple[bool, bool, bool, bool, int, int]:
        triple = self.triples[source.triple]
        evidence = triple.evidence
        elsewhere = self.document is not None and evidence is not None and evidence.document_id != self.document
        return (
            triple.origin == "answer",
            elsewhere,
            evidence is None,
            source.derived,
            len(evidence.quote) if evidence else 0,
            source.triple,
        )

    def best(self, fact: Fact) -> Source:
        return min(self.abox.facts[fact], key=self.key)

    def place(self, fact: Fact) -> tuple[str, str | None]:
        triple = self.triples[self.best(fact).triple]
        return triple.origin, triple.evidence.document_id if triple.evidence else None

    def without_doubles(self, facts: Sequence[Fact]) -> list[Fact]:
        """`facts` without individuals that differ from an earlier one in name only (same classes, links and place).

        Nothing is said to be different from anything, so what contradicts with such an individual does so with the
        earlier one; the explanations that fall away would only repeat the ones that stay.
        """
        about: dict[int, set[tuple[object, ...]]] = {}
        for fact in facts:
            about.setdefault(fact.subject, set()).add((fact.kind, fact.term, "of", fact.object, *self.place(fact)))
            if isinstance(fact.object, int):
                about.setdefault(fact.object, set()).add((fact.kind, fact.term, "to", fact.subject, *self.place(fact)))
        earliest: dict[frozenset[tuple[object, ...]], int] = {}
        dropped: set[int] = set()
        for individual, links in about.items():
            if not any(link[2] == "to" for link in links):
                continue  # what violations are told apart by: a loan, which nothing leads to
            if earliest.setdefault(frozenset(links), individual) != individual:
                dropped.add(individual)
        return [fact for fact in facts if fact.subject not in dropped and fact.object not in dropped]

    def chosen(self, facts: tuple[Fact, ...]) -> list[Source]:
        """A source for each fact: all from one document of the context where one suffices, else the best of each."""
        stated_in = [t.evidence.document_id if t.evidence and t.origin == "context" else None for t in self.triples]
        named = [document for document in dict.fromkeys(stated_in) if document is not None]
        for document in sorted(named, key=lambda id_: id_ != self.document):
            options = [[s for s in self.abox.facts[fact] if stated_in[s.triple] == document] for fact in facts]
            if all(options):
                return [min(option, key=self.key) for option in options]
        return [self.best(fact) for fact in facts]

    def cost(self, finding: _Finding) -> tuple[object, ...]:
        """Lower is better, of explanations of one broken rule: fewer answer triples, documents, statements, words."""
        sources = self.chosen(finding.facts)
        triples = [self.triples[source.triple] for source in sources]
        documents = {triple.evidence.document_id for triple in triples if triple.evidence}
        return (
            sum(triple.origin == "answer" for triple in triples),
            len(documents),
            self.document is not None and any(document != self.document for document in documents),
            sum(triple.evidence is None for triple in triples),
            len(finding.facts),
            sum(source.derived for source in sources),
            len(finding.axioms),
            sum(len(triple.evidence.quote) for triple in triples if triple.evidence),
            [source.triple for source in sources],
            finding.axioms,
        )

    def violation(self, finding: _Finding) -> Violation:
        """The finding with the triples that state its facts, and a message."""
        rule, sources = finding.rule, self.chosen(finding.facts)
        return Violation(
            rule=rule.id,
            clash_type=rule.clash_type if rule.severity == "clash" else None,
            severity=rule.severity,
            kind=rule.kind,
            triples=tuple(self.triples[index] for index in sorted({source.triple for source in sources})),
            axioms=finding.axioms,
            message=self._message(finding),
        )

    def _message(self, finding: _Finding) -> str:
        text = finding.rule.message
        values = {slot: self._value(slot, finding) for slot in PLACEHOLDER.findall(text)}
        if text and all(values.values()):
            text = PLACEHOLDER.sub(lambda match: values[match[1]] or "", text)
        else:
            law = "; ".join(rule.sentence.rstrip(".") for rule in finding.rules or (finding.rule,))
            text = f"{law}. Yet: {'; '.join(self._said(fact) for fact in finding.facts)}."
        # A capital first letter, unless that letter is of a name as given.
        is_named = self.literal_names and text.startswith(self._called(finding.subject))
        return text if is_named else text[:1].upper() + text[1:]

    def _value(self, slot: str, finding: _Finding) -> str | None:
        """A placeholder's words, of the finding or else of all that is stated; None where the finding lacks a class."""
        if slot == "subject":
            return self._called(finding.subject)
        name, _, attribute = slot.partition(".")
        iris = {term.iri for term in self.ontology.properties if name in (term.name, *term.parents)}
        own = [fact for fact in finding.facts if fact.term in iris]
        linked = own or [fact for fact in self.abox.facts if fact.term in iris and fact.subject == finding.subject]
        if not linked:
            return "(not stated)"
        if not attribute:
            return " and ".join(dict.fromkeys(self._object(fact) for fact in linked))
        return self._classes([fact.object for fact in linked], finding.facts if own else self.abox.facts)

    def _classes(self, objects: Collection[object], facts: Iterable[Fact]) -> str | None:
        """The classes that facts put individuals into, in words; None where there are none."""
        classes = [fact.term for fact in facts if fact.kind == "class" and fact.subject in objects]
        return " and ".join(self.ontology.by_iri[iri].label for iri in classes) or None

    def _said(self, fact: Fact) -> str:
        label = self.ontology.by_iri[fact.term].label
        relation = f"is a {label}" if fact.kind == "class" else f"{label} {self._object(fact)}"
        return f"{self._called(fact.subject)} {relation}"

    def _object(self, fact: Fact) -> str:
        if isinstance(fact.object, Value):
            return one_line(self.triples[self.chosen((fact,))[0].triple].object, _LINE)
        return self._called(fact.object) if fact.object is not None else ""

    def _called(self, individual: int) -> str:
        """An individual's name; made-up names of loans (`TermLoan`, `FacilityB`) in words, unless as given."""
        name = self.abox.names[individual]
        if not self.literal_names:
            made_up = re.fullmatch(r"(?:The)?((?:[A-Z][a-z]+)(?:[A-Z][a-z]+|[A-Z]|\d+)*)", name)
            has_facts = any(fact.subject == individual and fact.kind != "class" for fact in self.abox.facts)
            if made_up and (has_facts or name == "Loan"):
                return f"the {_separated(made_up[1])}"
        return one_line(name, _LINE)


def _choose(findings: Sequence[_Finding], statements: _Statements) -> list[_Finding]:
    """The best finding for each rule and individual; of rules broken by the very same facts, that of fewest axioms."""
    best: dict[tuple[str, int], tuple[tuple[object, ...], _Finding]] = {}
    signatures: set[tuple[object, ...]] = set()
    for finding in sorted(findings, key=lambda finding: (len(finding.axioms), finding.rule.id)):
        signature = (frozenset(finding.facts), finding.rule.clash_type, finding.rule.severity, bool(finding.axioms))
        if finding.axioms and signature in signatures:
            continue
        signatures.add(signature)
        key, costed = (finding.rule.id, finding.subject), (statements.cost(finding), finding)
        best[key] = min(best.get(key, costed), costed, key=lambda pair: pair[0])
    return [finding for _, finding in best.values()]


def clashes_of(verdict: Verdict) -> list[Violation]:
    """The violations that make what was checked contradictory: no warnings."""
    return [violation for violation in verdict.violations if violation.severity == "clash"]


def assign_causes(verdict: Verdict, asked_document: str) -> Verdict:
    """The verdict with the cause of each violation.

    `answer`: needs a statement that only the answer makes. `source`: statements of the asked document suffice.
    `mixture`: needs another document; the message then names the documents. A statement without evidence counts as the
    asked document's.
    """
    violations = tuple(_caused(violation, asked_document) for violation in verdict.violations)
    caused = verdict.model_copy(update={"violations": violations})
    clashes = clashes_of(caused) if verdict.status == "inconsistent" else []
    return caused.model_copy(update={"reason": clashes[0].message}) if clashes else caused


def _caused(violation: Violation, asked_document: str) -> Violation:
    if any(triple.origin == "answer" for triple in violation.triples):
        return violation.model_copy(update={"cause": "answer"})
    evidence = [triple.evidence for triple in violation.triples]
    documents = dict.fromkeys(passage.document_id if passage else asked_document for passage in evidence)
    if set(documents) <= {asked_document}:
        return violation.model_copy(update={"cause": "source"})
    where = " and ".join(one_line(name, _LINE) for name in documents)
    scope = "These are statements of different documents:" if len(documents) > 1 else "All this is of"
    return violation.model_copy(update={"cause": "mixture", "message": f"{violation.message} {scope} {where}."})


def feedback(verdict: Verdict) -> str:
    """List what an answer must change: the clashes that need one of its statements, a line each; empty where none does.

    Each line says why, which statement of the answer's is wrong and in which of its words, and what the document says.
    """
    lines = [_correction(clash) for clash in clashes_of(verdict) if clash.cause in (None, "answer")]
    return "\n".join([*lines, KEEP]) if lines else ""


KEEP = "Correct these statements by the document, and keep everything else that you said."


def _correction(violation: Violation) -> str:
    claims = dict.fromkeys(_claim(triple) for triple in violation.triples if triple.origin == "answer")
    quotes = _quotes(triple for triple in violation.triples if triple.origin == "context")
    yours = f" You said {' and '.join(claims)}." if claims else ""
    theirs = f" The document says: {', '.join(quotes)}." if quotes else ""
    return f"- {violation.message}{yours}{theirs}"


def _claim(triple: Triple) -> str:
    """Put into words what an answer's triple states, with the words of the answer that it was read from."""
    subject = one_line(triple.subject, _LINE)
    if triple.subject_type and triple.subject.endswith(triple.subject_type):
        subject = f"the {_in_words(triple.subject)}"  # a made-up name such as `TermLoan`
    if triple.predicate == "rdf:type":
        class_words = _in_words(triple.object)
        claim = f"that {subject} is {'an' if class_words[:1] in 'aeiou' else 'a'} {class_words}"
    else:
        claim = f"that {subject} {_in_words(triple.predicate)} {one_line(triple.object, _LINE)}"
    where = _quotes([triple])
    return f"{claim}, in {where[0]}" if where else claim


def _in_words(term: str) -> str:
    """A term such as `hasBorrower` or `CommercialLoan` in words."""
    return one_line(_separated(term), _LINE)


def _separated(term: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", term).lower()


def _quotes(triples: Iterable[Triple]) -> list[str]:
    """The passages that triples were read from, each once, on one line."""
    quotes = [triple.evidence.quote for triple in triples if triple.evidence]
    return [f"“{quote}”" for quote in dict.fromkeys(" ".join(quote.split()).rstrip(".") for quote in quotes)]
