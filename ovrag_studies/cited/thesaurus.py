"""Words of rules that mean the same, and words that exclude each other, as far as policies of any trade use them.

A sentence becomes concepts: stems, of which those of one row below share the first. What is missing here is left to
the vectors of words; those bring contraries together ("weekday", "weekend"), so that contraries are listed as well.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from ovrag_core.text.stems import stems

# Phrases that are one word in meaning, before stems are taken.
_PHRASES = {
    "approve": r"sign(?:s|ed|ing)? (?:it |them )?off|sign-?off|pre-?approv(?:e|es|ed|al)|go-ahead|green light",
    "conduct": r"carr(?:y|ies|ied|ying) out|take(?:s|n)? place|took place|taking place",
    "holiday": r"annual leave|paid leave",
    "remotework": r"(?:work(?:s|ed|ing)?|days?) (?:remotely|from home|at home)|home[- ]?(?:work(?:s|ing)?|office)"
    r"|(?:remote|home)[- ]work(?:s|ing)?|telework(?:s|ing)?|telecommut(?:e|es|ing)",
    "email": r"e-mails?",
    "password": r"pass ?(?:words?|codes?|phrases?)",
    "badge": r"i\.?d\.? cards?|identity cards?|identification cards?",
    "parttime": r"part[- ]time",
    "fulltime": r"full[- ]time",
    "discard": r"throw(?:n|s)? away|dispos(?:e|ed|es|al|ing) of",
    "write": r"put(?:ting)? down|writ(?:e|es|ten|ing) down",
    "return": r"(?:give|gives|given|hand|hands|handed|bring|brought|take|taken) back",
    "submit": r"hand(?:s|ed)? in|turn(?:s|ed)? in",
    "request": r"appl(?:y|ies|ied|ication|ications) for|ask(?:s|ed)? for",
    "overtime": r"over-?time|extra hours|additional hours",
    "wifi": r"wi-?fi|wireless(?: network| lan)?|wlan",
    "latecomer": r"(?:people |those |anyone |\w+ )who (?:arrive|come|are) late|late arrivals?",
    "collect": r"pick(?:s|ed|ing)? up",
    "check": r"go(?:es)? (?:through|over)|went through",
    "idle": r"(?:of |in)?inactivity|without (?:activity|input|use)|not (?:been )?used|unattended",
}  # fmt: skip
_SYNONYMS = """
approve approval agree clear authorise authorize authorisation authorization consent permission sanction clearance
conduct perform carry undertake undertaken organise organize
report notify notification inform tell told announce announced flag alert
submit lodge file send sent forward present deliver
request apply ask
keep kept retain retention hold held preserve archive
store storage stored stow
delete deletion erase erasure destroy destruction shred purge wipe discard
reimburse reimbursement refund repay compensate compensation claim
pay paid payment settle settlement bear bearing
check inspect inspection examine examination test review audit verify assess service
replace replacement renew renewal exchange
rotate rotation change changed swap
receive get obtain receipt given give granted grant entitled entitlement award
buy bought purchase procure procurement acquire acquisition order
recruit recruitment hire hiring
allow permit
terminate termination dismissal
return returned loan borrow
vacate leave left
remain stay
cost expense expenditure spending
fee charge tariff
price value worth amount sum
wage salary pay remuneration
bill invoice
supplier vendor
contractor subcontractor freelancer
client customer
lorry truck
car vehicle automobile
train rail railway
plane flight air airline fly
taxi cab
phone telephone mobile smartphone cellphone
laptop notebook
computer pc workstation
pupil student schoolchild
parent family guardian
tenant renter lessee occupant
landlord lessor
rise increase raise raised raising increased
cut decrease reduction reduce lowered lowering
sickness illness sick ill absence
certificate certification
badge pass
gift present gratuity tip hospitality
meal lunch food
employee staff personnel worker colleague workforce crew
manager supervisor boss superior
executive ceo
meeting session conference
course training seminar workshop train
premises building site
room
holiday vacation
document record file paper
copy duplicate
error mistake
accident incident
breach violation infringement
buyer purchaser
trip journey travel excursion
abroad overseas foreign
date deadline
start begin commence commencement
end finish expire expiry close
visit visiting
guest visitor
quote quotation bid offer
internet web online
backup
weapon firearm
alcohol alcoholic
smoke smoking cigarette
clothing clothes dress uniform
helmet
photograph photography photo picture
minor
screen display
lock locked
write written writing
wear worn
drive driven
bring brought
take taken
make made
sell sold
teach taught
speak spoken
choose chosen choice
show shown
draw drawn
spend spent
hire
steal stolen
withdraw withdrawn withdrawal
sublet sublease
lost loss lose missing mislay mislaid
declare declaration disclose disclosure
discussion talk
data information
disabled disable lock
crime criminal
animal pet
patient
volunteer volunteering
child children
woman women
man men
person people
"""
# Of these words any two exclude each other, where each sentence has one of them that the other lacks.
_CONTRARIES = """
weekday weekend saturday sunday
saturday sunday monday tuesday wednesday thursday friday
summer winter spring autumn
january february march april june july august september october november december
domestic international
internal external
parttime fulltime
day night
adult child
incoming outgoing inbound outbound
permanent temporary
critical high medium low routine minor major
primary secondary tertiary
public private
indoor outdoor
paid unpaid
planned unplanned
junior senior
member nonmember
maternity paternity parental adoption holiday study sick compassionate
first second third fourth fifth
morning afternoon evening
wet dry
hot cold
new existing
full partial
resignation dismissal redundancy
public restricted confidential
economy premium
visitor employee contractor
guest employee
nurse doctor
teacher pupil
buyer seller
landlord tenant
parent pupil
dog cat
sheep cattle cow
car bicycle
train flight taxi
laptop telephone tablet
"""
# Doing one is not doing the other: "remain in the cab" against "leave the cab".
_OPPOSITES = """
accept decline
accept refuse
accept reject
remain vacate
open close
open end
lock unlock
include exclude
keep delete
store delete
encrypt decrypt
enable disable
allow block
admit refuse
admit exclude
publish withhold
add remove
join vacate
inside outside
onsite offsite
"""


def _rows(text: str) -> list[list[str]]:
    return [row.split() for row in text.strip().split("\n")]


def _stem(word: str) -> str:
    return (stems(word) or [word])[0]


_PHRASE = re.compile(
    "|".join(rf"(?P<p{place}>\b(?:{pattern})\b)" for place, pattern in enumerate(_PHRASES.values())), re.I
)
_NAMES = tuple(_PHRASES)
_NOT = re.compile(r"\bnon[- ](?=[a-z])", re.I)


def _canonical() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for row in _rows(_SYNONYMS):
        first = found.get(_stem(row[0]), _stem(row[0]))
        for word in row:
            found.setdefault(_stem(word), first)
    return found


_CANONICAL = _canonical()


def canonical(stem: str) -> str:
    """The concept of a stem."""
    return _CANONICAL.get(stem, stem)


def concept(word: str) -> str:
    """The concept of a word: its stem, or that of the first word of its row; empty for a stop word."""
    found = stems(word)
    return _CANONICAL.get(found[0], found[0]) if found else ""


@lru_cache(maxsize=1 << 16)
def unite(text: str) -> str:
    """A text with phrases that are one in meaning as one word ("carried out": "conduct")."""
    named = _PHRASE.sub(lambda found: _NAMES[int(str(found.lastgroup)[1:])], text)
    return _NOT.sub("non", re.sub(r"\bIT\b", "infotech", named))  # "it" is a stop word, IT a department


@lru_cache(maxsize=1 << 16)
def concepts(text: str) -> tuple[str, ...]:
    """The concepts of a text in order, without stop words."""
    return tuple(_CANONICAL.get(stem, stem) for stem in stems(unite(text)))


_EXCLUDING = tuple(frozenset(concept(word) for word in row) for row in _rows(_CONTRARIES))
_OPPOSED = frozenset(frozenset(concept(word) for word in row) for row in _rows(_OPPOSITES))
_NEGATIVE = re.compile(r"^(?:non|un)(?=[a-z]{4})")


def exclude(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether of two sets of concepts each has one that the other lacks, and these two exclude each other."""
    one, other = first - second, second - first
    if any(one & row and other & row for row in _EXCLUDING):
        return True
    return any(
        _NEGATIVE.sub("", word) in theirs
        for mine, theirs in ((one, other), (other, one))
        for word in mine
        if _NEGATIVE.match(word)
    )


def opposite(first: frozenset[str], second: frozenset[str]) -> frozenset[str]:
    """Two concepts of which each set has one that the other lacks, where doing one is not doing the other."""
    one, other = first - second, second - first
    return next((pair for pair in _OPPOSED if len(pair & one) == 1 and len(pair & other) == 1), frozenset())
