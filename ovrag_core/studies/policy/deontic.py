"""Norms of policies: who must, must not, may or need not do what, when, how much, in which section, since when.

A norm is read from one sentence by the cues of `polarity` and the quantities of `quantities`. A sentence with several
of them gives several norms; one without a cue is a plain statement, which a policy means as its rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ovrag_core.documents.passages import find_passages
from ovrag_core.retrieval.words import stems
from ovrag_core.studies.policy.corpus import Corpus, Paragraph, PolicyDocument
from ovrag_core.studies.policy.polarity import Cue, Force, find_cues
from ovrag_core.studies.policy.quantities import Quantity, find_quantities

# A heading that was joined with its first sentence: words with capitals, up to the last before the sentence goes on.
_CAPITAL = r"(?:[A-Z][\w'’&/-]*[a-z][\w'’&/-]*|[A-Z&]{1,5}|\([A-Z]+\))"
_HEADING = re.compile(
    rf"(?P<number>\d+(?:\.\d+)*)\.?\s+(?:(?P<title>{_CAPITAL}(?:\s+(?:(?:and|or|of|the|for|to|in|on|with)\s+)*{_CAPITAL})*)"
    r"\s+(?=[A-Z])|(?P<asked>[A-Z][^.?!]{3,60}\?)\s+)"
)
_TITLE_END = re.compile(r"\b(?:Version|Revision|Issue|Edition|Status|Classification|Effective|Approved|Dated)\b|[.:;|]")
_PEOPLE = re.compile(
    r"(?:staff|crew|personnel|people|everyone|everybody|anyone|nobody|women|men|[a-z]{2,}ees?|[a-z]{3,}ists?"
    r"|(?:person|team|user|member|intern|apprentice|head|guest|colleague|student|assistant|consultant|master|agent"
    r"|individual|freelancer|applicant|resident|pilot|nurse|chief|partner|parent|volunteer|child|client|accountant"
    r"|manager|director|officer|driver|visitor|contractor|supplier|worker|leader|owner|holder|travell?er|customer"
    r"|engineer|trainer|developer|administrator|operator|passenger|buyer|vendor|bidder|starter|leaver|joiner|author"
    r"|teacher|lecturer|tutor|supervisor|auditor|inspector|interviewer|researcher|rider|cyclist|bearer|cleaner)s?)$",
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
    """Where a norm holds: the title of its document, and number and heading of its section, empty where none is."""

    title: str
    number: str
    heading: str


@dataclass(frozen=True, slots=True)
class Source:
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
    """

    actor: frozenset[str]
    modality: Force
    action: frozenset[str]
    condition: str
    quantity: Quantity | None
    scope: Scope
    source: Source
    date: str
    cue: str = ""
    former: bool = False

    @property
    def unit(self) -> str:
        """The unit of the quantity; empty for a count and where there is none."""
        return self.quantity.unit if self.quantity else ""


def section_of(norm: Norm) -> tuple[str, str, str]:
    """The section that a norm stands in: document, number, and the paragraph where sections have no numbers."""
    return norm.source.doc_id, norm.scope.number, "" if norm.scope.number else norm.source.paragraph_id


def read_norms(corpus: Corpus) -> tuple[Norm, ...]:
    """All norms of a corpus, in the order of its documents; of a paragraph that stands twice, those of its places."""
    return tuple(norm for document in corpus.documents.values() for norm in _of_document(document, corpus))


def _of_document(document: PolicyDocument, corpus: Corpus) -> Iterator[Norm]:
    title, date, scope = title_of(document), date_of(document), Scope("", "", "")
    for start, end, paragraph_id in sorted(
        (place.start, place.end, place.id)
        for paragraph in corpus.paragraphs
        for place in paragraph.places
        if place.doc_id == document.doc_id
    ):
        text = document.text[start:end]
        heading = _HEADING.match(text)
        if heading:
            scope = Scope(title, heading["number"], _title(heading))
        scope = Scope(title, scope.number, scope.heading)
        skip = heading.end() if heading else 0
        for left, right in find_passages(text[skip:]):
            sentence = text[skip + left : skip + right]
            place = Source(document.doc_id, paragraph_id, start + skip + left, start + skip + right, sentence)
            yield from read_sentence(place, scope, date)


def norms_of(paragraph: Paragraph, scope: Scope | None = None, date: str = "") -> tuple[Norm, ...]:
    """The norms of one paragraph by itself."""
    heading = _HEADING.match(paragraph.text)
    skip = heading.end() if heading else 0
    within = scope or Scope(paragraph.doc_id, heading["number"] if heading else "", _title(heading) if heading else "")
    return tuple(
        norm
        for left, right in find_passages(paragraph.text[skip:])
        for norm in read_sentence(
            Source(
                paragraph.doc_id,
                paragraph.id,
                paragraph.start + skip + left,
                paragraph.start + skip + right,
                paragraph.text[skip + left : skip + right],
            ),
            within,
            date,
        )
    )


def _title(heading: re.Match[str]) -> str:
    return str(heading["title"] or heading["asked"])


def read_sentence(source: Source, scope: Scope, date: str) -> Iterator[Norm]:
    """The norms of a sentence: one for each cue, and one for each quantity with the cue that is nearest before it."""
    text = source.text
    found = find_condition(text)
    cues = find_cues(text)
    actor = find_actor(text)
    for cue in cues:
        yield Norm(actor, cue.force, cue.head, found, None, scope, source, date, cue.text, cue.former)
    assumed = _ASSUMED.search(text)
    if assumed and any(cue.force == "duty" for cue in cues):
        words = frozenset(stems(assumed["what"]))
        yield Norm(actor, "may", words, "", None, scope, source, date, assumed[0].split()[0])
    for quantity in find_quantities(text):
        if quantity.unit not in ("item", "code"):
            cue, set_ = _cue_at(text, cues, quantity.start), _with_bound(quantity, text)
            yield Norm(actor, cue.force, cue.head, found, set_, scope, source, date, cue.text, set_.former)


def _with_bound(quantity: Quantity, text: str) -> Quantity:
    """ "No later than 8 weeks before the event" sets a minimum."""
    ahead = _NO_LATER.search(text, 0, quantity.start) and _AHEAD.match(text, quantity.end)
    return replace(quantity, bound="least") if ahead else quantity


def _cue_at(text: str, cues: tuple[Cue, ...], position: int) -> Cue:
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


def find_subject(sentence: str) -> str:
    """The stem of the thing or person that the verb of a sentence is said of; empty where no such verb is known."""
    return (stems(" ".join(_subject_words(sentence))) or [""])[-1]


def _subject_words(sentence: str) -> list[str]:
    verb = _VERB.search(sentence)
    before = sentence[: verb.start()] if verb else ""
    last = before if "," not in before or _LISTED.search(before) else before.rsplit(",", 1)[1]
    return _WORD.findall(re.split(r"\b(?:of|in|on|at|with|without|who|which|that|for|from|to|by)\b", last)[0])


def names_people(text: str) -> bool:
    """Whether a text has a word for people, their roles or teams."""
    return any(_PEOPLE.match(word) for word in _WORD.findall(text))


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
