"""Find which document prevails where two differ, as far as one of them says so.

A clause speaks for its whole document ("this addendum takes precedence over ...") or for what stands with it ("This
supersedes Section 4 of the handbook"). Dates decide nothing by themselves: they only tell which documents a clause on
"existing" or "earlier" ones can mean. Within a document only parts that are named by number are ranked here ("Section 9
prevails over Section 4"); the rest is told by `learned_precedence`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ovrag_core.text import is_negated, stems
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
# A clause for some matters alone decides nothing, as nobody reads here which rules are of these.
_TOPIC = re.compile(
    r"(?:^|[,;:]\s*)(?:(?:on|in)\s+(?:all\s+)?(?:questions|matters|issues|points)\s+(?:of|concerning)|as\s+regards"
    r"|regarding|concerning|as\s+far\s+as)\s",
    re.I,
)
_GO_BY = re.compile(r"\b(?:go by|follow|apply|use|stick to|look to|rely on|abide by|observe)\s+(?P<what>[^,.;]*)", re.I)
_NUMBER = r"(?:\d+(?:\.\d+)*|[A-Z]\b|[IVX]+\b)"
_PART = re.compile(
    r"\b(?P<kind>(?i:part|schedule|regulation|section|article|clause|chapter|paragraph|rule|annex|appendix))s?\s+"
    rf"(?P<numbers>{_NUMBER}(?:\s*(?:,\s*(?:and|or)?|and|or)\s*{_NUMBER})*)"
)
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

    `whole` clauses hold for all of the winner; others for the rules of their paragraph. `over` are the parts of the
    loser that alone yield ("section 4"), all where there are none; `spared` those that do not. `parts` of one document,
    which is `winner` and among `losers`, prevail over others of it.
    """

    winner: str
    losers: frozenset[str]
    whole: bool
    source: RuleSource
    over: frozenset[str]
    spared: frozenset[str]
    parts: frozenset[str] = frozenset()

    def decides(self, winner: Rule, loser: Rule) -> bool:
        """Return True where by this clause one rule prevails over the other."""
        if winner.source.doc_id != self.winner or loser.source.doc_id not in self.losers:
            return False
        if self.parts:
            return _within(winner, self.parts) and _within(loser, self.over)
        if _within(loser, self.spared):
            return False
        if self.whole:
            return not self.over or _within(loser, self.over)
        return winner.source.paragraph_id == self.source.paragraph_id


def _within(rule: Rule, parts: frozenset[str]) -> bool:
    """Return True where a rule stands in one of the parts, by kind and number, or by number where it has no kind."""
    numbers = {part.split()[-1] for part in parts}
    return any(label in parts or (label.startswith("* ") and label[2:] in numbers) for label in rule.labels)


def _parts_of(text: str) -> frozenset[str]:
    """The labels that a text names: "section 2" and "section 3" of "Sections 2 and 3"."""
    return frozenset(
        f"{match['kind'].lower()} {number.lower()}"
        for match in _PART.finditer(text)
        for number in re.findall(rf"\b{_NUMBER}", match["numbers"])
    )


class _Titled(NamedTuple):
    title: frozenset[str]
    kind: str
    date: str


def _titled(document: PolicyDocument) -> _Titled:
    title = stems(title_of(document))
    return _Titled(frozenset(title), "".join(title[-1:]), date_of(document))


def find_precedence(corpus: PolicyCorpus) -> tuple[Precedence, ...]:
    """All clauses of a corpus by which one of its documents, or part of a document, prevails over others."""
    documents = {id_: _titled(document) for id_, document in corpus.documents.items()}
    sources = [rule.source for rule in read_rules(corpus)]
    spared: defaultdict[str, frozenset[str]] = defaultdict(frozenset)
    for source in sources:
        for match in _SPARED.finditer(source.text):
            spared[source.doc_id] |= _parts_of(match["what"] or match["kept"] or "")
    clauses = (
        _clause(source, subject, target, documents, spared[source.doc_id])
        for source in sources
        if not _TOPIC.search(source.text)
        for subject, target in _read(source.text)
    )
    return tuple(filter(None, clauses))


def _clause(
    source: RuleSource, subject: str, target: str, documents: Mapping[str, _Titled], spared: frozenset[str]
) -> Precedence | None:
    """The clause by which `subject` prevails over `target`; None where these name nothing that it ranks."""
    own, named = source.doc_id, _named(subject, documents, source.doc_id)
    if (parts := _parts_of(subject)) and not named:
        over = _parts_of(source.text) - parts
        if not over or _named(target, documents, own):
            return None
        return Precedence(own, frozenset({own}), False, source, over, frozenset(), parts)
    if _VERSIONS.search(target):
        return None
    whole = bool(named) or _speaks_for_all(subject, documents[own])
    winner = min(named, default=own)
    losers = _losers(target, documents, winner, own) or (frozenset() if whole else _not_later(documents, winner))
    over = _parts_of(_SPARED.sub(" ", target)) if whole else frozenset[str]()
    return Precedence(winner, losers, whole, source, over, spared) if losers else None


def _read(text: str) -> Iterator[tuple[str, str]]:
    """Yield for each verb of prevailing who prevails, and over whom, as the sentence names them."""
    for match in _PREVAILS.finditer(text):
        before, after = text[: match.start()], text[match.end() :]
        weak = re.match("repl|gov|con|count|appl|stand|hold|is|amend|modif|revis|alter", match["verb"], re.I)
        if is_negated(before) or (weak and not _DIFFERS.search(before) and not _RULES.search(after)):
            continue
        yield re.split(r"[,;:]", before)[-1], _rival(before, re.split(r"[;:]|, (?:and|but|which|as)\b", after)[0])
    for match in _GO_BY.finditer(text):
        if _DIFFERS.search(text, 0, match.start()):
            yield match["what"], text[: match.start()]
    for match in _YIELDS.finditer(text):
        before = text[: match.start()]
        subject = re.split(r"[,;:]|\b(?:where|if|when)\b", text[match.end() :])[0]
        yield subject, _rival(before, re.split(r"[,;:]", before)[-1])


def _rival(before: str, target: str) -> str:
    """Find what is prevailed over: the object of the verb, or what the condition before it names."""
    differs = _DIFFERS.search(before)
    if not differs:
        return target
    opponent = before[differs.end() :].split(",", maxsplit=1)[0]
    if _GENERIC.search(target) or re.search(r"\w", target.replace("as the", "")):
        return f"{opponent} {target}"
    return before[differs.end() :] if re.search(r"\w", opponent) else before[: differs.start()]


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
    if named := _named(target, documents, winner):
        return named - {winner}
    if winner != own:
        return frozenset({own})
    if not (generic := _GENERIC.search(target)):
        return frozenset()
    dated = _DATED.search(generic["which"]) and documents[winner].date
    return _not_later(documents, winner) if dated else frozenset(documents) - {winner}


def _not_later(documents: Mapping[str, _Titled], winner: str) -> frozenset[str]:
    """Find existing or earlier documents: all not dated later. Months and days that are not known count as equal."""
    date = documents[winner].date.split("-")

    def is_later(other: str) -> bool:
        pairs = zip(other.split("-"), date, strict=False)
        return next((a > b for a, b in pairs if "?" not in a + b and a != b), False)

    return frozenset(id_ for id_, document in documents.items() if id_ != winner and not is_later(document.date))
