"""Norms of policies: who must, must not, may or need not do what, when, how much, in which section, since when.

A norm is read from one sentence by the cues of `forces` and the quantities of `quantities`. A sentence with several
of them gives several norms; one without a cue is a plain statement, which a policy means as its rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from ovrag_core.text import find_passages, stems
from ovrag_studies.cited.corpus.policies import PolicyCorpus, PolicyDocument
from ovrag_studies.cited.language.amounts import find_amounts, without_amounts
from ovrag_studies.cited.language.forces import Force, ForceCue, find_cues
from ovrag_studies.cited.language.quantities import Quantity, find_quantities
from ovrag_studies.cited.language.readings import RULING
from ovrag_studies.cited.language.thesaurus import concepts

# A heading that was joined with its first sentence: words with capitals, up to the last before the sentence goes on.
_CAPITAL = r"(?:[A-Z][\w'’&/-]*[a-z][\w'’&/-]*|[A-Z&]{1,5}|\([A-Z]+\))"
_HEADING = re.compile(
    rf"(?P<number>\d+(?:\.\d+)*)\.?\s+(?:(?P<title>{_CAPITAL}(?:\s+(?:(?:and|or|of|the|for|to|in|on"
    rf"|with)\s+)*{_CAPITAL})*)"
    r"\s+(?=[A-Z])|(?P<asked>[A-Z][^.?!]{3,60}\?)\s+"
    r"|(?P<plain>(?!(?:The|An?|All|Every|Each|No|Any)\s)(?:(?!\b(?:is|are|must|shall|may|can|will|has|have"
    r"|should|not)\b)[^.?!:;]){2,50})\.\s+(?=[A-Z]))"
)
# "Part F. Records. Regulation 19." before the text of a paragraph.
_LABELLED = re.compile(
    r"\s*(?P<kind>Part|Schedule|Regulation|Section|Article|Clause|Chapter|Paragraph|Rule|Annex|Appendix|Title"
    r"|Division|Standard"
    r"|Guideline|Policy|Procedure|Module|Unit|Provision|(?:[A-Z][a-z]+\s+)?(?P<added>Sheet|Bulletin"
    r"|Circular|Rider))\s+(?P<number>\d+(?:\.\d+)*|[A-Z]|[IVX]{1,5})\b"
    r"(?:,?\s+(?:(?i:in\s+force|effective|dated|valid|of))\b[^.;]{0,30}?\b\d{4}\b)?"
    r"(?:\s*[.:–—-]\s*(?P<title>(?!(?:Part|Schedule|Regulation|Section|Article|Clause|Chapter|Paragraph|Rule)\s)"
    rf"{_CAPITAL}(?:,?\s+(?:(?:and|or|of|the|for|to|in|on|with)\s+)*{_CAPITAL})*)(?=[.:]"
    rf"|\s*$))?\s*[.:–—-]?\s+(?=[A-Z\"“])"
)
_ADDED = ("sheet", "bulletin", "circular", "rider")  # a document may be an addendum or update, but hardly a sheet
_ANY_LABEL = "*"  # a heading that is a number alone may be called section, chapter, part ...
_WIDER = (
    "title",
    "part",
    "division",
    "schedule",
    "annex",
    "appendix",
    "chapter",
    "module",
    "unit",
    *_ADDED,
)  # hold other labels
_TITLE_END = re.compile(r"\b(?:Version|Revision|Issue|Edition|Status|Classification|Effective|Approved|Dated)\b|[.:;|]")
_PEOPLE = re.compile(
    r"(?:staff|crew|personnel|people|everyone|everybody|anyone|nobody|women|men|[a-z]{2,}ees?|[a-z]{3,}ists?"
    r"|(?:under|post)?graduates?"
    r"|(?:person|team|user|member|intern|apprentice|head|guest|colleague|student|assistant|consultant|master|agent"
    r"|individual|freelancer|applicant|resident|pilot|nurse|chief|partner|parent|volunteer|child|client|accountant"
    r"|manager|director|officer|driver|visitor|contractor|supplier|worker|leader|owner|holder|travell?er|customer"
    r"|engineer|trainer|developer|administrator|operator|passenger|buyer|vendor|bidder|starter|leaver|joiner|author"
    r"|teacher|lecturer|tutor|pupil|tenant|learner|patient|reader|borrower|governor|trustee|councillor|member"
    r"|candidate|supervisor|auditor|inspector|interviewer|researcher|rider|cyclist|bearer|cleaner)s?)$",
    re.I,
)
_QUANTIFIERS = frozenset(stems("all any every each both either company organisation organization full time part new"))
_CONDITION = re.compile(
    r"\b(?:if|unless|until|when(?:ever)?|where|except|subject to|provided|only|without|with (?:the |prior |written )*"
    r"(?:\w+ )?(?:approval|permission|consent|authori[sz]ation|agreement)|in case of|in the event)\b[^.;]*",
    re.I,
)
# "The VPN must be on when using hotel networks" takes it that hotel networks may be used.
_ASSUMED = re.compile(r"\b(?:when|whenever|while)\s+(?P<what>[a-z]+ing\b[^,;.]*)", re.I)
_NO_LATER = re.compile(r"\b(?:no|not) later than\s*$", re.I)
_LISTED = re.compile(r",[^,]*\b(?:and|or)\s+\S+(?:\s+\S+)?\s*$")
_AHEAD = re.compile(r"\s*(?:before|in advance|ahead|prior to|beforehand)\b", re.I)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|will|does|do|must|shall|should|may|can|cannot|need)\b", re.I)
_WORD = re.compile(r"[A-Za-z][\w'’-]*")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a norm holds: the title of its document, and number and heading of its section, empty where none is.

    `labels` name all that it stands in: "part f", "regulation 19", "section 4", "section 4.2".
    """

    title: str
    number: str
    heading: str
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NormSource:
    """Where a norm is written: `text` is the sentence, `start` and `end` count in the document."""

    doc_id: str
    paragraph_id: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Norm:
    """A rule of one sentence. `actor` are stems of who is named as bound, empty where nobody is.

    `action` are stems of what the rule governs (the verb or thing next to its cue), `cue` its words. `quantity` is what
    it sets, if anything. `former` says that the sentence reports what held before. `date` is that of the document.
    `matter` are concepts of the verb, its object and its subject; `implied` norms follow from a phrase ("without a
    test") and have no modal verb.
    """

    actor: frozenset[str]
    modality: Force
    action: frozenset[str]
    condition: str
    quantity: Quantity | None
    scope: Scope
    source: NormSource
    date: str
    cue: str = ""
    former: bool = False
    matter: frozenset[str] = frozenset()
    implied: bool = False


def section_of(norm: Norm) -> tuple[str, str, str]:
    """The section that a norm stands in: document, number, and the paragraph where sections have no numbers."""
    return norm.source.doc_id, norm.scope.number, "" if norm.scope.number else norm.source.paragraph_id


def read_norms(corpus: PolicyCorpus) -> tuple[Norm, ...]:
    """All norms of a corpus, in the order of its documents; of a paragraph that stands twice, those of its places."""
    return tuple(norm for document in corpus.documents.values() for norm in _of_document(document, corpus))


def _of_document(document: PolicyDocument, corpus: PolicyCorpus) -> Iterator[Norm]:
    title, date, scope = title_of(document), date_of(document), Scope("", "", "")
    for start, end, paragraph_id in sorted(
        (place.start, place.end, place.id)
        for paragraph in corpus.paragraphs
        for place in paragraph.places
        if place.doc_id == document.doc_id
    ):
        text = document.text[start:end]
        scope, skip = _opened(text, replace(scope, title=title))
        for left, right in _sentences(text[skip:]):
            sentence = text[skip + left : skip + right]
            place = NormSource(document.doc_id, paragraph_id, start + skip + left, start + skip + right, sentence)
            yield from read_sentence(place, scope, date)


def _opened(text: str, scope: Scope) -> tuple[Scope, int]:
    """The scope after the labels and the heading that a paragraph begins with, and where its text begins."""
    skip = 0
    while (label := _LABELLED.match(text, skip)) and label.end() < len(text):
        kind, skip = (label["added"] or label["kind"]).lower(), label.end()
        kept = frozenset() if kind in _WIDER else frozenset(each for each in scope.labels if each.split()[0] in _WIDER)
        labels = kept | {f"{kind} {label['number'].lower()}"}
        scope = Scope(scope.title, label["number"], str(label["title"] or scope.heading), labels)
    heading = _HEADING.match(text, skip)
    if heading:
        parts = heading["number"].split(".")
        labels = frozenset(f"{_ANY_LABEL} {'.'.join(parts[: depth + 1])}" for depth in range(len(parts)))
        scope = Scope(scope.title, heading["number"], _title(heading), labels)
        skip = heading.end()
    return scope, skip


# A label at the end of a sentence is no abbreviation: "prevails over Part F. A deposit ..."
_LABEL_END = re.compile(
    r"(?<=\s)(?:Part|Schedule|Regulation|Section|Article|Clause|Chapter|Annex|Appendix) (?:[A-Z]|[IVX]+"
    r"|\d+(?:\.\d+)*)\.(?=\s+[A-Z])"
)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _answered(text):
        ends = [match.end() for match in _LABEL_END.finditer(text, start, end) if text[start : match.start()].strip()]
        for left, right in pairwise([start, *ends, end]):
            if len(_WORD.findall(text[left:right])) > _LEAST_WORDS:
                yield left + len(text[left:right]) - len(text[left:right].lstrip()), right


def _answered(text: str) -> Iterator[tuple[int, int]]:
    """Passages; a question is read with its answer: "May I paint my room? Certainly."""
    asked: int | None = None
    for start, end in find_passages(text):
        begin = start if asked is None else asked
        asked = begin if text[start:end].endswith("?") else None
        if asked is None:
            yield begin, end
    if asked is not None:
        yield asked, len(text.rstrip())


_LEAST_WORDS = 2  # "Regulation 27." rules nothing


def _title(heading: re.Match[str]) -> str:
    return str(heading["title"] or heading["asked"] or heading["plain"])


def read_sentence(source: NormSource, scope: Scope, date: str) -> Iterator[Norm]:
    """The norms of a sentence: one for each cue, and one for each quantity with the cue that is nearest before it."""
    text = source.text
    found = find_condition(text)
    cues = _commanded(find_cues(text), text)
    actor = find_actor(text)
    at = 0
    for cue in cues:
        at = max(text.find(cue.text, at), 0)
        matter = _matter(text, at, at + len(cue.text))
        if not _RELATIVE.search(text, max(0, at - 20), at):
            yield Norm(actor, cue.force, cue.head, found, None, scope, source, date, cue.text, cue.former, matter)
    for force, what in _implied(text, cues):
        words = frozenset(concepts(what)) - RULING
        if words:
            yield Norm(actor, force, words, "", None, scope, source, date, what, False, words, implied=True)
    assumed = _ASSUMED.search(text)
    if assumed and any(cue.force == "duty" for cue in cues):
        words = frozenset(stems(assumed["what"]))
        matter = frozenset(concepts(assumed["what"])) - RULING
        yield Norm(actor, "may", words, "", None, scope, source, date, assumed[0].split()[0], False, matter)
    for quantity in find_amounts(text):
        if quantity.unit != "item":
            cue, set_ = _cue_at(text, cues, quantity.start), _with_bound(quantity, text)
            yield Norm(actor, cue.force, cue.head, found, set_, scope, source, date, cue.text, set_.former)


_DETERMINER = (
    r"(?:the|an?|your|their|our|his|her|its|every|each|all|any|no|this|that|these|those|it|them|him|yourself|only|both"
    r"|somebody|anyone|at|\d+)"
)
_NO_COMMAND_TEXT = """in on at for from to by with without during after before within under over above below until since
upon if unless when where while as and but or because the an a each every all any no not this that these those there it
they we you he she who what which nobody everyone both either such most some many few only once per about against among
between through of than so then also except whoever whenever wherever whatever outside inside beyond despite throughout
regardless via is are was were be has have had must shall should may can will does do did like between near half twice
one two three"""
_NO_COMMAND = frozenset(_NO_COMMAND_TEXT.split())
_COMMAND = re.compile(
    rf"(?:^|,\s+(?:then\s+|please\s+)?|^(?:please|always|then)\s+)(?P<verb>[A-Za-z]+)(?:\s+(?:in|out|up|off"
    rf"|down|away|back|round|over|to|for|on|through|with))?\s+{_DETERMINER}\b"
)
_BARRED = re.compile(
    r"(?:^|,\s+)(?:(?:do not|don['’]t|never)\s+(?P<verb>[a-z]+)|(?:nobody|no one|no-one|nothing|none"
    r"|no (?:[a-z-]+ ){1,3}?)(?:\s?from [^,.;]*?|\s?of [^,.;]*?)?"
    r"\s?\b(?P<does>(?!is\b|are\b|was\b|has\b|have\b|later\b|more\b|less\b|longer\b)[a-z]{2,}s|go|goes|leave"
    r"|do not come)\b)",
    re.I,
)


_REFUSED = re.compile(r"\?\s+(?:No|Never|Not|Certainly not|Sorry|Unfortunately)\b")
_NO_THING = re.compile(r"^No\s+(?!one\b|later\b|more\b|less\b)[a-z]", re.I)
_PEOPLE_DO = re.compile(
    r"^(?:[\w'’-]+\s+){0,3}?(?P<who>[\w'’-]+s|staff|crew|people|personnel)\s+(?P<verb>[a-z]{3,})(?<!ly)\b"
)


def _commanded(cues: tuple[ForceCue, ...], text: str) -> tuple[ForceCue, ...]:
    """The cues of a sentence. One without any may command: "Hand in the keys", "Nobody enters", "Guests pay"."""
    if cues[0].force == "may" and _REFUSED.search(text):  # "May I park here? No."
        return (replace(cues[0], force="ban"), *cues[1:])
    if len(cues) != 1 or cues[0].text:
        return cues
    plain = cues[0]
    barred = _BARRED.search(text)
    if barred:
        word = barred["verb"] or barred["does"]
        return (replace(plain, force="ban", head=frozenset(stems(word)), text=word),)
    if _NO_THING.search(text) and not _VERB.search(text):
        return (replace(plain, force="ban", head=plain.around, text=text.split(maxsplit=1)[0]),)
    word = _command(text) if plain.force == "is" else ""
    return (replace(plain, force="duty", head=frozenset(stems(word)), text=word),) if word else cues


def _command(text: str) -> str:
    """The verb that a sentence commands, or says that people do; empty where it does neither."""
    people = _PEOPLE_DO.match(text)
    if people and _PEOPLE.match(people["who"]) and people["verb"].lower() not in _NO_COMMAND:
        return str(people["verb"])
    words = (str(match["verb"]) for match in _COMMAND.finditer(text))
    verbs = (word for word in words if word.lower() not in _NO_COMMAND and not word.endswith(("s", "ed", "ing", "ly")))
    return next(verbs, "")


_RELATIVE = re.compile(r"\b(?:that|which|who)\s+(?:\w+\s+)?$", re.I)
_OBJECT_ENDS = re.compile(
    r"[.,;:()]|\b(?:of|in|on|at|for|from|to|by|with|without|during|after|before|within|under|over|above|below"
    r"|until|since"
    r"|if|unless|when|where|while|and|but|or|because|through|via|per|as|that|which|who)\b",
    re.I,
)


def _matter(text: str, start: int, end: int) -> frozenset[str]:
    """Concepts of what is said before a cue in its clause, and of what comes right after it."""
    text = without_amounts(text)
    verb = re.match(r"\W*(?:(?:be|been|only|not|also|always|then|now|to|\w+ly)\s+)*", text[end:])
    begin = end + (verb.end() if verb else 0)
    rest = _OBJECT_ENDS.search(text, begin + 1)
    before = re.split(r"[;,]\s", text[:start])[-1]
    return (
        frozenset(concepts(before)) | frozenset(concepts(text[begin : rest.start() if rest else len(text)]))
    ) - RULING


_WITHOUT_WHAT = re.compile(
    r"\bwithout (?:(?:an?|any|the|their|prior|further|written|previous|obtaining|having"
    r"|first)\s+)*(?P<what>[\w'’-]+(?:\s+(?!"
    r"(?:of|from|by|in|on|at|for|if|when|and|or|unless|being|before|is|are|must|may)\b)[\w'’-]+){0,4})",
    re.I,
)
_BEFORE_DONE = re.compile(
    r"\bbefore (?P<what>(?:[\w'’()-]+\s+){1,7}?(?:is|are|has been|have been|was|were) (?!not\b)[a-z]+(?:ed|en"
    r"|wn|ade|one|ent))\b",
    re.I,
)
_ONLY_WITH = re.compile(
    r"\b(?:only (?:with|after|against|upon|on|if|when|once)|unless|subject to|provided(?: that)?|conditional on"
    r"|except with)\s+"
    r"(?:(?:an?|any|the|their|prior|further|written|previous)\s+)*(?P<what>[\w'’-]+(?:\s+(?!(?:of|from|by|in|on"
    r"|at|for|if|when"
    r"|and|or|unless|before|must|may)\b)[\w'’-]+){0,4})",
    re.I,
)


_PLAINLY_NOT = re.compile(r"\b(?:not|never|no)\b|n['’]t\b", re.I)


def _implied(text: str, cues: tuple[ForceCue, ...]) -> Iterator[tuple[Force, str]]:
    """What a phrase requires or waives: "only with a permit" and "not without a permit", "may ... without a permit"."""
    for match in _WITHOUT_WHAT.finditer(text):
        force = _cue_at(text, cues, match.start()).force
        negative = force == "ban" or (force == "not" and bool(_PLAINLY_NOT.search(text, 0, match.start())))
        yield ("duty" if negative else "waived"), match["what"]
    if any(cue.force in ("may", "is") for cue in cues):
        for match in _BEFORE_DONE.finditer(text):
            if _cue_at(text, cues, match.start()).force == "may":
                yield "waived", match["what"]
    for match in _ONLY_WITH.finditer(text):
        optional = match[0].lower().startswith("unless") and _cue_at(text, cues, match.start()).force not in (
            "ban",
            "not",
        )
        if not find_amounts(match["what"]) and not optional:
            yield "duty", match["what"]


def _with_bound(quantity: Quantity, text: str) -> Quantity:
    """ "No later than 8 weeks before the event" sets a minimum."""
    ahead = _NO_LATER.search(text, 0, quantity.start) and _AHEAD.match(text, quantity.end)
    return replace(quantity, bound="least") if ahead else quantity


def _cue_at(text: str, cues: tuple[ForceCue, ...], position: int) -> ForceCue:
    at, chosen = 0, cues[0]
    for cue in cues:
        at = text.find(cue.text, at)
        if at < 0 or at > position:
            break
        chosen = cue
    return chosen


def find_actor(sentence: str) -> frozenset[str]:
    """Stems of the people that the first words of a sentence name, before its verb; empty where they name a thing.

    "All" and the like are left out.
    """
    words = _subject_words(sentence)
    if not words or not _PEOPLE.match(words[-1]):
        return frozenset()
    return frozenset(stems(" ".join(words))) - _QUANTIFIERS


def _subject_words(sentence: str) -> list[str]:
    verb = _VERB.search(sentence)
    before = sentence[: verb.start()] if verb else ""
    last = before if "," not in before or _LISTED.search(before) else before.rsplit(",", 1)[1]
    return _WORD.findall(re.split(r"\b(?:of|in|on|at|with|without|who|which|that|for|from|to|by)\b", last)[0])


def find_condition(sentence: str) -> str:
    """The words of the first condition of a sentence; empty where it has none."""
    match = _CONDITION.search(sentence)
    return match[0].strip() if match else ""


def title_of(document: PolicyDocument) -> str:
    """What a document calls itself: its first line up to its version; else its id in words."""
    first = document.text.split("\n", 1)[0][:120]
    dates = [each.start for each in find_quantities(first) if each.unit == "date"]
    found = _TITLE_END.search(first)
    title = first[: min([*dates, found.start() if found else len(first)])].strip(" -–—,")
    return title if 0 < len(title.split()) <= 10 else document.doc_id.replace("_", " ")


def date_of(document: PolicyDocument) -> str:
    """The first date among the first words of a document, `2025-01-??` for a month; empty where there is none."""
    dates = [str(each.value) for each in find_quantities(document.text[:400]) if each.unit == "date"]
    return next((date for date in dates if not date.startswith("?")), "")
