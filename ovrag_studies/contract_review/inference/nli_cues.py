"""Usual wording of agreements on confidentiality: cues for the seventeen hypotheses of ContractNLI.

They are the whole knowledge of the lexical arm, and features in the learned one. Whoever wrote them had read the
development agreements, so figures on those flatter every arm with cues, above all on contradictions, which are few:
without cues the learned judge has an accuracy of 0.808 there, with them 0.849. A cue reads text that `plain` has made
even.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

_EVEN = {
    "receiver": re.compile(r"\b(?:receiving (?:part(?:y|ies)|company|person)|receiver|recipient)s?\b"),
    "discloser": re.compile(r"\b(?:disclosing (?:part(?:y|ies)|company|person)|discloser)s?\b"),
    "secret": re.compile(
        r"\b(?:(?:confidential|proprietary|secret)(?:(?:,| and/or| and| or|/) ?(?:confidential|proprietary|secret))* "
        r"(?:information|materials?|data)|evaluation materials?)\b"
    ),
    "0": re.compile(r"\d+"),
}
_SPACE = re.compile(r"\s+")
LONGEST = 6_000  # characters of a span that are searched; a long clause has two thousand


class Cues(NamedTuple):
    """Patterns: what the hypothesis is about, what speaks for it, what against it."""

    about: str
    entails: str
    contradicts: str = r"(?!)"


def plain(text: str) -> str:
    """Lower case, single spaces, straight apostrophes; roles, confidential information, numbers each by one name."""
    text = _SPACE.sub(" ", text).strip().lower().replace("’", "'")
    for name, pattern in _EVEN.items():
        text = pattern.sub(name, text)
    return text


_NO = r"(?:not|nor|never|neither|no|refrain\w*|without)\b"
_ADVISERS = (
    r"(?:agents?|advis[oe]rs?|consultants?|contractors?|subcontractors?|attorneys?|lawyers?|accountants?|counsel|"
    r"auditors?|bankers?|lenders?|representatives?|affiliates?|subsidiaries|financing sources?)"
)
_STAFF = r"(?:employees?|personnel|staff|officers?|directors?|representatives?|individuals employed|workers)"
_COPY = r"(?:cop(?:y|ies|ied|ying)|reproduc\w*|duplicat\w*|photocop\w*|extracts?|facsimiles?)"
_GIVE_BACK = (
    r"(?:return\w*|destr(?:oy|uct)\w*|deliver\w* (?:up|to)|redeliver\w*|eras\w*|expunge\w*|delet\w*|surrender\w*)"
)
_ENDED = (
    r"(?:terminat\w+|expir\w+|complet\w+|conclu\w+|cessation|ceases?|end of|no longer|discontinu\w+|"
    r"not (?:to )?(?:proceed|pursue)|fulfil\w+|once)"
)
_KEEP = r"(?:retain\w*|keep\w*|preserv\w*|archiv\w*)"
_COMPELLED = (
    r"(?:required|compelled|obliged|obligated|requested|ordered)\b.{0,80}\b(?:law|court|subpoena|judicial|legal\w*|"
    r"regulat\w+|government\w*|order|process|disclos\w+)|subpoena|legal process|process of law|operation of law|"
    r"court order|order of (?:a|any) court"
)
_UNWRITTEN = r"(?:oral(?:ly)?|verbal(?:ly)?|spoken|conversations?|discussions?|meetings?|visual(?:ly)?)"
_LABELLED = r"(?:mark(?:ed|ing|s)?|label\w*|legend\w*|designat\w*|identif\w*|stamp\w*|bear(?:s|ing)?)"

CUES: Mapping[str, Cues] = {
    "nda-1": Cues(
        rf"{_LABELLED}|whether or not|by (?:its|their|the) (?:very )?nature|circumstances|summari[sz]ed in writing",
        rf"(?:clearly|conspicuously|expressly|specifically|prominently|must|shall|is|are|which|that|be|been) "
        rf"(?:\w+ ){{0,3}}{_LABELLED}|{_LABELLED} (?:\w+ ){{0,4}}(?:as|with|by) (?:\W*\w+ ){{0,3}}\W*"
        r"(?:confidential|proprietary|secret)|reduced to writing|confirmed in writing|written summary",
        rf"(?:whether or not|regardless (?:of )?whether|need not be|even if|irrespective of whether|or not so|"
        rf"(?:does|do|is|are|need) not (?:\w+ )?)(?:\w+ ){{0,4}}{_LABELLED}|not so {_LABELLED}|"
        r"(?:by (?:its|their|the) (?:very )?nature|under the circumstances|circumstances surrounding|reasonabl[ey]|"
        r"ought|intended to be)\b.{0,60}\b(?:confiden|proprietary|secret|understood|known)",
    ),
    "nda-2": Cues(
        r"secret.{0,20}(?:means?|shall mean|includes?|consists?|refers?|is)\b|definition|including|without limitation",
        r"\btechnical (?:information|data|knowledge)\b|\bknow-?how\b",
        r"\b(?:financial|finances?|business|commercial|customers?|marketing|pric(?:e|es|ing)|sales|suppliers?|personal|"
        r"plans?|strateg\w+|costs?|employees?|vendors?|clients?|any (?:and all )?information|all information)\b",
    ),
    "nda-3": Cues(
        rf"{_UNWRITTEN}|in (?:any|whatever) form|regardless of (?:the )?(?:form|medium|manner)|other(?:wise)? tangible",
        rf"\b{_UNWRITTEN}\b",
        rf"\b(?:only|solely)\b.{{0,60}}\b(?:written|tangible|in writing)\b|{_NO}.{{0,40}}\b(?:oral|verbal)",
    ),
    "nda-4": Cues(
        r"\b(?:us(?:e|es|ed|ing)|utili[sz]\w+|exploit\w*|benefit)\b.{0,160}\b(?:purposes?|than|only|sole(?:ly)?|except|"
        r"connection|benefit)\b|\bpurposes?\b",
        rf"{_NO}.{{0,80}}\b(?:us(?:e|ed|ing)|utili[sz]\w+|exploit)\b|"
        r"\b(?:us(?:e|ed|ing)|utili[sz]\w+)\b.{0,80}\b(?:only|sole(?:ly)?|exclusively|other than|except)|"
        r"\b(?:only|sole(?:ly)?|exclusively)\b.{0,60}\b(?:us(?:e|ed|ing)|purposes?)\b|no other purpose",
        r"\bresiduals?\b|unaided memor|(?:in|from) the (?:minds?|memor\w+)|free to use|any purpose whatsoever",
    ),
    "nda-5": Cues(
        rf"\b{_STAFF}\b|need[- ]to[- ]know",
        rf"(?:only|except|other than|limit\w*|restrict\w*|permit\w*|may|solely|share|disclos\w+|access)\b.{{0,160}}"
        rf"\b{_STAFF}\b|\b{_STAFF}\b.{{0,120}}\bneed(?:s|ing)?\b|need[- ]to[- ]know",
        rf"{_NO}.{{0,60}}\b(?:disclos\w+|divulge|communicate|reveal)\b.{{0,80}}"
        r"\b(?:any (?:person|one)|anyone|employees)|"
        rf"employees?.{{0,80}}\b(?:must|shall) (?:be|sign|execute)",
    ),
    "nda-7": Cues(
        rf"\bthird (?:part(?:y|ies)|persons?)\b|\b{_ADVISERS}\b|any (?:other )?person|need[- ]to[- ]know",
        rf"(?:only|except|other than|limit\w*|restrict\w*|permit\w*|may|solely|share|disclos\w+|provide\w*|access)\b"
        rf".{{0,200}}\b{_ADVISERS}\b|\b{_ADVISERS}\b.{{0,120}}\bneed(?:s|ing)?\b",
        r"(?:not|nor|never|neither)\b.{0,100}\b(?:disclos\w+|divulge\w*|communicat\w+|reveal\w*|distribut\w+|"
        r"disseminat\w+|furnish\w*|made available|make available|transmit|publish|provide|give|release)\b.{0,140}"
        r"\b(?:third (?:part(?:y|ies)|persons?)|any(?: other)? (?:person|individual|entity|one)|anyone|others|"
        r"(?:person|persons|entity),? (?:or|firm))|only to (?:those of )?(?:its|their|his)(?: own)? employees",
    ),
    "nda-8": Cues(
        _COMPELLED,
        r"\b(?:notif\w+|notice|inform\w*|advise[sd]?|opportunity to (?:contest|seek|object|oppose)|protective order|"
        r"consult\w*)\b",
        rf"{_NO}.{{0,20}}\b(?:obligation|required|duty) to (?:notify|give notice|inform)",
    ),
    "nda-10": Cues(
        r"\b(?:existence|fact that|terms|contents?|subject matter|negotiations?|discussions?)\b.{0,80}\b(?:agreement|"
        r"discussions?|negotiations?|transaction|talks|relationship|made available)\b|announcement|press release|"
        r"publicity",
        rf"(?:{_NO}|confidential|secret|neither).{{0,160}}\b(?:existence|fact that|terms (?:of|or)|contents? of|press|"
        rf"publicity|announcement|negotiations? (?:are|have)|discussions? (?:are|have))\b|"
        rf"(?:existence|fact that|terms)\b.{{0,120}}\b(?:confiden\w+|{_NO}|secret)",
    ),
    "nda-11": Cues(
        r"reverse[- ]?engineer\w*|decompil\w*|disassembl\w*|reverse[- ]?(?:assembl|compil)\w*|\banaly[sz]e\b",
        r"(?:not|nor|refrain\w*|prohibit\w*|neither|no)\b.{0,200}\b(?:reverse[- ]?(?:engineer|assembl|compil)\w*|"
        r"decompil\w*|disassembl\w*)",
        r"\bmay\b.{0,40}reverse[- ]?engineer\w*",
    ),
    "nda-12": Cues(
        r"independent(?:ly)?|develop(?:ed|s|ment|ing)?\b",
        r"independent(?:ly)?\b.{0,80}\b(?:develop\w*|deriv\w*|generat\w*|discover\w*|creat\w*|conceiv\w*|produc\w*|"
        r"acquir\w*|work)|develop\w*\b.{0,60}\b(?:independent\w*|without (?:the )?(?:use|reference|access|reliance))",
        r"(?:not|nor)\b.{0,30}\bindependently (?:develop|create)|shall not develop",
    ),
    "nda-13": Cues(
        r"third part(?:y|ies)|another source|other (?:source|person|than)|(?:receiv|obtain|acquir|furnish)\w*|"
        r"source other",
        r"(?:receiv|obtain|acquir|furnish|disclos|learn|provid|suppl|communicat|available|possession|known)\w*\b.{0,120}"
        r"\b(?:third (?:part(?:y|ies)|persons?)|source|other (?:person|than)|another)|"
        r"(?:third (?:part(?:y|ies)|persons?)|source)\b.{0,140}\b(?:right|lawful|legal|obligation|duty|confiden|"
        r"restrict|breach|bound|prohibit)\w*",
        r"(?:not|nor)\b.{0,40}\b(?:acquire|obtain)\b.{0,60}third part",
    ),
    "nda-15": Cues(
        r"\blicen[sc]\w*|\b(?:title|ownership|proprietary rights?|property of|rights?,? (?:title|in|or|to))\b|"
        r"(?:patent|copyright|trade ?mark|intellectual property)",
        r"(?:no|not|nothing|neither|nor|none|without)\b.{0,200}\b(?:licen[sc]\w*|rights?|title|interest|ownership)\b|"
        r"(?:remain|be|is|are)s? (?:\w+ ){0,4}(?:the )?(?:sole |exclusive )*(?:and exclusive )?property of",
        r"\b(?:hereby )?grants?\b.{0,40}\b(?:licen[sc]e|right)\b.{0,40}\bto use\b",
    ),
    "nda-16": Cues(
        rf"\b{_GIVE_BACK}\b",
        rf"\b{_ENDED}\b.{{0,240}}\b{_GIVE_BACK}\b|\b{_GIVE_BACK}\b.{{0,200}}\b{_ENDED}\b",
        rf"(?:not|no)\b (?:be )?(?:\w+ )?(?:required|obliged|obligated|obligation|obligate)\b.{{0,100}}"
        rf"\b{_GIVE_BACK}\b",
    ),
    "nda-17": Cues(
        rf"\b{_COPY}\b",
        rf"\bmay\b.{{0,40}}\b(?:make )?{_COPY}\b|\b{_COPY}\b.{{0,120}}\b(?:except|unless|only|necessary|reasonably|"
        rf"required|as needed|permitted)|number of copies",
        rf"(?:not|nor|no|neither|never)\b.{{0,60}}\b{_COPY}\b.{{0,160}}",
    ),
    "nda-18": Cues(
        r"\b(?:solicit\w*|hir(?:e|es|ing)|entic\w*|employ|recruit\w*|poach\w*|engage)\b",
        r"(?:not|nor|refrain\w*|neither|no)\b.{0,160}\b(?:solicit\w*|hire|entice|recruit|induce|employ|"
        r"offer employment)\b",
        r"\bmay\b.{0,20}\bsolicit",
    ),
    "nda-19": Cues(
        r"\b(?:surviv\w*|continu\w*|remain\w*|perpetu\w*|indefinit\w*|terminat\w*|expir\w*|after|years?|thereafter)\b",
        r"\bsurviv\w*\b|\b(?:continu\w*|remain\w*|binding|bound|obligations?|dut(?:y|ies))\b.{0,160}\b(?:after|following|"
        r"notwithstanding|beyond|terminat\w*|expir\w*|perpetu\w*|indefinit\w*)|(?:after|following|notwithstanding|"
        r"despite)\b.{0,30}\b(?:terminat\w*|expir\w*)|period of .{0,20}years? (?:from|after)",
        r"(?:obligations?|dut(?:y|ies))\b.{0,60}\b(?:terminate|cease|expire|end)\b|no obligations?.{0,40}surviv",
    ),
    "nda-20": Cues(
        rf"\b{_KEEP}\b|\b{_GIVE_BACK}\b",
        rf"\b(?:may|entitled|permitted|allowed|right to|except|not (?:be )?(?:required|obligated|obliged))\b.{{0,160}}"
        rf"\b(?:{_KEEP}|back-?ups?|archiv\w*|one (?:\(0\) )?copy)\b|archival|back-?ups?|"
        rf"\b{_KEEP}\b.{{0,80}}\b(?:one|single|a) (?:\w+ ){{0,2}}cop(?:y|ies)",
        rf"(?:without|not|nor|no|shall not)\b.{{0,40}}\b(?:{_KEEP}|copies)\b|"
        rf"\b(?:all|any|every)\b.{{0,60}}\bcopies\b.{{0,100}}\b{_GIVE_BACK}\b|"
        rf"\b{_GIVE_BACK}\b.{{0,80}}\b(?:all|any|every)\b.{{0,100}}\b(?:copies|reproductions|extracts)\b",
    ),
}


@cache
def _compiled(hypothesis: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(cue) for cue in CUES[hypothesis])


def cue_hits(hypothesis: str, text: str) -> tuple[bool, bool, bool]:
    """Look in a text of `plain` for cues of what the hypothesis is about, for it, and against it, if it has any.

    Of a very long text only the start is read, as looking for two words near each other takes long.
    """
    if hypothesis not in CUES:
        return (False, False, False)
    text = text[:LONGEST]
    about, entails, contradicts = (bool(pattern.search(text)) for pattern in _compiled(hypothesis))
    return about, entails, contradicts
