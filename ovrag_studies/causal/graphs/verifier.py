"""Causal statements checked against a graph: each verdict with the query that was asked and the triples it rests on.

A contradiction is a rule over triples that are there, never a triple that is missing: what is unknown is FAILED (the
open world), and what could not be asked is UNCHECKED. Effects are composed along ways of the graph, the signs
multiplied; where ways of both signs lead to the same thing, the sign is open.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from pyoxigraph import Literal as Text
from pyoxigraph import NamedNode, Triple

from ovrag_core.base import GraphError, Unchecked
from ovrag_core.graph import LABEL, Store, bind
from ovrag_core.text import one_line
from ovrag_studies.causal.graphs.causal_terms import AFFECTS, LOWERS, NO_EFFECT_ON, RAISES, SIGNS
from ovrag_studies.causal.graphs.linking import CausalClaim, LinkCandidate, NameLexicon, Unlinked, claim, link
from ovrag_studies.causal.language.propositions import Proposition, Span, Unread, read

Outcome = Literal["VERIFIED", "CONTRADICTION", "PARTIAL", "FAILED", "UNCHECKED"]
Rule = Literal[
    "stated", "derived", "stated negation", "reversed edge", "opposite polarity", "disjoint predicates", "open sign"
]
CONTRADICTIONS: tuple[Rule, ...] = ("stated negation", "reversed edge", "opposite polarity", "disjoint predicates")
Path = tuple[Triple, ...]

_EFFECTS = (RAISES, LOWERS, AFFECTS)
_WORDS: Mapping[NamedNode, str] = {
    RAISES: "raises",
    LOWERS: "lowers",
    AFFECTS: "affects",
    NO_EFFECT_ON: "has no effect on",
}
_ONWARD = f"SELECT ?p ?o WHERE {{ ?s ?p ?o FILTER(?p IN ({', '.join(map(str, _EFFECTS))})) }}"
_FARTHEST = 5_000  # pairs of a thing and a sign that a way is looked for among
_KEPT = 50_000  # claims whose judgement is kept


class CausalVerdict(NamedTuple):
    """Verdict of the graph on a statement, with the reason and the words of the text that state it.

    `query` is the query that decided, its terms in it; `triples` are those that support the statement or clash with
    it. `claim` is None where a mention could not be linked or the words could not be read.
    """

    outcome: Outcome
    reason: str
    rule: Rule | None = None
    query: str | None = None
    triples: Path = ()
    quote: str = ""
    span: Span = (0, 0)
    claim: CausalClaim | None = None


class Verifier:
    """Judges texts by a graph.

    Without a lexicon, that of the graph is made at the first use. It holds no random state, and one instance keeps what
    it was once told of a claim: use a new one where the graph has changed.
    """

    def __init__(self, store: Store, lexicon: NameLexicon | None = None) -> None:
        self.store = store
        if lexicon is not None:
            self.lexicon = lexicon
        self._names: dict[NamedNode, str] = {}
        # what was not answered raises, and is not kept
        self._judged = lru_cache(_KEPT)(self._judge)
        self._circle = lru_cache(_KEPT)(self._shortest_circle)
        self._effects = lru_cache(_KEPT)(self._effects_of)

    @cached_property
    def lexicon(self) -> NameLexicon:
        """The names of things. Raises Unchecked where the graph must be asked for them and does not answer."""
        return NameLexicon.of_graph(self.store)

    def knows(self, subject: NamedNode, object_: NamedNode) -> bool:
        """Return True where the graph holds or implies an effect of one thing on another, of whatever sign."""
        judged = self._judged(CausalClaim(subject, AFFECTS, object_, False))
        return judged.outcome in ("VERIFIED", "PARTIAL")

    def check(self, text: str) -> list[CausalVerdict]:
        """A verdict for every statement of a text, in its order; none where it states nothing.

        What was read as the mere state of one thing ("rainfall rises"), but is not the name of one, is FAILED: it may
        say more than was read. Where the names cannot be had, the graph is asked for them once for the whole text.
        """
        try:
            reading = read(text, self.lexicon.compounds)
        except Unchecked as error:
            statements = read(text).statements
            return [CausalVerdict("UNCHECKED", str(error), quote=s.quote, span=s.span) for s in statements]
        verdicts = [self.verify(statement) for statement in reading.statements]
        for state in reading.states:
            linked = link(state.mention, self.lexicon)
            if isinstance(linked, Unlinked) and not linked.ambiguous:
                named = ("nothing known", "one thing and more", "two or more things")
                number = min(2, len(things_in(state.mention, self.lexicon)))
                why = f"no effect could be read in it, and it names {named[number]}"
                verdicts.append(CausalVerdict("FAILED", why, quote=state.quote, span=state.span))
        return sorted(verdicts, key=lambda verdict: verdict.span)

    def verify(self, statement: Proposition | Unread) -> CausalVerdict:
        """The verdict on one statement. Words that could not be read are FAILED, with the reason."""
        return self._verdict(statement)._replace(quote=statement.quote, span=statement.span)

    def _verdict(self, statement: Proposition | Unread) -> CausalVerdict:
        if isinstance(statement, Unread):
            return CausalVerdict("FAILED", f"it could not be read: {statement.reason}")
        try:
            meant = claim(statement, self.lexicon)
            if isinstance(meant, CausalClaim):
                return self._judged(meant)._replace(claim=meant)
            return CausalVerdict("FAILED", _unlinked(meant))
        except Unchecked as error:
            return CausalVerdict("UNCHECKED", str(error))
        except GraphError as error:
            return CausalVerdict("UNCHECKED", f"the question could not be put: {error}")

    def name(self, node: NamedNode) -> str:
        """Name of a thing in the graph, on one line; its IRI where it has no label or the graph cannot be asked."""
        if node not in self._names:
            try:
                objects = [triple.object for triple in self.store.triples(node, LABEL)]
            except Unchecked:
                return one_line(node.value, 80)
            labels = sorted(label.value for label in objects if isinstance(label, Text))
            self._names[node] = one_line(labels[0] if labels else node.value, 80)
        return self._names[node]

    def _judge(self, meant: CausalClaim) -> CausalVerdict:
        if meant.subject == meant.object:
            query, _ = self._stated(meant.subject, _EFFECTS, meant.object)
            if circle := self._circle(meant.subject):
                return self._in_circle(circle)
            why = f"{self.name(meant.subject)} cannot be its own cause where effects form no circle"
            return CausalVerdict("VERIFIED" if _denies(meant) else "CONTRADICTION", why, "reversed edge", query)
        judgements = []
        query = ""
        for outcome, rule, predicates in _direct(meant):
            query, triples = self._stated(meant.subject, predicates, meant.object)
            if triples:
                reason = f"the graph says that {self._words(triples)}"
                judgements.append(CausalVerdict(outcome, reason, rule, query, triples))
        if {judgement.outcome for judgement in judgements} >= {"VERIFIED", "CONTRADICTION"}:
            both = tuple(triple for judgement in judgements for triple in judgement.triples)
            why = f"the graph contradicts itself: {self._words(both)}"
            return CausalVerdict("FAILED", why, None, judgements[0].query, both)
        return judgements[0] if judgements else self._along_ways(meant, query)

    def _stated(self, subject: NamedNode, predicates: tuple[NamedNode, ...], object_: NamedNode) -> tuple[str, Path]:
        """The query whether one of the predicates leads from one thing to the other, and the triples if so."""
        # only the vocabulary's own predicates stand in the text; things are bound
        ask, terms = f"ASK {{ ?s {'|'.join(map(str, predicates))} ?o }}", {"s": subject, "o": object_}
        query = bind(ask, terms)
        if not self.store.ask(ask, terms):
            return query, ()
        if len(predicates) == 1:
            return query, (Triple(subject, predicates[0], object_),)
        return query, tuple(
            triple for predicate in predicates for triple in self.store.triples(subject, predicate, object_)
        )

    def _along_ways(self, meant: CausalClaim, asked: str) -> CausalVerdict:
        forward, backward = self._ways(meant.subject, meant.object), self._ways(meant.object, meant.subject)
        if forward and backward:
            return self._in_circle((*next(iter(forward.values())), *next(iter(backward.values()))))
        if backward:
            way = min(backward.values(), key=len)
            nodes = [meant.object, *(triple.object for triple in way)]
            for node in nodes:  # an edge turned round contradicts only where effects form no circle
                if isinstance(node, NamedNode) and (circle := self._circle(node)):
                    return self._in_circle(circle)
            outcome: Outcome = "VERIFIED" if _denies(meant) else "CONTRADICTION"
            return self._by_path(outcome, "the effect runs the other way", "reversed edge", way)
        if forward:
            return self._composed(meant, forward)
        reason = f"nothing is known of an effect of {self.name(meant.subject)} on {self.name(meant.object)}"
        return CausalVerdict("FAILED", reason, None, asked)

    def _composed(self, meant: CausalClaim, ways: Mapping[int, Path]) -> CausalVerdict:
        path = tuple(dict.fromkeys(triple for way in ways.values() for triple in way))
        if set(ways) not in ({1}, {-1}):
            outcome: Outcome = "FAILED" if _denies(meant) else "PARTIAL"
            return self._by_path(outcome, "there is a way, but its sign is open", "open sign", path)
        (sign,) = ways
        agrees = SIGNS.get(meant.predicate) in (None, sign)
        why = "it follows from the graph" if agrees else "the opposite follows from the graph"
        if agrees != _denies(meant):
            return self._by_path("VERIFIED", why, "derived", path)
        if agrees:
            return self._by_path("CONTRADICTION", why, _rule_of_denial(meant), path)
        return self._by_path("CONTRADICTION", "the opposite follows", "opposite polarity", path)

    def _by_path(self, outcome: Outcome, why: str, rule: Rule | None, path: Path) -> CausalVerdict:
        """A verdict by triples that all hold; the query asks for them, each term written by its own grammar."""
        query = " . ".join(f"{triple.subject} {triple.predicate} {triple.object}" for triple in path)
        return CausalVerdict(outcome, f"{why}: {self._words(path)}", rule, f"ASK {{ {query} }}", path)

    def _in_circle(self, circle: Path) -> CausalVerdict:
        return self._by_path("FAILED", "the graph runs in a circle", None, circle)

    def _shortest_circle(self, thing: NamedNode) -> Path:
        """The shortest way from a thing back to itself; empty where there is none."""
        circles = [
            (step, *way)
            for node, step in self._effects(thing)
            for way in ([()] if node == thing else self._ways(node, thing).values())
        ]
        return min(circles, key=len, default=())

    def _ways(self, start: NamedNode, goal: NamedNode) -> dict[int, Path]:
        """The shortest way of each sign (1, -1; 0 where a step has none) from one thing to another."""
        ways: dict[int, Path] = {}
        paths: dict[tuple[NamedNode, int], Path] = {(start, 1): ()}
        waiting = deque(paths)
        while waiting:
            node, sign = state = waiting.popleft()
            for effect, triple in self._effects(node):
                next_state = (effect, sign * SIGNS.get(triple.predicate, 0))
                if next_state in paths or effect == start:
                    continue
                if len(paths) >= _FARTHEST:
                    raise Unchecked(f"the ways from {one_line(start.value, 80)} are too many to follow")
                paths[next_state] = (*paths[state], triple)
                if effect == goal:
                    ways[next_state[1]] = paths[next_state]
                else:
                    waiting.append(next_state)
        return ways

    def _effects_of(self, node: NamedNode) -> list[tuple[NamedNode, Triple]]:
        """What a thing has an effect on, with the triple that says so, in a fixed order."""
        rows = [(row.get("p"), row.get("o")) for row in self.store.select(_ONWARD, {"s": node})]
        effects = [
            (object_, Triple(node, predicate, object_))
            for predicate, object_ in rows
            if isinstance(predicate, NamedNode) and isinstance(object_, NamedNode)
        ]
        return sorted(effects, key=lambda effect: str(effect[1]))

    def _words(self, triples: Iterable[Triple]) -> str:
        return ", ".join(self.sentence(triple) for triple in triples)

    def sentence(self, triple: Triple) -> str:
        """A triple of effect in words."""
        ends = (triple.subject, triple.object)
        cause, effect = (self.name(node) if isinstance(node, NamedNode) else str(node) for node in ends)
        return f"{cause} {_WORDS.get(triple.predicate, triple.predicate.value)} {effect}"


def verdict_record(verdict: CausalVerdict) -> dict[str, object]:
    """A verdict with its claim, query and triples in plain values."""
    names = ("subject", "predicate", "object", "denied")
    return {
        "outcome": verdict.outcome,
        "quote": verdict.quote,
        "span": list(verdict.span),
        "reason": verdict.reason,
        "rule": verdict.rule,
        "claim": verdict.claim and dict(zip(names, verdict.claim.key, strict=True)),
        "query": verdict.query,
        "triples": [list(map(str, triple)) for triple in verdict.triples],
    }


def verdict_text(verdict: CausalVerdict) -> str:
    """A verdict with its reason, query and triples, for people."""
    lines = [f"{verdict.outcome}: {one_line(verdict.quote)}", f"  why     {one_line(verdict.reason)}"]
    lines += [f"  query   {verdict.query}"] if verdict.query else []
    lines += [f"  triple  {' '.join(map(str, triple))}" for triple in verdict.triples]
    return "\n".join(lines)


def things_in(text: str, lexicon: NameLexicon) -> list[NamedNode]:
    """The things whose names stand in a text, by the longest names: "fish stock" is not about fish."""
    entities: list[NamedNode] = []
    remaining = text.casefold()
    for name in sorted(lexicon.names, key=lambda name: (-len(name.text), name.text)):
        words = name.text.casefold()
        pattern = rf"(?<!\w){re.escape(words)}(?!\w)"
        if words in remaining and re.search(pattern, remaining):  # patterns take long to make
            remaining = re.sub(pattern, "\x00", remaining)
            entities.append(name.entity)
    return entities


def _denies(meant: CausalClaim) -> bool:
    """Return True where the claim is that there is no such effect; a denied "has no effect" says that there is one."""
    return meant.denied != (meant.predicate == NO_EFFECT_ON)


def _rule_of_denial(meant: CausalClaim) -> Rule:
    return "disjoint predicates" if meant.predicate == NO_EFFECT_ON else "stated negation"


def _direct(meant: CausalClaim) -> Iterator[tuple[Outcome, Rule, tuple[NamedNode, ...]]]:
    """Yield outcome and rule for a claim if one of the predicates leads from subject to object, what counts first."""
    is_signed = meant.predicate in SIGNS
    agreeing = (meant.predicate,) if is_signed else _EFFECTS
    opposite = tuple(predicate for predicate in SIGNS if is_signed and predicate != meant.predicate)
    if _denies(meant):
        yield "CONTRADICTION", _rule_of_denial(meant), agreeing
        yield "VERIFIED", "derived", (*opposite, NO_EFFECT_ON)
        return
    yield "VERIFIED", "stated", agreeing
    if is_signed:
        yield "CONTRADICTION", "opposite polarity", opposite
    yield "CONTRADICTION", "disjoint predicates", (NO_EFFECT_ON,)
    if is_signed:
        yield "PARTIAL", "open sign", (AFFECTS,)


def _unlinked(meant: Unlinked | None) -> str:
    if meant is None:
        return "what stays as it is causes nothing that the graph could hold"
    mention = one_line(meant.mention, 80)
    if meant.ambiguous:
        return f"{mention} may be {_named(meant.candidates)}; say which"
    if meant.candidates:
        return f"{mention} is no name in the graph; the nearest are {_named(meant.candidates)}"
    return f"{mention} is no name in the graph"


def _named(candidates: Sequence[LinkCandidate]) -> str:
    """Names with their likeness, and with their IRIs where a name is that of several."""
    twice = {label for label, count in Counter(c.label for c in candidates).items() if count > 1}
    return ", ".join(
        f"{one_line(c.label, 60)}{f' <{one_line(c.entity.value, 80)}>' if c.label in twice else ''} ({c.score:.2f})"
        for c in candidates
    )
