"""Find which document prevails where two differ, as far as one of them says so.

A clause speaks for its whole document ("this addendum takes precedence over ...") or for what stands with it ("This
supersedes Section 4 of the handbook"). Dates decide nothing by themselves: they only tell which documents a clause on
"existing" or "earlier" ones can mean.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ovrag_core.text import is_negated, stems
from ovrag_studies.cited.conflicts.parts import GO_BY, Order, matter_of, parts_of, rank_parts
from ovrag_studies.cited.conflicts.rules import Rule, RuleSource, date_of, read_rules, title_of
from ovrag_studies.cited.corpus.policies import PolicyCorpus, PolicyDocument

_PREVAILS = re.compile(
    r"\b(?P<verb>(?:takes?|has|have|having|taking)\s+(?:precedence|priority|the\s+(?:last|final)\s+(?:word|say))"
    r"|(?:wins?|trumps?|beats?|outranks?|outweighs?|overrul(?:es?|ing)|comes?\s+first|ranks?\s+(?:above|before"
    r"|higher\s+than)"
    r"|stands?\s+above|goes?\s+before|is\s+(?:decisive|authoritative|stronger|the\s+one\s+that\s+counts)|counts"
    r"|applies|stands|holds|is\s+(?:to\s+be\s+)?followed|amends|modifies|revises|alters|carries\s+more\s+weight)|prevail(?:s|ing)?|overrid(?:es?|ing)|overrules?"
    r"|supersed(?:es?|ing)|replac(?:es?|ing)|(?<!that )governs)\b(?:\s+over)?",
    re.I,
)
_YIELDS = re.compile(
    r"\b(?:(?:is|are)\s+(?:superseded|overridden|replaced)\s+by|yields?\s+to|gives?\s+way\s+to|(?:is"
    r"|are)\s+subordinate\s+to)\b",
    re.I,
)
_DIFFERS = re.compile(
    r"\b(?:conflicts?|differs?|differ|deviates?|departs?|diverges?|disagrees?|contradicts?|does\s+not\s+square"
    r"|says?\s+(?:otherwise|something\s+(?:else|different|other))|clash(?:es)?|is\s+inconsistent|are\s+inconsistent"
    r"|(?:conflict|inconsistency|discrepancy|contradiction|difference))\s*(?P<link>with|from|between)?\b",
    re.I,
)
_RULES = re.compile(
    r"\b(?:polic(?:y|ies)|handbooks?|manuals?|provisions?|sections?|clauses?|requirements?|rules?)\b", re.I
)
_WHOLE = re.compile(
    r"\b(?:it|they|its (?:provisions|rules|terms|requirements)"
    r"|(?:this|the present)\s+(?:[\w-]+\s+){0,3}(?P<kind>[a-z]+))\s*(?:shall|will|always|then)?\s*$",
    re.I,
)
# "except in Section 7", "does not affect Section 2", "Section 2 remains in force": what a clause leaves alone.
_SPARED = re.compile(
    r"\b(?:except\w*(?:\s+(?:for|in|of|where))?|save\s+(?:for|in|that|where)|other\s+than|apart\s+from"
    r"|(?:does|do|shall|will)\s+not\s+(?:affect|touch|change|replace|apply\s+to|extend\s+to|override|supersede))\b"
    r"(?P<what>[^.;,]*)"
    r"|(?P<kept>[^.;,]*?)\b(?:remains?|stays?|continues?)\s+(?:\w+\s+)?(?:in\s+force|unaffected|unchanged|valid"
    r"|to\s+apply|in\s+effect)",
    re.I,
)
_ENDED = re.compile(
    r"\b(?:no\s+longer\s+(?:appl(?:y|ies)|holds?|(?:is|are)\s+in\s+force)|ceases?\s+to\s+(?:apply|have\s+effect)"
    r"|(?:is|are)\s+(?:hereby\s+)?(?:repealed|revoked|withdrawn|cancelled|rescinded|amended|abolished|set\s+aside))\b",
    re.I,
)
_TOPIC = re.compile(
    r"(?:^|[,;:]\s*)(?:(?:on|in)\s+(?:all\s+)?(?:questions|matters|issues|points)\s+(?:of|concerning)|as\s+regards"
    r"|regarding|concerning|as\s+far\s+as)\s+(?P<what>[^,;]*)",
    re.I,
)
_OF_THIS = re.compile(r"\b(?:of|in)\s+this\s+[\w-]+(?:\s+[\w-]+)?\s*$", re.I)
_GENERIC = re.compile(
    r"\b(?P<which>existing|other|any|all|earlier|previous|prior|former|current|preceding)\b[\w\s-]{0,30}?"
    r"\b(?:polic(?:y|ies)|documents?|rules?|guidance|guidelines?|provisions?|manuals?|handbooks?|procedures?)\b",
    re.I,
)
_DATED = re.compile(r"existing|earlier|previous|prior|former|current|preceding", re.I)
_VERSIONS = re.compile(r"\b(?:versions?|editions?|issues?)\s+of\b", re.I)
_PHRASE_BREAK = re.compile(r"\b(?:the|of|in|our|this|with|from|and|over|by|between|where|if)\b|[^\w\s-]", re.I)
_LOOSE = frozenset(stems("the this our company existing section in of old former general"))


@dataclass(frozen=True, slots=True)
class Precedence:
    """A clause by which `winner` prevails over `losers` (ids of documents).

    `whole` clauses hold for all of the winner; others for the rules of their paragraph. `about` are the stems of the
    only questions that a clause is for. Within a document `parts` are the labels that prevail ("schedule 1"; "schedule"
    for each of them), `over` those that yield. Between documents `parts` are those of the winner that alone prevail,
    `spared` those of the loser that do not yield.
    """

    winner: str
    losers: frozenset[str]
    whole: bool
    about: frozenset[str]
    source: RuleSource
    parts: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()
    order: Order = ""
    spared: frozenset[str] = frozenset()

    def decides(self, winner: Rule, loser: Rule) -> bool:
        """Return True where by this clause one rule prevails over the other."""
        if winner.source.doc_id != self.winner or loser.source.doc_id not in self.losers:
            return False
        texts = [f"{rule.heading} {rule.source.text}" for rule in (winner, loser)]
        if self.about and not all(self.about & set(stems(text)) for text in texts):
            return False
        if self.winner in self.losers:
            return self._ranks(winner, loser)
        if _within(loser, self.spared) or (self.parts and not _within(winner, self.parts)):
            return False
        if self.whole or self.parts:
            return not self.over or _within(loser, self.over)
        return winner.source.paragraph_id == self.source.paragraph_id

    def _ranks(self, winner: Rule, loser: Rule) -> bool:
        if self.order:
            after = winner.source.start > loser.source.start
            return winner.labels != loser.labels and after == (self.order == "later")
        yields = _within(loser, self.over) if self.over else bool(loser.labels)
        return yields and _within(winner, self.parts) and not _within(loser, self.parts)


def _within(rule: Rule, parts: frozenset[str]) -> bool:
    """Return True where a rule stands in one of the parts: by kind and number, or by kind alone ("schedule")."""
    numbers = {p.split()[-1] for p in parts if " " in p}
    return any(
        label in parts or label.split()[0] in parts or (label.startswith("* ") and label.split()[-1] in numbers)
        for label in rule.labels
    )


class _Titled(NamedTuple):
    title: frozenset[str]
    kind: str
    date: str


def _titled(document: PolicyDocument) -> _Titled:
    title = stems(title_of(document))
    return _Titled(frozenset(title), title[-1] if title else "", date_of(document))


def find_precedence(corpus: PolicyCorpus) -> tuple[Precedence, ...]:
    """All clauses of a corpus by which one of its documents prevails over others of it."""
    documents = {id_: _titled(document) for id_, document in corpus.documents.items()}
    sources = {rule.source: rule.labels for rule in read_rules(corpus)}
    spared: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for source in sources:
        spared[source.doc_id] |= _spared(source.text)
    between = [
        replace(clause, spared=spared[source.doc_id])
        for source in sources
        for clause in _read(source, documents)
        if clause.losers
    ]
    within = (
        Precedence(source.doc_id, frozenset({source.doc_id}), False, about, source, parts, over, order)
        for source, labels in sources.items()
        for parts, over, about, order in rank_parts(source.text, labels)
    )
    return (*between, *within)


def _read(source: RuleSource, documents: Mapping[str, _Titled]) -> Iterator[Precedence]:
    text = source.text
    for match in _PREVAILS.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        weak = re.match("repl|gov|con|count|appl|stand|hold|is|amend|modif|revis|alter", match["verb"], re.I)
        if is_negated(before) or (weak and not _DIFFERS.search(before) and not _RULES.search(after)):
            continue
        subject = re.split(r"[,;:]", before)[-1]
        target = re.split(r"[;:]|, (?:and|but|which|as)\b", after)[0]
        yield _made(source, subject, _rival(before, target), documents)
    for match in _ENDED.finditer(text):
        target = re.split(r"[,;:]", text[: match.start()])[-1]
        if parts_of(target) and not is_negated(target):
            clause = _made(source, "it", target, documents)
            if clause.over:
                yield clause
    for match in GO_BY.finditer(text):
        if _DIFFERS.search(text, 0, match.start()):
            yield _made(source, match["what"], text[: match.start()], documents)
    for match in _YIELDS.finditer(text):
        subject = re.split(r"[,;:]|\b(?:where|if|when)\b", text[match.end() :])[0]
        before = text[: match.start()]
        yield _made(source, subject, _rival(before, re.split(r"[,;:]", before)[-1]), documents)


def _spared(text: str) -> frozenset[str]:
    """The labels of what a sentence leaves alone, where it speaks of precedence or of another document's sections."""
    phrases = (match["what"] or match["kept"] or "" for match in _SPARED.finditer(text))
    return frozenset().union(*(parts_of(phrase) for phrase in phrases))


def _rival(before: str, target: str) -> str:
    """Find what is prevailed over: the object of the verb, or what the condition before it names."""
    differs = _DIFFERS.search(before)
    if not differs:
        return target
    opponent = before[differs.end() :].split(",", maxsplit=1)[0]
    if _GENERIC.search(target) or re.search(r"\w", target.replace("as the", "")):
        return f"{opponent} {target}"
    return before[differs.end() :] if re.search(r"\w", opponent) else before[: differs.start()]


def _made(source: RuleSource, subject: str, target: str, documents: Mapping[str, _Titled]) -> Precedence:
    named = _named(subject, documents, source.doc_id)
    whole = bool(named) or _speaks_for_all(subject, documents[source.doc_id])
    winner = min(named, default=source.doc_id)
    losers = _losers(target, documents, winner, source.doc_id)
    if not whole and not losers and not _VERSIONS.search(target):
        losers = _not_later(documents, winner)
    numbered = frozenset(label for label in parts_of(subject) if " " in label)
    own_part = bool(numbered and not named and _OF_THIS.search(subject))
    winner_parts = numbered if own_part else frozenset()
    sections = parts_of(_SPARED.sub(" ", target)) if whole or own_part else frozenset()
    about = matter_of(_TOPIC.search(source.text))
    return Precedence(winner, losers, whole and not own_part, about, source, winner_parts, sections)


def _speaks_for_all(subject: str, own: _Titled) -> bool:
    match = _WHOLE.search(subject.strip())
    if match is None:
        return bool(own.title.intersection(stems(subject)[-1:]))
    kind = (match["kind"] or "").lower()
    return kind in ("", "document", "policy", "update", "guidance") or not own.title.isdisjoint(stems(kind)[-1:])


def _named(text: str, documents: Mapping[str, _Titled], own: str) -> frozenset[str]:
    """Other documents that a text names by their titles: the kind ("handbook") with no word that is not the title's."""
    scores: dict[str, int] = {}
    for phrase in _PHRASE_BREAK.split(text):
        words = [word for word in stems(phrase) if word not in _LOOSE and not word.isdigit()]
        for id_, document in documents.items():
            if id_ != own and document.kind in words and set(words[: words.index(document.kind)]) <= document.title:
                scores[id_] = max(scores.get(id_, 0), len(document.title & set(words)))
    best = max(scores.values(), default=0)
    return frozenset(id_ for id_, score in scores.items() if score == best)


def _losers(target: str, documents: Mapping[str, _Titled], winner: str, own: str) -> frozenset[str]:
    if _VERSIONS.search(target):
        return frozenset()
    named = _named(target, documents, winner)
    if named:
        return named - {winner}
    if winner != own:
        return frozenset({own})
    generic = _GENERIC.search(target)
    if not generic:
        return frozenset()
    if _DATED.search(generic["which"]) and documents[winner].date:
        return _not_later(documents, winner)
    return frozenset(documents) - {winner}


def _not_later(documents: Mapping[str, _Titled], winner: str) -> frozenset[str]:
    """Find existing or earlier documents: all not dated later. Months and days that are not known count as equal."""
    date = documents[winner].date
    return frozenset(id_ for id_, document in documents.items() if id_ != winner and not _later(document.date, date))


def _later(first: str, second: str) -> bool:
    pairs = zip(first.split("-"), second.split("-"), strict=False)
    return next((a > b for a, b in pairs if "?" not in a + b and a != b), False)
