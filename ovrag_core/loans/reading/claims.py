# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Claims a document makes about its own loan: kinds, security, form of credit, each with polarity, scope and passage.

A cue phrase becomes a claim unless something in its clause shows that something else is meant: a negation turns it
round, and a scope marker (another debt, a covenant, a condition, a definition) silences it. Both sides of a
contradiction are kept when both are stated; a mere hint never contradicts a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ovrag_core.loans.reading.debts import Debts, spaced
from ovrag_core.loans.reading.lexicon import Cue, Lexicon, Marker
from ovrag_core.loans.reading.sentences import Unit

LONG_DOCUMENT = 12_000  # characters: beyond this, only operative statements on both sides make a contradiction
SECURITY_TERMS = 5  # mentions of collateral or its documents that show an agreement built around security
PASSAGE = 400  # characters of a quote, at most
TITLE_UNITS = 12
TITLE_CHARACTERS = 1500

_NEGATOR = re.compile(r"\b(?:not|never|neither|nor|no|none|nothing|cannot|without|nobody|hardly)\b|(?<=[a-z])n't\b")
_LEADING_CLAUSE = re.compile(
    r"\s*(?:if|when|whenever|unless|until|should|where|while|as long as|so long as|once|because|since|after)\b[^,]*,"
)
_IF_ANY = re.compile(r"\(if any\)|,? if any\b")
_NOTHING_AFTER = re.compile(r"\s*(?:nothing|none|no(?! (?:later|less|more|fewer|\d)))\b")
_NOT_NEGATING = re.compile(
    r"\b(?:no|not) (?:later|less|more|fewer|longer|earlier|greater|lower|exceeding|to exceed) than\b|"
    r"\bnot (?:only|exceeding|to exceed|yet|later|less|more|fewer|earlier|sooner|otherwise|inconsistent)\b|"
    r"\bwithout (?:limitation|limiting|notice|penalty|premium|prejudice|charge|cost|demand|recourse|interruption|"
    r"deduction|set-?off|further notice)\b|"
    r"\bwhether or not\b|\bno(?:s)?\.? ?\d|\bif not\b|\bno (?:default|event of default)\b"
)
_CLAUSE = re.compile(
    r"[;:()]| - |,? but | although |,? even though | though | whereas |,? while | save (?:that|for) | except (?:that|"
    r"where)|,? provided(?: that|,)|, and |, nor | nor |, or |, so | however,|\. "
)
_ORDINAL = re.compile(
    r"(?:clause |section |article )?(?:first|second|third|[a-z]+th|[a-z]+thly|lastly|[ivx]+|\d+|[a-z])(?:ly)?"
)
_INNER_LABEL = re.compile(r"(?P<label>[a-z][^:.;]{2,60}?)\s*:\s+(?=\S)")
_NONE = re.compile(
    r"(?:none|no(?! (?:\d|other|further|more|land|house|home|building|vehicle|car|shares?|stock|goods|equipment)\b)|"
    r"nil|n/?a|not applicable|not required|not secured|not taken|unsecured|"
    r"without|waived|zero|clean|nothing|-+|0)\b|-+$"
)
_YES = re.compile(r"(?:yes|secured)\b(?P<more>.*)", re.DOTALL)
_DRAWN_AGAIN = re.compile(
    r"\b(?:re-?draw\w*|re-?borrow\w*|re-?us(?:e|ing)|re-?advanc\w*|revolving|further (?:advances|drawings|draws)|"
    r"drawing again|second drawing)\b"
)
_REFUSED = re.compile(r"(?:no|not|none|nil|excluded|never|without|n/?a|impossible|ruled out)\b|-+$")
_ALLOWED = re.compile(
    r"(?:yes|at any time|permitted|possible|allowed|available|within|as often|freely|unlimited|always|any time|on)\b"
)
_GUARANTEE_ONLY = re.compile(
    r"(?:personal |corporate |parent |director'?s'? |joint and several |unlimited |limited )*guarant(?:ee|y)"
)
_SECURITY_TERMS = re.compile(
    r"\b(?:Collateral|COLLATERAL|Security (?:Documents?|Agreements?|Instruments?|Deeds?)|SECURITY INSTRUMENTS?|"
    r"Pledge (?:and \w+ )?Agreements?|Collateral Documents?|"
    r"Mortgages?|Mortgaged Propert(?:y|ies)|Deeds? of Trust|MORTGAGES?|DEEDS? OF TRUST|Debentures? (?:over|granted)|"
    r"Charged (?:Property|Assets)|Security Trustee|Secured Parties)\b"
)
_EXCEPTION = re.compile(r"\b(?:other than|except|save|beyond|apart from|besides|in addition to|aside from)\b")
_ONLY_THAT = re.compile(
    r"\bno (?:other|further|additional|more)\b|(?<!or )(?<!and )\b(?:other|further|additional) (?:security|collateral|charge|lien|"
    r"mortgage|assets?|property|pledge)"
)
_OTHER_HOLDER = re.compile(
    r"(?<!priority )\b(?:to|for|from|by|favou?r of|held by) (?:any )?(?:other|another|such other) (?:lender|creditor|"
    r"bank|financier)s?|\b(?:to|for|favou?r of) anyone else\b"
)
_OBJECT = re.compile(r"\b(?:in|on|over|upon|against|of)\s+(?P<object>(?:[a-z'-]+\s+){0,3}[a-z'-]+)")
_ENDS_IN_PLACE = re.compile(r"\b(?:in|on|over|upon|against|of)\s*$")
_OBJECT_NEXT = re.compile(
    r"\s*(?:(?:be|been|being|is|are|hereby|or shall be)\s+)*(?:[a-z]+ed\s+|taken\s+|given\s+|held\s+|"
    r"sought\s+)?(?:by [^,.;]{1,30}? )?"
    r"(?:in|on|over|upon|against)\s+(?P<object>(?:[a-z'-]+\s+){0,3}[a-z'-]+)"
)
_PASSIVE = spaced(
    r"\b(?:is|are|was|were|be|been) (?:not|never) (?:\w+ )?(?:charged|pledged|mortgaged|hypothecated|assigned|encumbered)\b|"
    r"\b(?:is|are|was|were) no (?:security|collateral)\b"
)
_GENERIC_SUBJECT = spaced(
    r"\b(?:nothing|no|none|nor|neither|anything|assets?|property|properties|belongings|possessions|goods|loans?|notes?|"
    r"debts?|it|this|facility|advance|credit)\b"
)
_GENERIC_OBJECT = re.compile(
    r"(?:priority|preference|addition|advance of|it|them|this|what|anything|everything|connection|respect|relation|"
    r"favou?r|support|return|consideration|this|the (?:loan|note|facility|account|advance|debt))\b|"
    r"(?:any|all|your|its|his|her|their|my|our|the (?:borrower|obligor|maker|debtor|company|customer|cardholder|"
    r"client|member)'?s?)?\s?"
    r"(?:of )?(?:(?:any|your|its|his|her|their|my|our|other|kind|sort|the)\s)*(?:property|properties|assets?|"
    r"goods of any|kind|sort|belongings|possessions|collateral)\b"
)
_COLLATERAL_AFTER = re.compile(
    r"\s*(?:,?\s*(?:dated|of even date|given|made|granted|registered|ranking|created|in its favou?r|"
    r"(?:in )?favou?r of [^,.;]{1,60}?|by the (?:borrower|company|obligor)|"
    r"priority|position|lien|continuing|and (?:continuing )?(?:lien|charge|security))\s*)*"
    r"\b(?:in|on|over|upon|by|against|with|of|to|under|covering)\s+(?P<text>[^;]+)",
    re.IGNORECASE,
)
_FAVOUR = re.compile(r"\s*favou?r\b", re.IGNORECASE)
_OBJECT_AFTER = re.compile(
    r"\s*,?\s+(?P<text>(?:all|its|his|her|their|my|our|your|the|certain|one|two|a|an)\s(?!loan|note|advance|facility|"
    r"bank|lender|sum|payment)[^;]+)",
    re.IGNORECASE,
)
_SUBJECT_SECURES = re.compile(
    r"\b(?:secures?|stands? (?:behind|as)|serves? as|acts? as|(?:is|are|shall be|will be|remains?|stays?) (?:the |"
    r"held|deposited|lodged|kept|retained|given|taken)|backs?|shall secure)\b"
)


_SECURITY = ("SecuredLoan", "UnsecuredLoan")
_MATTERS = (*_SECURITY, "OpenEndCredit", "ClosedEndCredit")
_PRONOUN = {"borrower": "you", "lender": "us", "guarantor": "surety"}


# A part of a form that is there for other cases: "Paragraphs 3(a) to 3(d) are used only where the voucher says so."
_GUARANTEE = re.compile(r"\b(?:guarant|suret)")
_COLLATERAL = re.compile(r"secur|collateral|mortgag|pledg|\bcharg|\blien|hypothec")
_ONLY_WHERE = re.compile(
    r"\b(?:this (?:section|clause|paragraph|part)|(?:section|clause|paragraph|part)s?\b[^.;]{1,30}|what follows|the following)"
    r"\s(?:is|are|shall be|applies|apply|shall apply)(?: used| relevant)?\s+only\s+(?:where|if|when|to)\b",
    re.IGNORECASE,
)
_NO_SUBJECT = spaced(
    r"\W*(?:which|that|who|where|under which|is|are|may|can|shall|will|must|be|been|not|it|so|then|thereafter|one|no|none|"
    r"nothing|without|paying|repaying|prepaying|returning|giving)\b"
)
_IT = spaced(
    r"\W*(?:\w{1,4}[.)]\s+)?(?:it|this|all this) (?:is|was|may|can|shall|will|has|runs?|works?|operates?|cannot|must)\b"
)
_BARE = spaced(
    r"\W*(?:\w{1,4}[.)]\s+)?(?:no|none|nothing|without|neither|un-?secured|secured|re-?borrow\w*|re-?draw\w*)\b"
)
_HEREBY = spaced(r"\b(?:hereby|herewith|by this (?:deed|instrument|agreement|document))\b")
_REFUSED_AFTER = spaced(
    r"\s*(?:of [^,.;]{1,40} )?(?:is|are|shall be|will be|being) (?:\w+ )?(?:excluded|barred|ruled out|impossible|prohibited|"
    r"forbidden|out of the question)\b"
)
_EXAMPLE = spaced(r"\W*(?:for |by way of |worked )?(?:example|illustration)s?\b(?! of)", re.IGNORECASE)
_EXCERPT = re.compile(r'(?<=[\s(])"(?=[A-Z\u00a7(\d])[^"]{60,1800}[.;]"(?=[\s).,;])')
_QUOTED = re.compile(r'"[^"]*\s[^"]*\s[^"]*"')
_INSERTING = spaced(r"\b(?:insert\w*|read|reads|replaced by|replaced with|amended|means|added)\b")
_FURTHER_SECURITY = re.compile(
    r"(?:collateral|additional|secondary|third[- ]party|other|further) (?:security|securities)"
)
_NEITHER_KIND = re.compile(
    r"\bneither\b.{0,60}\b(?:consumer|personal)\b.{0,60}\bnor\b|\bneither\b.{0,60}\b(?:business|commercial)\b.{0,60}\bnor\b"
)
_OF_OTHER_DEBTS = re.compile(
    r"\b(?:any|no) other (?:claims?|debts?|loans?|obligations?|liabilit(?:y|ies)|sums?|indebtedness|accounts?)\b"
)
_ONE_KIND_OF_THING = re.compile(
    r"\bno (?:land|house|home|dwelling|building|vehicle|car|shares?|stock|chattels?|goods|equipment|machinery|deposit|"
    r"premises)\b"
)
_NAMED_GRANTEE = re.compile(
    r"\b(?:to|in favou?r of|held by|with) (?:the )?(?:[A-Z][\w&'.-]* ){1,5}"
    r"(?:Bank|plc|PLC|Inc\b|LLC|Ltd|Limited|GmbH|AG\b|eG\b|N\.A\.|Trust\b|Finance|Society|Corporation|Company)"
    r"|\b(?:to|in favou?r of) (?:the )?(?!THE\b|US\b|LENDER|BANK|HOLDER|PAYEE|AGENT|SECURE|BORROW|OBLIG)[A-Z]{3,6}\b"
    r"(?! [A-Z]{2,})"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that the loan is an `about` (a class name), with the passage that makes it.

    `strength` is 3 for an operative statement, 2 for a clear sign, 1 for a hint. `cue` is the span of the words that
    carry it, `collateral` that of the thing named as security, all in the plain text. `belief` is how likely its
    passage says so by its meaning, 1 where that was not judged.
    """

    about: str
    strength: int
    implied: bool
    start: int
    end: int
    cue: tuple[int, int]
    unit: int
    collateral: tuple[int, int] | None = None
    anchored: bool = True
    belief: float = 1.0


def find_claims(
    text: str,
    units: Sequence[Unit],
    lexicon: Lexicon,
    *,
    scope: bool = True,
    implied: bool = True,
    roles: Mapping[str, str] | None = None,
) -> list[Claim]:
    """All claims of a plain text in order. Without `scope` neither negation nor markers are heeded (an ablation);
    without `implied` only phrases that name the matter count. `roles` are the names and terms by which the text calls
    its parties ("Monsoon" → "borrower"); phrases about the borrower and the lender then hold for them too.
    """
    return [
        claim for reader in _readers(text, units, lexicon, scope, implied, roles or {}) for claim in reader.claims()
    ]


def whole_claims(
    text: str, units: Sequence[Unit], lexicon: Lexicon, roles: Mapping[str, str], says: Mapping[int, Sequence[str]]
) -> list[Claim]:
    """Find claims of whole units without a known phrase: `says` has the classes by a unit's number. Scope is heeded."""
    return [
        claim
        for reader in _readers(text, units, lexicon, True, True, roles)
        for about in says.get(reader.index, ())
        if not (about in _SECURITY and _is_of_guarantees(reader.raw))
        for claim in reader.whole(about)
    ]


def _is_of_guarantees(words: str) -> bool:
    """Recognise a passage on guarantees alone: one is no collateral, and none given says nothing of security."""
    return _GUARANTEE.search(words) is not None and _COLLATERAL.search(words) is None


def _readers(
    text: str, units: Sequence[Unit], lexicon: Lexicon, scope: bool, implied: bool, roles: Mapping[str, str]
) -> Iterator[_Reader]:
    """A reader for each unit that may say something of this loan."""
    spoken = _by_role(text, roles)
    debts = Debts(text, units, lexicon, roles)
    idle = ""
    aside = _asides(text, units) if scope else frozenset()
    for index, unit in enumerate(units):
        if unit.kind == "signature" or index in aside:
            continue
        if scope and _ONLY_WHERE.search(text, unit.start, unit.end):
            idle = unit.heading
        if scope and idle and unit.heading == idle and unit.kind == "sentence":
            continue
        reader = _Reader(text, index, unit, lexicon, scope, implied, spoken, debts)
        reader.lender_known = "lender" in roles.values()
        if index and units[index - 1].kind == "sentence" and units[index - 1].heading == unit.heading:
            reader.before = spoken[units[index - 1].start : units[index - 1].end]
        yield reader


def _asides(text: str, units: Sequence[Unit]) -> frozenset[int]:
    """Units that are no terms of this loan: paragraphs that give an example, and excerpts quoted at length."""
    quotes = [
        match.span()
        for match in _EXCERPT.finditer(text)
        if not _INSERTING.search(text[max(0, match.start() - 120) : match.start()].lower())
    ]
    asides: set[int] = set()
    example = False
    for index, unit in enumerate(units):
        new = not index or "\n\n" in text[units[index - 1].end : unit.start].replace(" ", "")
        example = _EXAMPLE.match(text, unit.start, unit.end) is not None or (example and not new)
        if example or any(a <= unit.start and unit.end <= b + 1 for a, b in quotes):
            asides.add(index)
    return frozenset(asides)


def _by_role(text: str, roles: Mapping[str, str]) -> str:
    """The text with its parties' names replaced by a pronoun of the same length, padded in front: offsets stay."""
    names = sorted(
        (name for name in roles if len(name) >= 3 and roles[name] in _PRONOUN), key=lambda name: (-len(name), name)
    )
    if not names:
        return text
    pattern = re.compile(
        r"(?<!\w)(?:" + "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in names) + r")(?!\w)"
    )
    pronouns = {" ".join(name.split()): _PRONOUN[roles[name]] for name in names}
    return pattern.sub(lambda match: pronouns[" ".join(match.group().split())].rjust(len(match.group())), text)


def weigh_by_length(claims: Sequence[Claim], text: str) -> list[Claim]:
    """In a long agreement, stray sentences on other people's debts abound: what is merely implied weighs less there.

    That it is secured is believed of implied statements only where the agreement is built around collateral; that it is
    unsecured, only where it says so.
    """
    if len(text) <= LONG_DOCUMENT:
        return list(claims)
    built_on_security = len(_SECURITY_TERMS.findall(text)) >= SECURITY_TERMS
    weighed = []
    for claim in claims:
        strength = claim.strength
        if claim.about == "UnsecuredLoan" and claim.implied:
            strength = min(strength, 1)
        if claim.about == "SecuredLoan" and not built_on_security and (claim.implied or strength < 3):
            strength = min(strength, 1)
        if claim.about == "ClosedEndCredit" and claim.implied:
            strength = min(strength, 2)
        weighed.append(replace(claim, strength=strength))
    return weighed


def settle(claims: Iterable[Claim], lexicon: Lexicon, *, long: bool) -> list[Claim]:
    """The claims that stand: of two opposite classes the weaker side goes unless both are really stated.

    Really stated means strength 2 on both sides, and 3 in a long document, where stray sentences abound.
    """
    groups: dict[str, list[Claim]] = {}
    for claim in claims:
        groups.setdefault(claim.about, []).append(claim)
    anchored = {about for about, group in groups.items() if any(claim.anchored for claim in group)}
    for about in [about for about in groups if about not in anchored and lexicon.opposites.get(about) in anchored]:
        del groups[about]
    needed = 3 if long else 2
    standing: list[Claim] = []
    for about, group in groups.items():
        against = groups.get(lexicon.opposites.get(about, ""), [])
        mine, theirs = _weight(group), _weight(against)
        if not against or (mine[0] >= needed and theirs[0] >= needed):
            standing.extend(claim for claim in group if not against or claim.strength >= min(needed, mine[0]))
        elif mine > theirs or (mine == theirs and about < lexicon.opposites[about]):
            standing.extend(group)
    return sorted(standing, key=lambda claim: (claim.start, claim.about, -claim.strength, claim.cue))


def _weight(claims: Sequence[Claim]) -> tuple[int, float]:
    strongest = max((claim.strength for claim in claims), default=0)
    return strongest, round(sum(claim.belief for claim in claims if claim.strength == strongest), 3)


class _Reader:
    """The claims of one unit; holds what several cues of the unit share."""

    def __init__(
        self,
        text: str,
        index: int,
        unit: Unit,
        lexicon: Lexicon,
        scope: bool,
        implied: bool,
        spoken: str,
        debts: Debts,
    ) -> None:
        self.text = text
        self.debts = debts
        self.spoken = spoken
        self.lender_known = False
        self.before = ""
        self.index = index
        self.unit = unit
        self.lexicon = lexicon
        self.scope = scope
        self.implied = implied
        self.long = len(text) > LONG_DOCUMENT  # there, stems are looked for before phrases, for speed
        self.raw = self.spoken[unit.start : unit.end].lower()
        self.value = unit.value_start - unit.start if unit.label else 0
        self.label = unit.label.lower().strip()
        self.is_row = unit.kind == "row"
        counted = self.is_row and _ORDINAL.fullmatch(self.label) is not None  # "FIFTH: Security for the debt: …"
        inner = _INNER_LABEL.match(self.raw, self.value if counted else 0) if counted or not self.is_row else None
        if inner is not None and self._label_of("SecuredLoan", inner["label"]):
            self.label, self.value, self.is_row = inner["label"], inner.end(), True
        self.is_title = unit.kind == "heading" and (index < TITLE_UNITS and unit.start < TITLE_CHARACTERS)
        allowed = _NOT_NEGATING.sub(lambda match: " " * len(match.group()), self.raw)
        self.negators = [match.span() for match in _NEGATOR.finditer(allowed)] if scope else []
        self.bare = self.raw
        for a, b in self.negators:
            self.bare = self.bare[:a] + " " * (b - a) + self.bare[b:]
        self.clauses = [0, *(match.end() for match in _CLAUSE.finditer(self.raw)), len(self.raw) + 1]

    def claims(self) -> Iterator[Claim]:
        """The claims of the unit. A question states nothing; what is neither the one nor the other is neither."""
        if self.scope and self.raw.rstrip(" \"')").endswith("?"):
            return
        neither = self.scope and _NEITHER_KIND.search(self.raw) is not None
        for claim in self._claims():
            if not (neither and claim.about in ("ConsumerLoan", "CommercialLoan")):
                yield claim

    def whole(self, about: str) -> Iterator[Claim]:
        """That the whole unit says `about`, unless it is a question or speaks of something else."""
        if self.raw.rstrip(" \"')").endswith("?") or self._under_another(about):
            return
        cue = self.lexicon.cues[about][0]
        if not self._silenced(cue, about, 0, len(self.raw)):
            claim = self._claim(about, 2, True, 0, len(self.raw))
            yield claim if self._anchored(0, len(self.raw)) else replace(claim, anchored=False)

    def _claims(self) -> Iterator[Claim]:
        if (self.is_row or self._short_answer()) and not (self.scope and self._under_another("SecuredLoan")):
            yield from self._row_answer()
            drawing = self._drawing_answer()
            if drawing is not None:
                yield drawing
                return
        yielded: set[tuple[str, int, bool]] = set()
        for about, cues in self.lexicon.cues.items():
            trigger = self.lexicon.triggers.get(about) if self.long else None
            if trigger is not None and not trigger.search(self.raw):
                continue
            for cue in cues:
                if not self._applies(cue) or (cue.implied and not self.implied):
                    continue
                for claim in self._matches(cue):
                    key = (claim.about, claim.strength, claim.collateral is not None)
                    if key not in yielded:
                        yielded.add(key)
                        yield claim

    def _under_another(self, about: str) -> bool:
        """Return True where the heading says that what stands under it is not about this loan."""
        heading = self.unit.heading.lower()
        return any(
            marker.reach == "heading" and marker.pattern.search(heading)
            for marker in self.lexicon.markers.get(about, ())
        )

    def _short_answer(self) -> bool:
        is_short = self.unit.kind == "sentence" and len(self.raw) <= 60
        return is_short and self._label_of("SecuredLoan", self.unit.heading.lower())

    def _label_of(self, about: str, label: str) -> bool:
        pattern = self.lexicon.labels.get(about)
        cleaned = re.sub(r"\s*\([^)]*\)", "", label).strip(" .:*")
        return pattern is not None and pattern.fullmatch(cleaned) is not None

    def _row_answer(self) -> Iterator[Claim]:
        """ "Security: none", "Collateral: …", "Security. Yes": the value answers the label."""
        label = self.label or self.unit.heading.lower()
        if not self._label_of("SecuredLoan", label):
            return
        value = self.raw[self.value :].strip()
        if _NONE.match(value):
            further = _FURTHER_SECURITY.match(label) and re.search(r"primary\s+security", self.text, re.IGNORECASE)
            yield self._claim("UnsecuredLoan", 1 if further else 3, False, self.value, len(self.raw))
            return
        yes = _YES.match(value)
        if yes is not None and not re.search(r"\b(?:by|over|on|against)\b", yes["more"][:40]):
            yield self._claim("SecuredLoan", 3, False, self.value, len(self.raw))
            return
        if not self.is_row or _GUARANTEE_ONLY.match(value) or not any(c.isalpha() for c in value):
            return
        denied = any(cue.denies and cue.pattern.search(self.raw) for cue in self.lexicon.cues.get("SecuredLoan", ()))
        if denied or (self.scope and re.search(r"\b(?:no(?!\.)|not|none|nothing|unsecured|never)\b", value)):
            return
        claim = self._claim("SecuredLoan", 3, True, self.value, len(self.raw))
        yield replace(claim, collateral=_collateral_span(self.text, self.unit.start + self.value, self.unit.end))

    def _drawing_answer(self) -> Claim | None:
        """ "Redrawing of sums repaid: not possible": the label asks whether credit comes back, the value answers."""
        if not _DRAWN_AGAIN.search(self.label) and not _DRAWN_AGAIN.search(self.raw[: self.value]):
            return None
        value = self.raw[self.value :].strip()
        about = "ClosedEndCredit" if _REFUSED.match(value) else "OpenEndCredit" if _ALLOWED.match(value) else None
        return self._claim(about, 3, True, self.value, len(self.raw)) if about else None

    def _applies(self, cue: Cue) -> bool:
        if cue.where == "title":
            return self.is_title
        if cue.where == "row":
            return self.is_row and self._row_label_fits(cue.about)
        return cue.where == "any" and (self.unit.kind != "heading" or self.is_title or cue.denies)

    def _row_label_fits(self, about: str) -> bool:
        if self._label_of("OpenEndCredit", self.label):
            return True
        if about in _MATTERS:
            return about in _SECURITY and self._label_of("SecuredLoan", self.label)
        return re.search(r"\b(?:\w*purposes?|uses?|usage|kinds?|types?|products?)\b", self.label) is not None

    def _matches(self, cue: Cue) -> Iterator[Claim]:
        body = self.raw if cue.denies or not cue.negatable else self.bare
        begin = self.value if cue.where == "row" else 0
        for match in cue.pattern.finditer(body, begin):
            claim = self._judge(cue, *match.span())
            if claim is not None:
                yield claim

    def _judge(self, cue: Cue, a: int, b: int) -> Claim | None:
        """The claim that a cue at `[a, b)` of the unit makes, once polarity and scope are heeded."""
        turned = self._polarity(cue, a, b)
        if turned is None:
            return None
        about, strength = turned
        if self.scope and self._silenced(cue, about, a, b):
            return None
        if self.scope and about == "UnsecuredLoan" and _ONE_KIND_OF_THING.search(self.raw, max(0, a - 25), b):
            strength = 1
        if self.unit.kind == "heading" and not self.is_title:
            strength = min(strength, 2)
        claim = self._claim(about, strength, cue.implied, a, b)
        if about == "SecuredLoan":
            claim = replace(claim, collateral=self._collateral_after(b, a))
        if self.scope and about in _MATTERS and not self._anchored(a, b):
            claim = replace(claim, anchored=False)
        return claim

    def _polarity(self, cue: Cue, a: int, b: int) -> tuple[str, int] | None:
        """The class and strength a cue speaks for; None where a denial of it says nothing."""
        negated = self.scope and not cue.denies and cue.negatable and self._negated(a, b)
        if not negated and not cue.denies:
            return cue.about, cue.strength
        opposite = self.lexicon.opposites.get(cue.about)
        if opposite is None or (negated and cue.strength == 1):
            return None
        if cue.about == "SecuredLoan":
            return self._denial_of_security(cue, opposite, a, b, negated=negated)
        weaker = {"ClosedEndCredit": 2, "CommercialLoan": 1}
        return opposite, min(cue.strength, weaker.get(cue.about, 3))

    def _denial_of_security(self, cue: Cue, opposite: str, a: int, b: int, *, negated: bool) -> tuple[str, int] | None:
        """A denial with an exception asserts; one of "other" security says nothing, of a particular thing little."""
        of_a_thing = self._specific_object(b)
        if (negated and of_a_thing) or self._specific_subject(a, b):
            return None
        if _EXCEPTION.search(self.raw, a, b + 45):
            return "SecuredLoan", 2
        if _ONLY_THAT.search(self.raw, max(0, a - 3), b):
            return None
        return opposite, 1 if of_a_thing else cue.strength

    def _held_elsewhere(self, cue: Cue, about: str, a: int, b: int) -> bool:
        """Security that another lender holds, or that exists "if any"."""
        if about != "SecuredLoan" or cue.about not in _SECURITY:
            return False
        return (_OTHER_HOLDER.search(self.raw, a, b + 70) or _IF_ANY.search(self.raw, b, b + 80)) is not None

    def _anchored(self, a: int, b: int) -> bool:
        """Return True where the clause names this loan or its parties.

        A row or a bare statement ("No security is taken") is accepted too.
        """
        if self.is_row or self.unit.kind == "heading":
            return True
        start = self._clause_start(a)
        while start and _NO_SUBJECT.match(self.raw, start):
            start = max(cut for cut in self.clauses if cut < start)
        stop = self._clause_stop(b)
        if start == 0 and _IT.match(self.raw):
            return True
        return self.debts.anchored(self.raw[start:stop]) or (_BARE.match(self.raw) is not None and len(self.raw) < 140)

    def _clause_start(self, a: int) -> int:
        return max((cut for cut in self.clauses if cut <= a), default=0)

    def _clause_stop(self, b: int) -> int:
        return next((cut for cut in self.clauses if cut > b), len(self.raw))

    def _silenced(self, cue: Cue, about: str, a: int, b: int) -> bool:
        """Return True where something in the clause shows that it does not speak of this loan."""
        return (
            self._blocked(about, a, b, cue)
            or self._held_elsewhere(cue, about, a, b)
            or self._mentioned_only(a, b)
            or (about in _MATTERS and self._of_another_debt(about, a, b))
            or (about == "UnsecuredLoan" and _OF_OTHER_DEBTS.search(self.raw, a, b + 60) is not None)
            or (about == "SecuredLoan" and self._granted_to_another(a, b))
        )

    def _mentioned_only(self, a: int, b: int) -> bool:
        """Return True where the cue stands within words that a sentence merely quotes."""
        return any(
            quote.start() < a and b < quote.end() and len(self.raw) - len(quote.group()) > 15
            for quote in _QUOTED.finditer(self.raw)
        ) and not _INSERTING.search(self.raw)

    def _of_another_debt(self, about: str, a: int, b: int) -> bool:
        """Return True where the clause is about another debt than the document's own."""
        start = self._clause_start(a)
        if self.debts.another(self.raw, start, a, b, len(self.raw), security=about in _SECURITY):
            return True
        if self.before and self.debts.continues(self.raw) and self.debts.elsewhere(self.before):
            return True
        spoken = self.spoken[self.unit.start : self.unit.end]
        if self.debts.product(spoken, start, b):
            return True
        if about == "UnsecuredLoan" or self.debts.is_own(self.raw[start:b]):
            return False
        return self.debts.another_creditor(spoken, self.raw, start, min(self._clause_stop(b), b + 90))

    def _granted_to_another(self, a: int, b: int) -> bool:
        """Detect a grant to somebody who is called by a name of their own and is not the lender."""
        start = self.unit.start
        named = _NAMED_GRANTEE.search(self.spoken, start + a, min(self.unit.end, start + b + 100))
        if named is None:
            return False
        # Where the lender is not known, whoever is named at the beginning may be it.
        return self.lender_known or named.group().split(" ", 1)[1] not in self.text[:TITLE_CHARACTERS]

    def _negated(self, a: int, b: int) -> bool:
        clause = self._clause_start(a)
        leading = _LEADING_CLAUSE.match(self.raw, clause, a)
        clause = leading.end() if leading is not None else clause
        earliest = max(clause, a - 60)
        if any(earliest <= start and end <= b for start, end in self.negators):
            return True
        return (_NOTHING_AFTER.match(self.raw, b) or _REFUSED_AFTER.match(self.raw, b)) is not None

    def _specific_object(self, b: int) -> bool:
        """Return True where a particular thing follows at once: "no charge over the house" leaves the car open."""
        match = (
            _OBJECT.search(self.raw, max(0, b - 6), b + 40)
            if _ENDS_IN_PLACE.search(self.raw, max(0, b - 6), b)
            else _OBJECT_NEXT.match(self.raw, b)
        )
        return match is not None and _GENERIC_OBJECT.match(match["object"]) is None

    def _specific_subject(self, a: int, b: int) -> bool:
        """Return True where a particular thing is not charged: "his house is not charged" leaves the rest open."""
        start = self._clause_start(a)
        passive = _PASSIVE.search(self.raw, start, b)
        return passive is not None and _GENERIC_SUBJECT.search(self.raw, start, passive.start()) is None

    def _blocked(self, about: str, a: int, b: int, cue: Cue) -> bool:
        firm = cue.firm or _HEREBY.search(self.raw, a, b) is not None
        passed_over = {"freeOf": cue.denies, "condition": firm, "definition": cue.defining}
        return any(
            not passed_over.get(marker.name) and self._holds(marker, a, b)
            for marker in self.lexicon.markers.get(about, ())
        )

    def _holds(self, marker: Marker, a: int, b: int) -> bool:
        raw = self.raw
        if marker.reach == "heading":
            return self.unit.kind != "heading" and marker.pattern.search(self.unit.heading.lower()) is not None
        if marker.reach == "before":
            start, end = self._clause_start(a), b
        elif marker.name == "definition" or (marker.name == "elsewhere" and len(raw) <= PASSAGE):
            start, end = 0, len(raw)
        else:
            start, stop = raw.rfind(";", 0, a) + 1, raw.find(";", b)
            end = stop if stop >= 0 else len(raw)
        return any(
            marker.unless is None or marker.unless.search(raw, max(0, match.start() - 90), match.start()) is None
            for match in marker.pattern.finditer(raw, start, end)
        )

    def _collateral_after(self, b: int, a: int) -> tuple[int, int] | None:
        """The thing named after the cue ("a charge over …", "pledges …"), else before it ("… stands behind it")."""
        start = self.unit.start + b
        limit = min(self.unit.end, start + 300)
        preposition = re.search(r"\b(?:in|on|over|upon|by|against|with|of)\b\s*$", self.raw[a:b])
        named = re.search(r"\b(?:is|consists of|comprises)\s+(?P<what>(?:the|a|your|one|all|my))$", self.raw[a:b])
        if named is not None:
            return _collateral_span(self.text, start - len(named["what"]), limit)
        granted = re.search(r"\bto (?:the )?[a-z]+$", self.raw[a:b])
        if (preposition and not _FAVOUR.match(self.text, start, limit)) or (
            granted and not re.match(r"\s*(?:as|by|for|in|to|,|\.)", self.text[start:limit])
        ):
            return _collateral_span(self.text, start, limit)
        match = _COLLATERAL_AFTER.match(self.text, start, limit) or _OBJECT_AFTER.match(self.text, start, limit)
        if match is not None:
            return _collateral_span(self.text, *match.span("text"))
        verb = _SUBJECT_SECURES.search(self.raw, a, b)
        if verb is None:
            return None
        return _collateral_span(self.text, self.unit.start + self._clause_start(a), self.unit.start + verb.start())

    def _claim(self, about: str, strength: int, implied: bool, a: int, b: int) -> Claim:
        start, end = passage(self.text, self.unit, self.unit.start + a, self.unit.start + b)
        return Claim(about, strength, implied, start, end, (self.unit.start + a, self.unit.start + b), self.index)


def _collateral_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The thing named, without what follows it: up to a full stop, a clause that secures, or 200 characters."""
    piece = text[start : min(end, start + 240)]
    stop = re.search(
        r"(?:(?<![Nn]o)\.(?!\d|[A-Z]\.|\w)|;|,? to secure\b|,? as (?:continuing |collateral )?(?:security|cover)\b|"
        r",? in favou?r of\b|(?<=\w),? by way of\b|,? for the (?:payment|repayment)\b|"
        r",? which\b|,? and (?:the|shall|will|agrees)\b|,? until\b|,? that\b|"
        r"\s+to\s+(?:us|me|the\s+\w+)(?=\s+(?:for|until|as|by)\b|\s*$))",
        piece,
    )
    if stop is not None and stop.start() > 2:
        piece = piece[: stop.start()]
    elif len(piece) > 200:
        piece = piece[: piece.rfind(" ", 0, 200)]
    stripped = piece.strip(" \n,:-")
    if len(stripped) < 3 or not any(c.isalpha() for c in stripped):
        return None
    begin = start + piece.index(stripped)
    return begin, begin + len(stripped)


def passage(text: str, unit: Unit, a: int, b: int) -> tuple[int, int]:
    """The span to quote for a cue at `[a, b)`: the whole unit, or in a long one the part between semicolons."""
    start, end = unit.start, unit.end
    if end - start <= PASSAGE:
        return start, end
    cut = text.rfind(";", start, a)
    start = cut + 1 if cut >= 0 else start
    cut = text.find(";", b, end)
    end = cut + 1 if cut >= 0 else end
    if end - start > PASSAGE:
        room = max(0, PASSAGE - (b - a))
        left = max(start, a - room // 2)
        right = min(end, max(b, left + PASSAGE))
        left = max(start, min(left, right - PASSAGE))
        if left > start:
            space = text.find(" ", left, a)
            left = space + 1 if space >= 0 else left
        if right < end:
            space = text.rfind(" ", b, right)
            right = space if space >= 0 else right
        start, end = left, right
    while start < a and text[start].isspace():
        start += 1
    while end > b and text[end - 1].isspace():
        end -= 1
    return start, end
