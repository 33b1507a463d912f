"""What a sentence of a policy says beside its force: who acts, by which means, where, under what, and of which things.

Nothing here parses: phrases are what stands between prepositions, verbs and marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ovrag_studies.cited.language.amounts import without_amounts
from ovrag_studies.cited.language.thesaurus import concept, concepts, unite

Words = frozenset[str]

_PREPOSITIONS = (
    r"in the event of|in case of|no later than|in front of|next to|prior to|subject to|as well as|of|in|on|at"
    r"|for|from|to|by"
    r"|with|without|during|after|before|within|under|over|above|below|between|against|through|via|per|into|onto|outside"
    r"|inside|near|behind|until|since|upon|about|among|across|beyond|except|unless|if|whenever|when|while|where|once"
    r"|provided|because|whether|who|whom|whose|which|that|than|as|and|or|but|nor|so"
)
_VERBS = (
    r"is|are|was|were|be|been|being|has|have|had|does|do|did|will|would|must|shall|should|may|might|can|cannot"
    r"|could|need"
    r"|needs|ought"
)
_BREAK = re.compile(rf"(?P<word>\b(?:{_PREPOSITIONS}|{_VERBS})\b)|(?P<mark>[,;:()–—]|\s-\s)", re.I)
_LEADS = frozenset(_VERBS.split("|"))
_WORD = re.compile(r"[A-Za-z][\w'’&-]*|\d[\w.]*")
_RULING_TEXT = """must shall should may can cannot require required requirement requirements mandatory permit permitted
allow permission allowed prohibit prohibited forbidden banned never without need necessary exempt minimum maximum least
most limit limited within every any each always only also now more less than no later earlier last up company
policy policies following circumstance circumstances exception exceptions possible compulsory optional obligatory
exclusively solely immediately not be up case event order used using use whole entire new per least further total
available frequency interval cycle duration rate conducted increased reduced applies set provided capped receive make
given raised serves fixed about relevant appropriate applicable effective one two full all well even both either
therefore however same
"""
RULING = frozenset(concept(word) for word in _RULING_TEXT.split()) | frozenset({"employe", "day", "time", ""})


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that one preposition leads, or none (a subject, an object)."""

    lead: str
    words: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """A sentence: its phrases, concepts of content, verbs and first phrase, and what it says of actors, means, places.

    `agents` says for each event who does it, `means` by which means it is done, `places` are words of where something
    is kept.
    """

    phrases: tuple[Phrase, ...]
    content: Words
    verbs: Words
    subject: Words
    head: str
    conditions: Words
    exceptions: Words
    agents: tuple[tuple[str, Words], ...]
    means: Words
    places: Words
    exclusive: Words
    universal: bool
    is_exception: bool
    keeps: bool


_CONDITION_LEADS = frozenset(
    [
        "if",
        "unless",
        "when",
        "whenever",
        "while",
        "where",
        "during",
        "after",
        "before",
        "until",
        "once",
        "except",
        "provided",
    ]
) | {"in the event of", "in case of", "prior to", "subject to"}
_EXCEPTION = re.compile(
    r"\b(?:except(?:ing)?(?: (?:for|in|when|where|if|that))?|unless|save (?:for|in|where)|other than|apart from"
    r"|excluding)\b"
    r"(?P<what>[^.;]*)",
    re.I,
)
_IS_EXCEPTION = re.compile(
    r"\b(?:(?:is|are|as|makes?) (?:the|an?|one|our)?\s*(?:one |only |sole )?exceptions?\b|by way of exception"
    r"|notwithstanding|exceptions? to\b)",
    re.I,
)
_ACTING_TEXT = """approve decide sign release confirm conduct supervise manage pay issue appoint review maintain
authorise administer assess coordinate monitor determine lead chair handle operate carry perform change repair train
investigate give grant clean refill wash paint mount load unload sort count teach mark"""
_ACTING = frozenset(concept(word) for word in _ACTING_TEXT.split())
_TOLD = frozenset(
    concept(word)
    for word in ["report", "submit", "request", "notify", "send", "apply", "return", "direct", "address", "refer"]
)
_ROLE = re.compile(
    r"(?:[a-z]{3,}(?:er|or|ist|ian|ant|ee)s?|[a-z]*(?:warden|master|mistress|keeper|woman|women|man|men|lady"
    r"|clerk)s?|[A-Z]{2,5}|board|team|department|committee|council|desk|security|procurement"
    r"|compliance|legal|finance|treasury|office|head|staff|chief|chair|executive|sister|master|captain"
    r"|governors|trustees"
    r"|management|panel|house|jury|senate|faculty|assembly|bureau|agency|service|society|club|landlords?"
    r"|tenants?|police|facilities|operations|communications|resources|secretary|authority"
    r"|body|unit"
    r"|warden|bursar|lead|leads|clerk|porter|crew|shift|owner|foreman|dean|rector|deputy|nurse|matron|crew"
    r"|parents?|client|delegates?|company|group|counsel|personnel)$"
)
_NO_ROLE = re.compile(
    r"(?:letter|paper|number|computer|order|folder|register|server|transfer|timer|tender|voucher|water|container|user"
    r"|calendar|air|door|floor|corridor|error|however|never|other|after|under|over|whether|further|power|matter|paper"
    r"|cover|answer|layer|later|either|neither|per|quarter|semester|trimester|summer|winter|weather|counter"
    r"|locker|shelter"
    r"|printer|scanner|router|trailer|trolley|freezer|dinner|chapter|center|order|offer|laser|tor|factor|sector"
    r"|motor|visor"
    r"|vapor|plant|grant|restaurant|assistant|constant|important|relevant|significant|instant|tree|fee|free"
    r"|degree|coffee"
    r"|guarantee|agree|three|list|checklist|exist|assist|consist|GBP|EUR|USD|CHF|VPN|USB|UK|EU|USA|PDF|MFA|GDPR"
    r"|PC|AI|TV"
    r"|larger|smaller|longer|shorter|higher|lower|greater|fewer|newer|older|earlier|rather|together|proper"
    r"|prior|minor|major"
    r"|senior|junior|interior|exterior|superior|refer|consider|deliver|enter|offer|order|register|remember"
    r"|transfer|answer"
    r"|remover|cleaner|newsletter|december|november|october|september)s?$",
    re.I,
)
_MEANS = {
    "paper": r"(?:on|in) paper|in the (?:[\w-]+ )?(?:log ?|day ?)?book|hard copy|paper (?:form|copy|file)"
        r"|in hard copy|handwritten|in ink",
    "post": r"by (?:registered |ordinary )?(?:post|mail|letter)|by courier",
    "writing": r"in writing|written (?:notice|form|request|consent|approval|permission|notification"
        r"|confirmation|statement"
    r"|agreement|authorisation|application|report|order|instruction)",
    "email": r"by e-?mail|via e-?mail|in an e-?mail|by electronic mail",
    "online": r"(?:through|via|in|on|using|with) the (?:[\w-]+ ){0,3}?(?:portal|tool|app|application|website"
        r"|intranet|platform"
    r"|system|software|form|database)|in an app|online(?: form| portal)?",
    "electronic": r"electronic(?:ally)?|digital(?:ly)?",
    "telephone": r"by (?:tele)?phone|by telephone|over the phone|(?:tele)?phone call|by calling|hotline"
        r"|via the hotline",
    "oral": r"orally|verbal(?:ly)?|by word of mouth|oral (?:notice|request|consent|approval)",
    "person": r"in person|personally|face[- ]to[- ]face|at the (?:desk|counter|reception)",
    "cash": r"in cash|cash",
    "card": r"by (?:credit |debit |company |corporate )?card|company card|corporate card",
    "transfer": r"by (?:bank )?transfer|bank transfer|through payroll|by cheque",
    "ink": r"wet ink|(?:signed )?by hand|hand-?signed",
}  # fmt: skip
_MEANS_RE = re.compile("|".join(rf"(?P<{name}>\b(?:{pattern})\b)" for name, pattern in _MEANS.items()), re.I)
_REJECTED = re.compile(
    r"\b(?:not|never|instead of|rather than|no longer)\s+(?:\w+\s+)?$", re.I
)  # "in the app, not on paper"
# Means that one act can meet together: an e-mail is in writing, a letter on paper.
_TOGETHER = frozenset(
    frozenset(pair)
    for pair in (
        ("writing", "paper"), ("writing", "post"), ("writing", "email"), ("writing", "online"),
        ("writing", "electronic"), ("paper", "post"), ("email", "electronic"), ("online", "electronic"),
        ("oral", "telephone"), ("oral", "person"),
        ("electronic", "card"), ("electronic", "transfer"), ("ink", "paper"), ("ink", "writing"), ("card", "online"),
        ("transfer", "online"), ("email", "transfer"), ("ink", "person"), ("cash", "person"), ("card", "person"),
        ("transfer", "writing"), ("cash", "writing"), ("card", "writing"),
    )
)  # fmt: skip
_KEPT = re.compile(
    r"\b(?:hang|hand|drop|put|leave|return|bring|deposit|collect|pick|kept|keep|keeps|stored|store|stores|held"
    r"|hold|located|placed|deposited|parked|park|parks|displayed|filed|archived"
    r"|housed|belongs?|lodged?|lodges|remains?|backed up|hosted|processed|collected|delivered|saved|hung"
    r"|retained|left|handed|returned|meets?|sits?)\b",
    re.I,
)
_DONE = re.compile(
    r"\b(?:is|are|be|belongs?|goes|go|stays?|happens?)\s+(?:[a-z]+(?:ed|en|wn|pt|ld|nt|id)\b)?"
    r"|\b[a-z]+s? (?:their|its|the|our|your)\b"
)
_WHERE = re.compile(
    r"\b(?P<lead>in|at|on|from|outside|inside|within|under|to|behind|near)\s+(?P<what>(?:the|an?|their|its|our|your"
    r"|company|headquarters|home|reception|school|[A-Z])"
    r"[^,.;()]*?)(?=\s+(?:and|or|until|for|after|before|during|unless|if|when|by|at least|within|from|which"
    r"|that|where)\b"
    r"|[,.;()]|$)",
)
_GOT = re.compile(r"\b(?:collect|pick|fetch|obtain|borrow|issued|lent|get)", re.I)
_NO_PLACE = re.compile(
    r"\b(?:event|case|day|days|date|week|month|year|time|writing|hours?|request|cost|expense|level|format|form"
    r"|line|addition"
    r"|accordance|order|end|start|basis|condition|law|supervision|control|morning|evening|way|manner|register|moment"
    r"|night|weekend|summer|winter|tool|system|portal|cases?|circumstances|approval|public|name|risk|minimum"
    r"|maximum)\b",
    re.I,
)
_UNIVERSAL = re.compile(r"\b(?:all|every|each|everyone|everybody|any|anyone|anybody|nobody|no one)\b", re.I)


@lru_cache(maxsize=1 << 14)
def read(sentence: str) -> SentenceReading:
    """The reading of one sentence."""
    text = without_amounts(sentence)
    phrases = tuple(_phrases(text))
    verbs = _verbs(phrases, text)
    subject = _subject(phrases)
    content = frozenset(concepts(text)) - RULING
    conditions = frozenset(word for each in phrases if each.lead in _CONDITION_LEADS for word in each.words) - RULING
    exception = _EXCEPTION.search(text)
    return SentenceReading(
        phrases,
        content,
        verbs,
        frozenset(subject) - RULING,
        subject[-1] if subject else "",
        conditions,
        frozenset(concepts(exception["what"])) - RULING if exception else frozenset(),
        tuple(_agents(text)),
        frozenset(
            str(match.lastgroup) for match in _MEANS_RE.finditer(text) if not _REJECTED.search(text, 0, match.start())
        ),
        frozenset(word for where in _places(text) for word in concepts(where)) - RULING,
        _exclusive(text),
        bool(_UNIVERSAL.search(text)),
        bool(_IS_EXCEPTION.search(text)),
        bool(_KEPT.search(text)),
    )


def _phrases(text: str) -> Iterator[Phrase]:
    lead, at = "", 0
    for match in [*_BREAK.finditer(text), None]:
        end = match.start() if match else len(text)
        words = concepts(text[at:end])
        if words:
            yield Phrase(lead, words, at, end)
        if match:
            lead, at = (match["word"] or match["mark"]).lower(), match.end()


def _verbs(phrases: tuple[Phrase, ...], text: str) -> Words:
    """Concepts of what is done: the first word of content after an auxiliary verb, and verbs of the thesaurus."""
    found: set[str] = set()
    for each in phrases:
        if each.lead in _LEADS or (
            each.lead in ("to", "without", "before", "after", "by")
            and re.match(r"\s*[a-z]+ing\b", text[each.start : each.end])
        ):
            content = [word for word in each.words if word not in RULING]
            found.update(content[:1])
    found.update(word for each in phrases[:1] for word in each.words[1:] if word in _ACTING)
    return frozenset(found)


def _subject(phrases: tuple[Phrase, ...]) -> tuple[str, ...]:
    return phrases[0].words if phrases and not phrases[0].lead else ()


def _is_role(words: list[str]) -> bool:
    return bool(words) and any(
        (_ROLE.match(word) or _ROLE.match(word.lower())) and not _NO_ROLE.match(word) for word in words
    )


_BY = re.compile(
    r"\b(?P<event>[\w-]+)(?:\s+(?:out|up|for|off|exclusively|solely|only|in writing|directly|either|jointly))*\s+by\s+"
    r"(?P<who>(?:(?:the|an?|their|its|our|your|any|each|both|either)\s+)?[\w'’&-]+(?:\s+(?!(?:before|after"
    r"|within|if|when|in|on"
    r"|at|for|with|without|during|until|unless|which|who|where|as|is|are|was|must|may|shall|will|has|appointed"
    r"|to|from|via|by)\b)[\w'’&()-]+){0,6})",
    re.I,
)
_OF_APPROVAL = re.compile(
    r"\b(?P<event>(?:pre-?)?(?:approval|consent|permission|authori[sz]ation|agreement|sign-?off|clearance"
    r"|signature|decision))"
    r"\s+(?:is\s+(?:given|granted|needed|required)\s+)?(?:from|of|by)\s+"
    r"(?P<who>(?:(?:the|an?|their|its|our|your)\s+)?[\w'’&-]+(?:\s+(?!(?:before|after|within|if|when|in|on|at|for|with"
    r"|without|during|until|unless|which|who|where|is|are|must|may|to|from|via|by)\b)[\w'’&()-]+){0,5})",
    re.I,
)
_TO = re.compile(
    r"\b(?P<event>report(?:s|ed)?|submit(?:s|ted)?|sen[dt]s?|addressed|notified|directed|referred|apply|applied"
    r"|lodged|made)\b"
    r"[^.;,]{0,60}?\bto\s+(?P<who>(?:(?:the|an?|their|its|our|your)\s+)?[\w'’&-]+(?:\s+(?!(?:before|after"
    r"|within|if|when|in|on"
    r"|at|for|with|without|during|until|unless|which|who|where|by|via|and)\b)[\w'’&-]+){0,4})",
    re.I,
)
_RESTS_WITH = re.compile(
    r"\b(?P<event>approval|decision|consent|permission|authorisation|agreed|cleared|settled|arranged|say"
    r"|responsibility)\b[^,.;]{0,60}?"
    r"\b(?:rests with|lies with|is with|with)\s+(?P<who>(?:the\s+)?[\w'’&-]+(?:\s+(?!(?:before|after|within|if"
    r"|when|in|on|at|for"
    r"|without|during|until|unless|which|who|where|is|are|must|may|to|from|via|by|and)\b)[\w'’&-]+){0,3})",
    re.I,
)
_RESPONSIBLE = re.compile(
    r"(?:^|[,.;]\s+)(?P<who>[\w'’& -]{3,40}?)\s+(?:is|are)\s+(?:solely\s+)?(?:responsible for"
    r"|in charge of)\s+(?:the\s+)?(?P<event>[\w-]+)",
    re.I,
)
_JOB_OF = re.compile(
    r"\b(?P<event>[\w-]+)\b[^,.;]{0,60}?\b(?:is|are)\s+(?:left to|up to|an? (?:decision|matter|job|task"
    r"|question) (?:for|of)|the (?:job|task|business) of)\s+"
    r"(?P<who>(?:the\s+)?[\w'’&-]+(?:\s+[\w'’&-]+){0,3})"
)
_FOR_TO = re.compile(
    r"\b(?:is|are|lies|rests)\s+(?:up to|for|with"
    r"|a matter for)\s+(?P<who>(?:the\s+)?[\w'’&-]+(?:\s+[\w'’&-]+){0,4}?)\s+to\s+(?P<event>[a-z]+)\b"
)
_ASKED = re.compile(r"\bWho (?P<event>[a-z]+)\b[^?]*\?\s+(?P<who>(?:The |An? )?[^.,;]{3,40})(?=[.,;]|$)")
_POSSESSED = re.compile(
    r"\b(?P<who>(?:[\w-]+\s+)?[\w-]+)['’]s?\s+(?P<event>approval|consent|permission|authori[sz]ation)\b"
)


def _agents(text: str) -> Iterator[tuple[str, Words]]:
    """Events, each with the concepts of who does it."""
    for pattern in (_BY, _ASKED, _FOR_TO, _JOB_OF, _RESTS_WITH, _RESPONSIBLE, _OF_APPROVAL, _POSSESSED, _TO):
        told = pattern is _TO
        for match in pattern.finditer(text):
            names = _WORD.findall(match["who"])
            event = _event(concept(unite(match["event"])), text)
            if _is_role(names) and (not told or event in _TOLD):
                yield f"to {event}" if told else event, _who(match["who"])
    yield from _active(text, _ACTING)


_SUBJECT_ENDS_TEXT = """is are was were be been in on at of for from to by with within per as than"""
_SUBJECT_ENDS = frozenset(_SUBJECT_ENDS_TEXT.split())
_PASSED_TEXT = (
    """must shall may should will can has have had not only alone the a an also now always then each every all"""
)
_PASSED = frozenset(_PASSED_TEXT.split())
_LIGHT = frozenset(concept(word) for word in ["give", "make", "conduct", "handle", "take", "obtain", "require"])
_APPROVAL = concept("approval")


_ASIDE = re.compile(r",\s+(?:and |or )?(?:not|nobody|no one|alone|only)\b[^,]*,", re.I)
_RANKS = frozenset({"head", "director", "chief", "dean", "board", "chair", "council", "secretary", "office", "master"})
_MODALS = frozenset({"must", "shall", "may", "should", "will", "can", "has", "have"})


def doers(text: str, verbs: Words) -> Words:
    """Concepts of the roles that do what one of `verbs` says."""
    return frozenset(word for _, who in _active(text, verbs) for word in who)


def _active(text: str, verbs: Words) -> Iterator[tuple[str, Words]]:
    """The subject of each active verb among `verbs`: the words right before it, if they name a role."""
    text = _ASIDE.sub(lambda found: " " * len(found[0]), text)  # "the supervisor, not the engineer, signs"
    names: list[re.Match[str]] = []
    modal = False
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if names and re.search(r"[,;:.()]", text[names[-1].end() : match.start()]):
            names, modal = [], False
        acts = names and _agrees(word, names[-1][0], modal) and concept(word) in verbs and _is_role([names[-1][0]])
        if acts and (event := _event(concept(word), text)):
            yield event, _who(text[names[0].start() : names[-1].end()])
        if word == "of" and names and names[-1][0].lower() in _RANKS:
            names = [*names, match]  # "the head of the laboratory"
        elif word in _SUBJECT_ENDS:
            names, modal = [], False
        elif word in _PASSED or word.endswith("ly"):
            modal = modal or word in _MODALS
        else:
            names = [*names, match][-4:]


def _agrees(verb: str, subject: str, modal: bool) -> bool:
    """Whether a verb has the form that a subject in front of it asks for."""
    return modal or verb.endswith("s") or subject.endswith("s")


def _event(event: str, text: str) -> str:
    """A light verb ("is given") tells of the approval that the sentence names."""
    return _APPROVAL if event in _LIGHT and _APPROVAL in concepts(text) else "" if event in _LIGHT else event


def _who(text: str) -> Words:
    return frozenset(concepts(text)) - RULING


def _places(text: str) -> Iterator[str]:
    """The phrases that say where something is kept or done."""
    verb = _KEPT.search(text) or _DONE.search(text)
    if verb:
        for match in _WHERE.finditer(text, verb.end()):
            head = re.split(r"\bof\b", match["what"])[0].split()[-1]
            got = match["lead"] != "from" or _GOT.search(text, 0, match.start())
            if got and not _NO_PLACE.search(head) and concepts(match["what"]):
                yield match[0]


_ONLY_WHO = re.compile(
    r"^(?:only|no one (?:but|except)|nobody (?:but|except|other than))\s+(?P<first>[^,;.]+?)\s+(?:may|can|is"
    r"|are|must|shall|will|have|has)\b"
    r"|\b(?:only|exclusively|solely)\s+by\s+(?P<by>[^,;.]+)|\b(?:reserved for|restricted to|open only to"
    r"|limited to)\s+(?P<to>[^,;.\d]+)"
    r"|,\s*only\s+(?P<then>[^,;.]+?)\s+(?:may|can|is|are|must|shall|will)\b"
    r"|\bfor\s+(?P<for>[^,;.]+?)\s+only\b|\bby\s+(?P<alone>[^,;.]+?)\s+(?:only|alone)\b",
    re.I,
)


def _exclusive(text: str) -> Words:
    """Concepts of whom "only" lets do something; empty where nobody is excluded."""
    found = _ONLY_WHO.search(text)
    if not found:
        return frozenset()
    who = next(each for each in found.groups() if each)
    return frozenset(concepts(re.split(r"\b(?:who|which|that|of|in|on|at|for|with)\b", who)[0])) - RULING


def means_clash(first: Words, second: Words) -> bool:
    """Whether no means of one sentence is one of the other, or goes with one."""
    mine, theirs = (each - _VAGUE or each for each in (first, second))
    return bool(mine and theirs) and not any(
        one == other or frozenset({one, other}) in _TOGETHER for one in mine for other in theirs
    )


_VAGUE = frozenset({"writing", "electronic"})
