# ruff: noqa: E501 -- a pattern of alternatives is easier to read on one line
"""Amounts, rates, dates and terms of a loan: every candidate in a text, with how well its words mark it as the loan's.

Each finder reads all values of its sort (money in any currency, percentages in figures or words, dates, durations),
judges them by the words of their row or sentence, and returns those that pass, best first. Nothing is guessed: a fee,
a late charge or a signing date does not become the principal, the rate or the maturity for want of a better one.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from itertools import islice

from ovrag_core.base import Document
from ovrag_core.loans.reading.surroundings import Cues, Setting, capped, cues, passage_breaks, setting_of, weigh
from ovrag_core.text import (
    DURATION,
    MONTH,
    NUMBER_WORDS,
    ORDINAL,
    MoneyMention,
    add_months,
    dates,
    in_months,
    moneys,
    percentages,
    words_to_number,
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value in a text, the `label` that marks it, and how well it does (`score`).

    `[start, end)` is the passage (row or sentence), `[value_start, value_end)` the value itself.
    """

    label: str
    start: int
    end: int
    value_start: int
    value_end: int
    score: float

    @property
    def value_span(self) -> tuple[int, int]:
        """Span of the value."""
        return self.value_start, self.value_end


@dataclass(frozen=True, slots=True)
class Principal(Candidate):
    """An amount lent, or the limit of a credit: `currency` is an ISO 4217 code."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Rate(Candidate):
    """A contract rate in percent a year. `percent` of a variable rate is its margin, or None where none is stated."""

    percent: Decimal | None
    variable: bool


@dataclass(frozen=True, slots=True)
class Maturity(Candidate):
    """The day on which the last of the loan falls due, as an ISO date; `computed` where it is a term from a date."""

    date: str
    computed: bool


@dataclass(frozen=True, slots=True)
class Term(Candidate):
    """Term of the loan, in months."""

    months: int


_THRESHOLD = 4.0
_LONG, _CLEAR = 40_000, 6.0  # a long agreement is full of margins, fees and tests: its contract rate must be clear


def _placed(score: float, start: float, text: str) -> float:
    """The score of what begins at `start`: of equals, the earlier is the better."""
    return round(score - start / max(1, len(text)), 4)


def _by_label(patterns: Cues, label: str, bonus: float) -> list[tuple[float, str]]:
    """Score and words of a value's label, where it has one that tells anything."""
    score, words = weigh(patterns, label)
    return [(score + bonus, label if words else "")] if score else []


def _decide(options: list[tuple[float, str]]) -> tuple[float, str]:
    """The best option, or the leading one where that speaks against the value."""
    return options[0] if options[0][0] < 0 else max(options)


def _count_of(words: str) -> int:
    """A number in figures or in words; 0 where it is none."""
    return int(words) if words.isdigit() else words_to_number(words) or 0


# --- principals ---------------------------------------------------------------------------------------------------

_PRINCIPAL_LABEL = cues(
    {
        r"\bprincipal\b|\bloan amount|\bamount of (?:the )?(?:loan|credit|advance|facility)|\bnet loan|\b(?:gross|total) loan|\bamount (?:borrowed|lent|advanced|of loan)|\b(?:amount|sum|loan) (?:approved|granted|sanctioned)|\bsum (?:advanced|lent|borrowed)|\bcapital (?:amount|sum|lent|borrowed)|\bamount and currency|\bloan sum|\bface (?:amount|value)|\bamount of (?:the )?note|\bnominal (?:amount|loan)|\bsum of (?:the )?(?:credit|loan)": 11.0,
        r"\bamount financed|\bfinance amount|\bnet (?:loan|advance|credit|amount)|^facility$|\bmoney lent|\b(?:financed|lent|advanced) by\b|\b(?:am|are|is) borrowing\b": 8.5,
        r"\bamount (?:applied|requested|sought)": 7.0,
        r"\binitial unpaid balance|\bunpaid balance of (?:the )?(?:cash )?price": 23.0,
        r"\bcredit (?:limit|line|amount)|\bfacility (?:amount|limit|size)?|\b(?:total )?commitments?\b|\bline of credit|\blimit\b|\bmaximum (?:credit|amount|advance)|\badvance\b|\bloan\b|\boriginal amount|\bsanctioned|\bfinance amount": 9.0,
        r"^(?:the )?(?:amount|sum|credit|capital|total amount|maximum|how much|what (?:am|are|do|did) (?:i|we|you) (?:borrow|lend|get)\w*)\b|\bat your disposal": 8.0,
        r"\bfees?\b|\bcharges?\b|\bpayments?\b|\binstal?l?ments?|\bpremium|\bprice\b|\bdeposit|\bcosts?\b|\btotal of|\btotal (?:amount )?(?:payable|repayable|to pay)|\binterest\b|\bfinance charge|\bdown|\bvalue\b|\bincome|\binsur|\btax|\bpenalt|\bminimum|\bthreshold|\brent\b|\brepayments?\b|\bbalance\b|\bnumber\b|\bpaid\b|\brebate|\bsub-?limit|\bswing|\boverdraft\b|\bdisburse|\bforg[ai]v|\bstudy|\bapprais|\bexpert|\bvaluation|\bcover(?:age)?\b|\bguarantors?\b|\bshares?\b|\bsavings?\b|\b(?:existing|earlier|previous|older|former|prior)\b|\bbudget|\bequity|\bown funds|\bcontribution|\bturnover|\bcleared|\bsecurity\b|\bgoods\b|\bdocumentation|\bstamp|\bin \w+ (?:tranches|stages|parts)": -12.0,
    }
)
_PRINCIPAL_BEFORE = cues(
    {
        r"\b(?:counts?|counted|treated|regarded|deemed|set off) as (?:an? )?(?:\w+ )?(?:advance|loan)\b[^.;]{0,60}$": -9.0,
        r"\bfinances?\b[^.;]{0,80}\bup to\W*$|\bat the disposal of\b[^.;]{0,80}\b(?:maximum|amount|sum|total)? ?of\W*$": 7.5,
        r"\b(?:loan|facility|credit) of (?:19|20)\d\d\b[^.;]{0,30}$": -9.0,
        r"\b(?:house bank|senior (?:bank|lender|creditor))\b[^.;]{0,140}$": -6.0,
        r"\b(?:aggregate|outstanding|balance|total|advances)\b[^.;]{0,80}\bnot (?:to |at any time )?exceed(?:ing)?\W*$": 10.0,
        r"\bprincipal\W*(?:[a-z -]+\W*\(\W*)?$": 9.0,
        r"\b(?:delivers?|hands?)\b[^.;]{0,100}$": 3.5,
        r"\bstays? within\W*$": 7.0,
        r"\b(?:disclosed|told us|declared|informed|pa(?:y|ys|id|ying) off|refinanc\w*|another|separate|earlier|replac\w*)\b[^.;]{0,80}$": -8.0,
        r"\b(?:reduced?|reduces|falls?|decreases?)\b[^.;]{0,50}\bby\W*$": -9.0,
        r"\blimit\b[^.;]{0,20}\b(?:is|of|stands at|at)\W*$": 8.0,
        r"\ba sum of\W*$": 4.5,
        r"\b(?:line of credit|credit line|limit)\b[^.;]{0,25}\bgoes (?:up )?to\W*$": 8.0,
        r"\bcommits?\W*(?:to lend|to advance)?\W*$": 8.0,
        r"\b(?:note|loan|bond)\b[^.;]{0,40}\bis for\W*$": 8.0,
        r"\b(?:you|i|he|she|they|we) had (?:an? |taken )[^.;]{0,40}$|\b(?:my|his|her|your) (?:brother|sister|father|mother|parents?|son|daughter|friend|spouse|husband|wife)\b[^.;]{0,40}$": -9.0,
        r"\b(?:lender|creditor|bank|provider|giver|financier|first party|party a|society|fund|trust|company|mortgagee|seller|employer|union|i|we)\b[^.;]{0,40}\b(?:delivers?|delivered|transfers?|transferred|gives?|hands?|handed|remits?|provides?|provided|grants?|granted|on-lends?|opens?|disburses?|releases?|places?)\b[^.;]{0,90}$": 6.2,
        r"\b(?:provides?|gives?|transfers?)\b[^.;]{0,60}$": 4.5,
        r"\blet (?:you|him|her|them|us|me) have\W*$": 7.0,
        r"\b(?:acknowledg\w*|confirm\w*|declares?|admits?)\b[^.;]{0,60}\b(?:owing|owes?|indebted|debtor|receiv\w+)\b[^.;]{0,70}$": 7.5,
        r"\b(?:owe|owes|owing|indebted)\b[^.;]{0,40}$": 4.8,
        r"\b(?:grant\w*|receiv\w+|obtain\w*)\b[^.;]{0,80}\bfinanc(?:e|ing)\b[^.;]{0,30}$": 7.0,
        r"\b(?:notes|bonds|stock)\b[^.;]{0,20}\blimited to\W*$": 10.0,
        r"\bconstituting\W*$": 6.0,
        r"\b(?:fix|fixes|fixed|agreed?|settled?|acknowledged?)\b[^.;]{0,20}\b(?:debt|indebtedness|sum due|balance)\b[^.;]{0,50}\bat\W*$": 10.0,
        r"\b(?:quoted|estimat\w+|budget\w*|contract sum|costing|tuition|bought|purchased|equity|own (?:funds|money|cash)|contribution|assess\w*|trade-in|reference value|life cover|grant of|salary|paid-up|share capital)\b[^.;(]{0,40}$": -8.0,
        r"\b(?:contractual|registered|charging|collateral|equitable|covering|statutory|ceiling) (?:mortgage|bond|hypothec|charge)s?\b[^.;]{0,40}$|\b(?:mortgage|hypothec\w*|lien)\b[^.;]{0,30}\b(?:registered for|up to|over)\b[^.;]{0,20}$": -12.0,
        r"\bequivalent\b[^.;]{0,20}$|\bcash to you\W*$": -14.0,
        r"\b(?:made up of|composed of|consisting of|comprising|of which(?! the (?:remaining|balance|rest)))\b[^.;]{0,80}$": -6.0,
        r"\b(?:older|old|senior debt|also borrows?|also owes?|out of (?:the|a|its) (?:loan|credit|facility))\b[^.;]{0,40}$": -9.0,
        r"\b(?:he|she|they|buyer|purchaser|borrower|i) (?:has |have )?(?:already )?paid\W*$": -9.0,
        r"\btotal (?:loans|advances) (?:under|to)\b[^.;]{0,50}$": -9.0,
        r"\b(?:filed|registered|recorded) (?:for|in)\b[^.;]{0,60}$": -8.0,
        r"\b(?:senior|subordinated|public|unsecured) (?:\w+ ){0,3}?notes\b[^.;]{0,140}$|\b(?:notes|bonds|debentures) due\b[^.;]{0,120}$": -12.0,
        r"\b(?:loan|credit|facility|advance|note|mortgage|overdraft|line)\b(?:\s+(?:facility|is|are|of|for|to|at|up|in|the|a|an|amounts?|sum|maximum|limit|limited|being|will|shall|be|you|us|have|taken|granted|hereby|total|totals|totalling))*\W*$": 7.5,
        r"\b(?:borrowing|asked (?:us )?for|applied for|apply for|receives?|get|use up to|spend up to|draw up to|draw|stays? (?:within|below|under)|within|reach(?:es)?|rise to|rise above|goes? (?:over|above|past|to)|top out at|ceiling (?:of|is))\W*$": 6.0,
        r"\bmost (?:that|you|which)\b[^.;]{0,70}\bis\W*(?:[a-z -]+\(\W*)?$": 7.5,
        r"\b(?:indebtedness|debt|capital)\b[^.;]{0,40}\b(?:is|of|amounts? to)\W*$": 5.5,
        r"\bcounted out and paid\b[^.;]{0,160}$|\backnowledges? receipt\b[^.;]{0,80}$": 6.5,
        r"^\W*(?:we (?:will|shall|can) )?(?:pay|lend|send|transfer|advance|give)\s+(?:you\s+)?\W*$": 5.0,
        r"\b(?:place|places|put|puts|keep|keeps|make|makes|holds?|set(?:s)? aside)\b[^.;]{0,90}$": 3.0,
        r"\b(?:shall|must|may|will) be (?:in |for )?(?:an? |each )*(?:aggregate |minimum |principal )*(?:amounts? )?(?:of|not less than|at least)?\W*$": -8.0,
        r"\bprincipal amount of each\b[^.;]{0,60}$|\bminimum\b[^.;]{0,30}$": -8.0,
        r"\bsum of\b[^.;]{0,130}\(\W*$": 8.0,
        r"\bowes?\b[^.;]{0,120}\bsum of\W*$": 8.0,
        r"\bup to\W*$": 3.0,
        r"\bprincipal\s+(?:amount|sum)?[^.]{0,50}?(?:of|is|:|exceed(?:ing)?|to)?\W*$": 9.0,
        r"\b(?:aggregate |total )?commitments?\b[^.;]{0,70}?(?:means|is|are|of|total(?:s|ling)?|amounts? to|to)\W*$": 9.0,
        r"\b(?:facility|loan) (?:amount|limit)\W{0,3}\s(?:means|shall mean)\s*$": 9.0,
        r"\bcredit (?:limit|line)\b[^.;]{0,60}\W*$": 8.5,
        r"\b(?:term |bridge |bridging |personal |business |mortgage |student |home |auto |car |secured |unsecured |green |single |private |family )?(?:loan|credit|facility|advance|overdraft|mortgage|line of credit)\s+(?:facility\s+)?(?:in the (?:amount|sum)\s+|for\s+|up to\s+|to a maximum\s+)*(?:of|for|to|at|is)?\W*$": 8.0,
        r"\b(?:promises?|undertakes?|agrees?|covenants?)\s+to\s+(?:re)?pay\b[^.;]{0,260}$": 7.0,
        r"\b(?:lend|lends|lent|loaned|lending|advances?|advanced|borrows?|borrowed|borrowing)\b[^.;]{0,140}$": 6.5,
        r"\b(?:make|makes|made|making)\s+available\b[^.;]{0,140}$|\bgrants?\b[^.;]{0,80}(?:loan|credit|facility)[^.;]{0,80}$|\breceived\b[^.;]{0,80}$": 6.5,
        r"\b(?:the )?(?:amount|sum)\s+(?:lent|borrowed|advanced|of the (?:loan|credit|advance))?[^.;]{0,20}\bis\W*$|^\W*(?:the )?amount is\W*$": 7.5,
        r"\bloans?\b[^.;]{0,120}\b(?:up to|exceed(?:ing)?|maximum of|limit of|of|sum of|amount of)\W*$": 6.5,
        r"\b(?:draw|drawn|outstanding|owe|owing|debit|balance)\b[^.;]{0,90}\b(?:more than|up to|exceed(?:ing)?|limit of|maximum of)\W*$": 5.5,
        r"\b(?:the sum of|a total of|in the amount of|the amount of)\W*$": 4.5,
        r"\bwe (?:credit|paid|pay|transfer(?:red)?)\W*$": 5.0,
        r"\bcommitment\b[^.;]{0,60}$": 4.5,
        r"\bbears interest\b": -1.0,
        r"\bfees?\b[^.;]{0,60}$|\bfee\b[^,;]{0,80}(?:of|is)\W*$": -9.0,
        r"\b(?:instal?l?ments?|payments?|repayments?)\b[^,;]{0,50}$": -8.0,
        r"\b(?:charge|penalty|premium|costs?|expenses?|fine|deductible|rent|salary|income|tax(?:es)?|deposit|price|rebate|refund|worth|revenue|turnover|EBITDA|valued|appraised|insur\w+)\b(?:(?!, up to)[^.;]){0,50}$": -8.0,
        r"\b(?:at least|not less than|less than|minimum(?: of)?|multiples? of|increments? of|in excess of|greater of|lesser of|threshold(?: of)?|above|below|each|every)\W*(?:\(\w\)\s*)?$": -7.0,
        r"\b(?:exceeds?|exceeding|more than|over)\W*$": -3.0,
        r"\b(?:sub-?limit|swing ?line|letters? of credit|existing|previous|prior|former|other|judgments?|owed to|(?<!limited )liabilit\w+|claims?|loss(?:es)?|reserve|dispos(?:e|es|ed|ing|ition)\b|indebtedness(?! created| evidenced| hereunder)|capital expenditures?)\b[^.;]{0,90}$": -6.0,
        r"\b(?:guarantee|guaranty|guarantor)\b[^.;]{0,60}$": -4.0,
        r"\b(?:default|judgment|damages|late)\b[^.;]{0,60}$": -5.0,
        r"\b(?:increase[ds]?|increasing)\b[^.;]{0,30}\bby\W*$": -5.0,
    }
)
_PRINCIPAL_AFTER = cues(
    {
        r"^[^.;]{0,60}\boutstanding at any (?:one )?time\b": 5.5,
        r"^[^.]{0,80}\bnot (?:a )?part of\b": -9.0,
        r"^[^.;]{0,50}\b(?:is|are) (?:an? )?(?:separate|distinct|quite another|unaffected|not affected|outside)\b": -12.0,
        r"^[^.;]{0,40}\b(?:which|that) (?:the |your |our )?\w+ (?:has |have |had )?(?:received|borrowed|owes?)\b|^\W*(?:that )?(?:we|i|you) (?:have |had )?paid\b|^[^.;]{0,40}\bwhich (?:fell|became|was) due\b": -10.0,
        r"^\W*the (?:statutory|legal|regulatory) (?:limit|maximum)": -9.0,
        r"^[^.;]{0,40}\b(?:that|which) (?:\w+ ){1,2}(?:has |have )?lent\b": 7.0,
        r"^[^.;]{0,40}\b(?:(?:is|are|be|was) (?:hereby )?(?:converted into|turned into|left as|treated as|to stand as)|becomes?|stands? as) (?:an? |the )(?:\w+ )?loan\b": 8.0,
        r"^\W*(?:[a-z][\w-]* ){0,4}loan (?:notes?|stock)\b": 7.0,
        r"^[^.;]{0,30}\b(?:paid|advanced|lent|handed|given) to the (?:mortgagor|borrower|debtor|grantor)\b": 8.0,
        r"^[^.;]{0,60}\b(?:is|are) to come back\b|^[^.;]{0,50}\bto the (?:borrower|debtor|taker)\b": 4.5,
        r"^[^.;]{0,40}\bissued (?:pursuant to|under) (?:the|an) indenture\b": -12.0,
        r"^[^.;]{0,40}\b(?:which|that) (?:ran out|ended|expired|was repaid)\b|^[^.;]{0,40}\b(?:is|are) (?:forgiven|restored)\b": -9.0,
        r"^[^.;]{0,25}\b(?:paid|lent|advanced|sent|delivered|remitted) (?:in|as|by) one (?:amount|sum|act|transfer|payment|go)\b|^[^.;]{0,12}\bone (?:bank )?transfer\b": 6.0,
        r"^\W*(?:in|as a|by way of|on) loan\b": 6.5,
        r"^\W*of principal\b": 7.0,
        r"^[^.;]{0,60}\b(?:is|was|were|are|be) (?:to be )?(?:(?:fully|already|since|wholly) )?(?:paid off|repaid|refinanced|discharged|redeemed|settled|closed|cleared)\b": -8.0,
        r"^\W*in \w+ (?:equal )?steps\b": -8.0,
        r"^\W*(?:in total\s+)?(?:is |are |be |has been |hereby )*(?:made )?(?:available\b|at (?:the |your |its |his |her )?(?:free )?disposal|at the disposal)": 7.0,
        r"^\W*(?:as a loan|from us\b|of principal\b|as an advance|goes (?:in)?to (?:the|your) account|into (?:the|your) account|to (?:the|your) account|as a single|in one go|will be (?:lent|paid out|advanced))": 5.5,
        r"^[^.;]{0,40}\bwe are (?:happy|glad|pleased|willing) to lend\b": 7.0,
        r"^[^.;]{0,25}\bthat is all we (?:will|can) (?:ever )?lend\b": 6.0,
        r"^\W*(?:to \w+ )?to cover\b|^\W*(?:or (?:any |a )?(?:larger|integral|whole)|and (?:in )?(?:integral|larger)|\(or (?:a|any))": -7.0,
        r"^[^.;]{0,30}(?<!amounts and )\b(?:integral )?multiples?\b": -6.0,
        r"^\W*at (?:any )?one time\b|^\W*in all\b": 3.0,
        r"^\W*(?:is )?(?:to|for) (?:redeem|refinance|repay|pay off|clear|the price|working capital|be paid to)\b": -3.0,
        r"^\W{0,4}(?:\(?(?:the|this|this amount is called|such amount)?\W*(?:principal|loan|commitment|facility|credit limit|advance|note|line of credit|maximum)\b)": 6.0,
        r"^\W{0,3}(?:term |revolving |secured |unsecured |senior |bridge |personal |commercial )*(?:loan|credit facility|facility|line of credit|revolving|advance)\b": 6.0,
        r"^[^.;]{0,60}\bin (?:one|a single) (?:advance|payment|drawdown|drawing|sum|draw|instal)": 5.0,
        r"^\W*(?:or so much thereof|together with interest|plus interest|with interest|lent|at any (?:one )?time outstanding)": 5.5,
        r"^\W*(?:per|a|each|every|an)\s+(?:month|week|day|year|annum|quarter|hour|share|payment|instal|unit)|^\W*(?:each|monthly|weekly|apiece)\b": -10.0,
        r"^\W*(?:or more|or less|or greater|deductible|fee|charge|in fees)\b": -7.0,
    }
)


def find_principals(document: Document) -> list[Principal]:
    """The amounts that `document` marks as lent or as the limit of its credit, best first."""
    text = document.text
    breaks = passage_breaks(text)
    sums = capped(moneys(text))
    counts = Counter((money.amount, money.currency) for money in sums)
    principals: list[Principal] = []
    for number, money in enumerate(sums):
        if money.amount < 50 or text[max(0, money.start - 1) : money.start] == "/":
            continue
        setting = setting_of(text, money.start, money.end, breaks)
        score, label = _principal_score(text, money, setting)
        if _follows(text, money, sums[max(0, number - 3) : number], label, row=label == setting.label):
            score -= 2.5
        if score < _THRESHOLD:
            continue
        score = _placed(score + min(3, counts[money.amount, money.currency] - 1) * 0.6, money.start, text)
        principals.append(
            Principal(label, setting.start, setting.end, money.start, money.end, score, money.amount, money.currency)
        )
    if principals:
        largest = max(p.amount for p in principals)
        principals = [replace(p, score=p.score + 1.0) if p.amount == largest else p for p in principals]
    return sorted(principals, key=lambda p: (-p.score, p.value_start))


def _follows(text: str, money: MoneyMention, earlier: list[MoneyMention], label: str, *, row: bool) -> bool:
    """Detect another amount between `money` and the words that mark it: they are said of the first."""
    begin = text.rfind("\n", 0, money.start) + 1 if row else money.start - len(label)
    return any(
        mention.amount != money.amount
        and begin <= mention.start < money.start
        and not (row and re.search(r"\||\s{3}", text[mention.end : money.start]))
        for mention in earlier
    )


_BRACKETS = re.compile(r"\([^)]{0,60}\)")
_HELD_ELSEWHERE = re.compile(r"\W*(?:owed |held |outstanding )?(?:with|at)\s+[A-ZÀ-Þ]")


def _principal_score(text: str, money: MoneyMention, setting: Setting) -> tuple[float, str]:
    options: list[tuple[float, str]] = []
    after, after_label = weigh(_PRINCIPAL_AFTER, setting.after)
    if setting.label:
        row, label = weigh(_PRINCIPAL_LABEL, setting.label)
        if row <= 0:  # "Facility amount (purchase price of the goods)"
            row, label = max((row, label), weigh(_PRINCIPAL_LABEL, _BRACKETS.sub("", setting.label)))
        if row != 0:
            options.append((row + min(after, 0.0), setting.label if label else ""))
    before, label = weigh(_PRINCIPAL_BEFORE, setting.before[-300:])
    if _HELD_ELSEWHERE.match(setting.after):
        after -= 7.0
    if setting.aside:
        after -= 8.0
    both = max(before, after) + (0.4 * min(before, after) if min(before, after) > 0 else min(before, after))
    options.append((both, label if before >= after else after_label))
    best = _decide(options)
    if _alone(text, money) and money.start < 2500 and best[0] >= 0:
        best = max(best, (9.0 if money.start < 800 else 6.5, "heading"))
    return best


_RUNS_ON = re.compile(r"[^\n]{50}[a-z,(][ \t]*\n\Z")
_STACKED = re.compile(r"(?:^|\n)[ \t]*[$€£]?[\d,.]{3,}[ \t]*%?[ \t]*\n\s*\Z")
_STACK = re.compile(r"[ \t]*\n\s*[$€£][\d,.]{3,}[ \t]*\n")


def _alone(text: str, money: MoneyMention) -> bool:
    """Return True where an amount stands at the beginning of its line and all but alone: a note's heading."""
    line_start = text.rfind("\n", 0, money.start) + 1
    line_end = text.find("\n", money.end)
    following = text[money.end : len(text) if line_end < 0 else line_end]
    if _RUNS_ON.search(text[max(0, line_start - 80) : line_start]):
        return False  # a sentence that goes on from the line above
    if _STACKED.search(text[max(0, line_start - 40) : line_start]) or _STACK.match(text, money.end):
        return False  # a column of figures whose labels stand elsewhere
    return not text[line_start : money.start].strip(" *#_|") and (
        not following.strip(" *_|")
        or following.startswith("   ")
        or bool(re.match(r"\s+[A-Z][\w., ]+\d{4}\s*$", following))
    )


# --- rates -----------------------------------------------------------------------------------------------------

_INDEX = r"(?:benchmark|prime(?: lending)? rate|\bprime\b|SOFR|LIBOR|EURIBOR|SONIA|BBSW|BBSY|BKBM|TIBOR|TONAR|STIBOR|NIBOR|CIBOR|WIBOR|PRIBOR|JIBAR|SORA|SARON|€STR|ESTR|HIBOR|MCLR|repo rate|CORRA|base rate|base lending rate|bank rate|reference rate|treasury (?:rate|yield|bill)|federal funds|index rate|the index\b|reference index|TIIE|\bCDI\b|Selic|KIBOR|EIBOR|SAIBOR|MIBOR|SIBOR|BUBOR|ROBOR|TELBOR|TLREF|KLIBOR|BIBOR|JIBOR|\b[A-Z]{1,3}IBOR|\b(?:M|B|P|L|AWP|AWD|OP|BF|IB)LR\b|\bAWPR\b|\bOPR\b|\bLPR\b|\bSBR\b|\bSVR\b|\bTBP\b|passive rate|repo[- ]linked|lending rate(?! ?:)|discount rate|cash rate|policy rate|key rate|rediscount rate|central bank(?:['’]s)? rate|eurodollar rate|euro-dollar|adjusted term|alternate base|T-bill|standard variable)".replace(
    " ", r"\s"
)
# What a rate turns into after a fixed beginning, or that it moves: then no figure is the contract's for the whole term.
_TURNS = r"\b(?:thereafter|afterwards?|followed by|after (?:that|which)|subsequently|then|from (?:year|month) \w+|for the (?:rest|remainder)|remaining (?:term|years))\b[^.;]{0,70}\b(?:revis\w+|re-?viewed|re-?set|re-?pric\w+|adjust(?:ed|able)|variable|floating|{index})"
_TURNING = re.compile(_TURNS.replace("{index}", _INDEX), re.IGNORECASE)
_VARIABLE = re.compile(
    rf"\b(?:variable|floating|adjustable)(?:[- ](?:rate|interest))|\b(?:rate|interest|APR)\b[^.;]{{0,60}}\b(?:var(?:y|ies)|floats?|adjusts?|may (?:change|go up|increase)|will (?:vary|change)|can (?:change|move)|is (?:variable|not fixed|floating))\b|{_INDEX}[^.;]{{0,90}}\b(?:plus|margin)\b|\b(?:above|over|plus|below)\s+(?:the\s+)?(?:[\w'’]+\s+){{0,5}}?{_INDEX}|\b(?:margin|applicable rate)\b[^.;]{{0,60}}\b(?:over|above|plus|aggregate)\b|\b(?:aggregate|sum) of\b[^.;]{{0,60}}\bmargin\b|\brate equal to\b[^.;]{{0,60}}{_INDEX}|\bbears? interest at\b[^.;]{{0,60}}{_INDEX}|\b(?:rate|interest)\b[^.;\n]{{0,30}}\blinked\b[^;\n]{{0,60}}\bfloating\b|{_INDEX}[^;\n]{{0,40}}\s\+\s?\d|{_INDEX}[^.;\n]{{0,30}}\b(?:less|minus|m[aá]s|today|currently|at present|presently|now standing)\b[^.;\n]{{0,30}}\d|\bpercentage points? (?:higher|lower|more|less) than\b[^.;]{{0,40}}{_INDEX}|\d ?(?:%|per cent)[^.;\n]{{0,25}}[(,]\s*(?:variable|floating)\b"
    rf"|\b(?:rate|interest|track|pricing)\b(?: (?:rate|type|basis|of interest))?[ \t]*[:|,.–-]+[ \t]*(?:rate[ \t]+)?(?:variable|floating|adjustable|indexed|changing)\b|{_INDEX}[^;\n]{{0,40}}\b(?:increased|raised|augmented|reduced|with (?:a|an) (?:addition|spread|mark-?up)) (?:by|of)\b|{_INDEX}\W{{1,3}}(?:changing|variable|floating)\b|\((?:variable|floating)\b|\b(?:rate|interest)\b[^.;\n]{{0,50}}\b(?:reviewed|revised|re-?set|re-?priced|adjusted)\s+(?:every|each|annually|yearly|quarterly|monthly|half-yearly|semi-annually|periodically|from time to time|by the (?:bank|lender|society))"
    rf"|{_TURNING.pattern}",
    re.IGNORECASE,
)
_HINT = re.compile(
    rf"\b(?:variable|floating|adjustable|indexed|changing|var(?:y|ies)|floats?|adjust(?:s|ed)|revised|reviewed|re-?set|re-?priced|change|move|margin)\b|{_INDEX}",
    re.IGNORECASE,
)
_REGARDLESS = re.compile(
    r"before and after|both before|also after any default|no default rate|not charge a default", re.IGNORECASE
)
_LATE = re.compile(
    r"\b(?:payments?|instal\w+|you|they|amounts?) (?:are|is|were) (?:late|overdue)\b|\b(?:if|should|where|whenever)\b[^.;]{0,60}\b(?:not (?:met|paid|repaid|redeemed|settled)|late|overdue|unpaid|missed|delay(?:ed|s)?)\b",
    re.IGNORECASE,
)
_DEFAULTING = re.compile(
    r"\b(?:(?:payments?|you|they|instal\w+) (?:are|is) late|default|overdue|late|past[- ]due|delinquen\w*|(?<!in )arrears?|(?:amounts?|sums?|payments?|instal\w+|is|are|falls?|was|were|be|anything|whatever) in arrears?|unpaid when due|not paid when due|post-maturity|unpaid (?:sums?|instal\w+)|sums? (?:unpaid|not paid)|damages for|in lieu of the interest|until cured|if .{0,30}not paid|after maturity|penalty|late[- ]payment|dishonou?red|additional interest|misses|missed|penal|punitive|moratory|(?:for|on|of|in) delay|delayed|is not (?:met|redeemed|repaid|settled|honou?red)|not (?:redeemed|repaid|settled) (?:on|in) time|(?:should|if|where) (?:any |a |the |an )?(?:payment|instal\w+|amount|sum)s?\b.{0,30}\b(?:late|unpaid|not)|higher rate|unarranged|unauthori[sz]ed|excess position|from (?:the )?date of demand|upon default|on default|late interest|acts? interest)\b",
    re.IGNORECASE,
)
_RATE_LABEL = cues(
    {
        r"\b(?:interest|borrowing|contract|nominal|lending|fixed|loan|note|yearly|simple|coupon|debit)\s*(?:rate|interest)?\b.*|(?<!advance )\brate\b|\binterest\b|\bcoupon\b|\bprice\b|\bwhat do (?:you|we) (?:charge|pay for it)\b|\bwhat (?:does it|will it) cost\b|"
        r"\b(?:funding|discount|finance|financing|credit|borrowing|profit) (?:charge|cost|rate)": 11.0,
        r"\bAPRC?\b|\bannual percentage|\beffective|\brepresentative|\bTAEG|\bcomparison": -5.5,
        r"\bfees?\b|(?<!funding )(?<!discount )(?<!finance )(?<!financing )(?<!credit )(?<!interest )(?<!you )\bcharges?\b|\bdefault|\blate\b|\boverdue|\bpenalt|\bpremium|\bLTV|\bloan.to.value|\bdeposit|\bmargin\b|\btax|\bshare\b|\bguarantee|"
        r"\bprepay|\bearly|\badvance rate|\bpenal\b|\bcommission": -12.0,
    }
)
_RATE_BEFORE = cues(
    {
        r"\bon what (?:I|we|you|is|remains|he|she|it)\b[^.;]{0,60}$": 5.0,
        r"\b(?:contract|agreed|applicable) rate (?:of interest )?(?:is|of|:)\W*$": 16.0,
        r"\b(?:per|a|each|every) month\b[^.;]{0,50}\b(?:being|that is|i\.?e\.?|or|equal to|equivalent to)\W*$": 9.0,
        r"\b(?:price|cost)\b[^.;]{0,30}\bis\W*$": 6.5,
        r"\bannual\s+percentage\b[^.;]{60,240}$": -4.5,
        r"\bundivided\b[^.;]{0,20}$": -9.0,
        r"\b(?:bears?|bearing|carr(?:y|ies)|accrues?|accruing|with|pays?|plus|add|together with)\s+(?:simple\s+|annual\s+|compound\s+|monthly\s+|fixed\s+)*interest\b[^.;]{0,120}$": 8.0,
        r"\binterest\b[^.;]{0,130}\b(?:at|of|is|be|by|rate|equal to|runs at|amounts to|charged)\b[^.;]{0,60}$": 8.0,
        r"\b(?:interest|fixed|yearly|annual|contract|nominal|borrowing)\s+rate\b[^.;]{0,60}$|\brate\s+(?:of\s+interest\s+)?(?:of|is|at|:|,|shall be|will be)?\W*$": 8.0,
        r"\brate\b[^.;]{0,50}$": 6.0,
        r"^\W*(?:interest|rate)\W*$|\binterest\b[^.;]{0,15}$": 7.5,
        r"\bcosts?\b[^.;]{0,40}$": 1.5,
        r"\b(?:discount|finance|funding|profit) (?:charge|rate|cost)\b[^.;]{0,20}$": 8.0,
        r"\b(?:APRC?|annual percentage rate|effective (?:annual )?rate|annual rate of charge)\b[^.;]{0,60}$": -4.5,
        r"\b(?:fees?|premium|commission|discount(?! charge| rate| interest)|tax|VAT|GST|deposit|ratio|margin of|equity|shares?|ownership|purchase price|value|worth|limit|haircut|advance rate|minimum payment|down ?payment|guarantee|surcharge|rebate|points)\b[^,;]{0,60}$": -9.0,
        r"\b(?:plus|over|above|exceed(?:s|ing)?|more than|less than|at least|not less than|greater of|lesser of|increased? by|additional|further|extra|minimum|below|cap(?:ped)? at|maximum)\W*(?:\w+\W+){0,2}$": -7.0,
    }
)
_RATE_AFTER = cues(
    {
        r"^[^.;]{0,40}\b(?:in the case of|for|on) (?:an? |the |any )?(?:ABR|base rate|alternate base|eurodollar|euro-?dollar|euro rate|libor|sofr|prime rate|swing ?line|letters? of credit|term benchmark|floating rate)\b": -12.0,
        r"^[^.;]{0,30}\bis (?:our|the|an?|only)\b[^.;]{0,20}\b(?:advertised|reference|indicative|illustrat\w+|example)\b": -16.0,
        r"^\W{0,3}(?:per cent |percent )?interest\b(?! in)(?! on (?:late|overdue))": 6.5,
        r"^[^.;]{0,60}\b(?:net profits|royalty|working|undivided|membership|ownership) interest\b": -9.0,
        r"^\W{0,3}(?:per annum|a year|p\.a\.?|per year)?\W{0,3}(?:above|over|higher than|in excess of|more than)\b": -7.0,
        r"^\W{0,3}(?:per annum|per year|p\.?\s?a\b|a year|yearly|annually|annual|each year|every year|by the year|per cent\. per annum)": 4.0,
        r"^[^.;]{0,40}\bfixed\b": 3.0,
        r"^\W{0,3}(?:of|on)\s+(?:the|any|each|all|its|such|that|my|your|your|an?|Consolidated|that|what|amounts?|principal|purchase|gross|net)\b": -7.0,
        r"^\W{0,3}(?:for|in)\s+(?:each|every|any|a)\s+(?:month|week|day|quarter)\b": -9.0,
        r"^[^.;]{0,12}\bfrom that (?:day|date)\b": -9.0,
        r"^\W{0,3}(?:a|per) (?:year|annum) on (?:the|all|what)\b": 5.0,
        r"^\W{0,3}(?:per|a|each|every)\s+(?:month|week|day|quarter)\b": -6.0,
        r"^\W{0,3}(?:fee|charge|discount|deposit|premium|owned|interest in|of\b.{0,20}amount|points?|above|over|in excess|higher|margin|greater|plus)\b": -7.0,
        r"^\W{0,3}(?:or more|or less|of each payment|late)\b": -7.0,
    }
)


def find_rates(document: Document) -> list[Rate]:
    """The contract rates of `document`, best first. The main rate is None where the first is variable.

    A rate by the month, quarter or week counts by the year (simple) where no rate by the year is stated; a loan
    that bears no interest has the rate 0 where nothing else is stated.
    """
    text = document.text
    breaks = passage_breaks(text)
    variable = list(_variable(text, breaks))
    settled = _settle([*_fixed(text, breaks, moving=any(rate.score > _MOVING for rate in variable)), *variable])
    return sorted(settled or _interest_free(text, breaks), key=lambda r: (-r.score, r.value_start))


_PERIODS = {"m": 12, "q": 4, "h": 2, "s": 2, "w": 52, "f": 26}
_PER_PERIOD = re.compile(
    r"^\W{0,3}(?:of )?(?:interest )?(?:flat |simple )?(?:(?:per|a|an|each|every|for (?:each|every)|by the|/)\s?(?:calendar |full )?(?P<unit>month|mensem|quarter|half[- ]year|week|fortnight)\b"
    r"|(?P<adverb>monthly|p\.?\s?m\b|pcm\b)(?! (?:reducing|rest|compound|in arrear|payment|instal|repayment)))[)\]]?",
    re.IGNORECASE,
)
_PERIODIC_BEFORE = re.compile(
    r"\b(?:(?P<unit>month|quarter|week)ly (?:interest(?: rate)?|rate)(?: of interest)?|(?:rate|interest) (?:per|a|each|/) ?(?P<unit2>month|quarter|week))\W*(?:of|is|at|being)?\W*$",
    re.IGNORECASE,
)
_MOVING = 7.5  # a variable rate that is more than named: interest, a margin or an index stands beside it
_PERIODIC_CAP = 6.5  # a rate by the month gives way to one by the year
_DAILY = re.compile(r"\bdaily\b[^.;:]{0,30}$", re.IGNORECASE)
_FIXED = re.compile(
    r"(?<!no )(?<!not )(?<!not a )\b(?:fixed|unchang\w+|not (?:be )?(?:altered|changed|vary))\b", re.IGNORECASE
)


def _fixed(text: str, breaks: list[tuple[int, int]], *, moving: bool) -> Iterator[Rate]:
    """The stated rates; where the contract's rate is `moving`, one that is not called fixed is today's or another's."""
    least = _THRESHOLD if len(text) < _LONG else _CLEAR
    for percent, start, end in capped(percentages(text)):
        if not 0 <= percent < 100:
            continue
        value = percent
        setting = setting_of(text, start, end, breaks)
        period = _PER_PERIOD.match(setting.after)
        earlier = None if period else _PERIODIC_BEFORE.search(f"{setting.label}: {setting.before}"[-160:])
        following = setting.after[period.end() :] if period else setting.after
        score, label = _rate_score(setting, following, by_year=period is None)
        if moving and not _FIXED.search(f"{setting.before[-160:]} {setting.after[:160]}"):
            score -= 6.0
        unit = (period and (period["unit"] or period["adverb"])) or (earlier and (earlier["unit"] or earlier["unit2"]))
        if unit:
            score = min(score, _PERIODIC_CAP)
            value = (percent * (12 if unit.lower().startswith("p") else _PERIODS[unit[0].lower()])).normalize()
            value = value.quantize(Decimal(1)) if value == value.to_integral_value() else value
        if score >= least and value < 200:
            final_score = _placed(score, start, text)
            yield Rate(label, setting.start, setting.end, start, end, final_score, value, variable=False)


def _rate_score(setting: Setting, following: str, *, by_year: bool) -> tuple[float, str]:
    """Score how well the words around a percentage, `following` after it, mark it as the contract rate.

    The words that do come with the score.
    """
    after, _ = weigh(_RATE_AFTER, following if by_year else f" a year {following}")
    options = _by_label(_RATE_LABEL, setting.label, 1.0 if after > 0 else after)
    before, label = weigh(_RATE_BEFORE, setting.before[-260:])
    if before >= 8:  # a caption such as "Charges" does not undo what the sentence says
        options = [option for option in options if option[0] >= 0]
    score, label = _decide([*options, (before + after, label)])
    if _MOVING_LABEL.search(setting.label) or _DAILY.search(setting.before):
        return -99.0, ""
    clause = setting.after.split(";")[0]
    near = f"{setting.label} {setting.before[-110:]} {clause[:60]}"
    if setting.aside:
        score -= 8.0
    if "annual percentage" in setting.before[-240:].lower() and re.match(r"rate\b\W*$", setting.label, re.IGNORECASE):
        score -= 6.5
    if _LATE.search(near) and not _REGARDLESS.search(near):
        score -= 12.0
    elif _DEFAULTING.search(near) and not _REGARDLESS.search(near):
        score -= 7.0
    beside = f"{setting.before[-70:]} {clause[:70]}"
    if _INDEXED.search(beside) and not re.search(r"\bfixed\b", near, re.IGNORECASE):
        score -= 6.0
    return score, label


_MOVING_LABEL = re.compile(r"\b(?:variable|floating|adjustable)\b", re.IGNORECASE)
_INDEXED = re.compile(rf"{_INDEX}|\bmargin\b", re.IGNORECASE)
_NO_INTEREST = re.compile(
    r"\b(?:(?:bears?|bearing|carr(?:y|ies|ying)|accrues?|attracts?|earns?|yields?|pays?|charges?|at) no (?:\w+ ){0,2}?interest|(?:no|without(?: any)?|free (?:of|from)(?: any)?|nil|zero) interest(?! (?:in|of|under|therein)\b|,? (?:rate|free))"
    r"|(?:not|never) (?:be )?(?:bear|carry|accrue|attract|earn|charge|pay|liable (?:for|to pay)|subject to)(?: any)? interest|interest[- ]free|non[- ]?interest[- ]bearing|zero[- ]interest|interest (?:will|shall|is|may)(?: not| never)(?: be)? (?:charged|payable|due|owed|accrue)"
    r"|interest(?: rate)?[ \t]*[:|.–-]+[ \t]*(?:nil|none|zero|no interest|free|not? (?:charged|applicable|payable))\b|no interest,? (?:\w+,? ){0,3}(?:or|nor|and) \w+)",
    re.IGNORECASE,
)
# What frees only a time, a part, or money that is not the loan.
_PARTLY = re.compile(
    r"\b(?:first|period|days?|while|during|until|before|unless|if|when|where|late|overdue|default|prepa\w+|early|deposit|refund\w*|in advance|purchases?|promotion\w*|introductory|further|other|retain\w*|excess|claims?|amounts? not|so long|as long|provided|hold\w*|demand|costs?|within|up to)\b",
    re.IGNORECASE,
)


def _interest_free(text: str, breaks: list[tuple[int, int]]) -> list[Rate]:
    """The rate 0 of a loan whose words say that it bears no interest, whatever becomes of it."""
    rates = []
    for match in capped(_NO_INTEREST.finditer(text)):
        setting = setting_of(text, match.start(), match.end(), breaks)
        row = ":" in match.group()
        clause = "" if row else f"{setting.before[-70:]} {re.split('[.;]', setting.after[:90])[0]}"
        if setting.aside or _PARTLY.search(clause):
            continue
        label = " ".join(match.group().split())
        score = _placed(5.0, match.start(), text)
        rates.append(Rate(label, setting.start, setting.end, *match.span(), score, Decimal(0), variable=False))
    return rates


_MOST_HINTS = 201


def _variable_hits(text: str) -> Iterator[re.Match[str]]:
    """The first words that make a rate variable, looked for only around words such as "margin" or "prime"."""
    done = 0
    for hint in islice(_HINT.finditer(text), _MOST_HINTS):
        if hint.start() < done:
            continue
        match = _VARIABLE.search(text, max(done, hint.start() - 160), min(len(text), hint.end() + 160))
        done = match.end() if match else hint.end()
        if match:
            yield match


_SAYS_INTEREST = re.compile(r"\binterest\b|\b(?:nominal|annual|lending|borrowing) rate\b", re.IGNORECASE)
_UNTICKED = re.compile(r"(?:\[\s*\]|\(\s\)|☐|□|_{2,})\s*$")
_DENIED = re.compile(r"\W{0,4}(?:\[ \] yes\b|☐ yes\b|(?:no|none|not applicable|n/a)\b)", re.IGNORECASE)


def _variable(text: str, breaks: list[tuple[int, int]]) -> Iterator[Rate]:
    for match in _variable_hits(text):
        setting = setting_of(text, match.start(), match.end(), breaks)
        begin, end = _cell(text, setting.start, setting.end, match.start())
        sentence = text[begin:end]
        if _UNTICKED.search(text[max(0, match.start() - 8) : match.start()]) or _DENIED.match(setting.after):
            continue
        clause = sentence[sentence.rfind(";", 0, max(0, match.start() - begin)) + 1 :].split(";")[0]
        if _DEFAULTING.search(clause) or re.search(
            r"\b(?:not|no|never|without|nor)\b[^.;]{0,30}$", setting.before[-40:], re.IGNORECASE
        ):
            continue
        if not _TURNING.search(match.group()) and re.search(
            r"(?<!no )(?<!not )(?<!not a )\bfixed\b(?! (?:for|until|to|till|in)\b)|\bnot (?:a )?variable|does not (?:vary|change)|shall not (?:vary|change)|will not (?:vary|change)|\bother\b|insurance|hedg|swap",
            sentence,
            re.IGNORECASE,
        ):
            continue
        margin = next((value for value, _, _ in percentages(sentence)), None)
        says_interest = _SAYS_INTEREST.search(sentence) is not None
        score = 7.0 + 1.5 * says_interest + 1.5 * (margin is not None)
        label = " ".join(match.group().split())[:60]
        yield Rate(label, begin, end, *match.span(), _placed(score, match.start(), text), margin, variable=True)


def _cell(text: str, start: int, end: int, at: int) -> tuple[int, int]:
    """The cell of a row of several cells that `at` stands in; the whole row where it is a label and a value."""
    if text.count("|", start, end) < 2:
        return start, end
    left, right = text.rfind("|", start, at), text.find("|", at, end)
    return (left + 1 if left >= 0 else start), (right if right >= 0 else end)


def _settle(found: list[Rate]) -> list[Rate]:
    """A percentage inside a passage that makes the rate variable is not a fixed contract rate."""
    variable = [r for r in found if r.variable]
    return [r for r in found if r.variable or not any(v.start <= r.value_start < v.end for v in variable)]


# --- maturities ---------------------------------------------------------------------------------------------------

_MATURITY_LABEL = cues(
    {
        r"\bmaturity|\bmatures?\b|\bfinal (?:repayment|payment|instal?l?ment|due|date|maturity)|\blast (?:payment|instal?l?ment|repayment|due)|\brepay(?:ment|able)? (?:date|by|on|in full)|\bfirst\s*/\s*last|\bfinal\b|\bpayable (?:on|in full)|\brepay by|\bend of (?:the )?(?:term|loan)|\bexpir|\bend date|\bredemption|\bpaid off by|\bover and done|\bdone by|\bback by|\buntil when|\blast day|\bfinal day|\bclosing day|\bballoon|\bvalid(?:ity)?\b|\blast \w+|\baccount ends|\bfacility ends": 11.0,
        r"\bdue(?: date)?\b|\brepayment\b|\btermination|\bends?\b|\bterm\b|\buntil\b|\btenor|\btenure|\bduration|^period\b|\brepayment period|\blength\b": 6.5,
        r"\boffer\b|\bvalid (?:till|until|to|through)\b|\bavailab|\baccept|\blapse|\breview|\bfirst (?:mortgage|charge)|\bfirst (?:payment|instal?l?ment|repayment|due)(?!\s*/)|\bstart|\bcommenc|\bpaid out|\bpay-?out|\bvalue date|\beffective|\bsign|\bissue|\bloan date|\bcontract date|\bbirth|\bdrawdown|\badvance|\bdisburse|\bdate of (?:this|agreement|loan|note|the agreement)|\bdated?$(?<!maturity date)(?<!due date)(?<!repayment date)(?<!end date)(?<!termination date)(?<!expiry date)(?<!payment date)(?<!final date)(?<!redemption date)": -14.0,
    }
)
_MATURITY_BEFORE = cues(
    {
        r"\b(?:fixed|rate of|charge of|charge)\b[^.;]{0,50}\buntil\W*$": -9.0,
        r"\b(?:offer|quotation|commitment|letter|approval|certificate|insurance|policy|licen[cs]e|visa|lease)\b[^.;]{0,40}\b(?:valid|open|laps\w+|expir\w+|good|ends?|accept\w*)\b[^.;]{0,20}$|\bvalid (?:till|until|to|through)\W*$|\b(?:next )?review\b[^.;]{0,25}$|\bavailab\w*\b\W*(?:until|till|to)\W*$": -14.0,
        r"\b(?:must|shall|should|will) (?:\w+ ){0,2}(?:have been |be )?(?:paid|repaid|returned|cleared|settled|redeemed|discharged)\b[^.;]{0,40}\b(?:on|by|before)\W*(?:the\s*)?$": 7.5,
        r"\b(?:return|returns|returned|give|gives|given|pay|pays|paid|come|comes|hand|hands|bring)\b[^.;]{0,15}\bback\b[^.;]{0,70}\b(?:on|by|before|latest)\W*(?:the\s*)?$": 8.0,
        r"\b(?:return|redeem|restore|reimburse)s?\b[^.;]{0,80}\b(?:on|by|before)\W*(?:the\s*)?$": 8.0,
        r"\bat the latest (?:on|by)\W*(?:the\s*)?$|\bfull adjustment\b[^.;]{0,20}$": 8.0,
        r"\bmaturity date,? (?:being|namely|i\.?e\.?|which is|that is)\W*$": 9.5,
        r"\b(?:whole|entire|full)\b[^.;]{0,40}\b(?:lent|loan|debt|principal|capital|sum|amount)\W*:\W*$|\brepayment\b[^.;]{0,30}:\W*$": 8.0,
        r"\bexpiring\b[^.;]{0,15}$|\bexpiry\W*$": 7.0,
        r"\b(?:paid|settled|cleared) (?:up|off)\b[^.;]{0,20}\b(?:on|by|before)\W*(?:the\s*)?$": 8.0,
        r"\ball (?:the )?(?:principal|capital)\s+on\W*$|\bbrings? (?:us|you|it|that|this) to\W*$": 8.5,
        r"\bcompletes? (?:the )?(?:project|works?|building|construction|plant|development)\b[^.;]{0,40}$": -16.0,
        r"\b(?:was|were|been) (?:re)?paid\b[^.;]{0,30}\bon\W*$": -12.0,
        r"\b(?:free|clear|rid) of (?:this|the|my|all) (?:debt|loan)[^.;]{0,20}\b(?:on|by)\W*(?:the\s*)?$": 9.0,
        r"\bcorrespond\w*\b[^.;]{0,20}$|\beach (?:month|quarter|year)\b(?:(?!pay|paid|due|balance|principal|last|final)[^.;]){0,40}$": -12.0,
        r"\b(?:existing|another|separate|earlier(?!,)|overdraft with|other)\b[^.;]{0,120}$": -8.0,
        r"\b(?:over|ends?|finish(?:ed|es)?|expires?|runs out|comes to (?:its|an) end|closes?)\b[^.;]{0,15}\bon\W*(?:the\s*)?$": 8.0,
        r"\bon or before\W*(?:the\s*)?$": 6.0,
        r"\b(?:complete|completed|finished|cleared)\b[^;]{0,90}\b(?:on|by)\W*(?:the\s*)?$": 8.0,
        r"\b(?:first|earliest)\b(?:(?!last|final|second|remainder|balance)[^.;]){0,45}$": -10.0,
        r"\b(?:paid out|lends?|lent|disbursed|advanced|credited)\b(?:(?!repa|due|until|matur)[^.;]){0,60}\b(?:on|by)\W*(?:the\s*)?$": -9.0,
        r"\b(?:born|birth|granted|reckoned from|counted from)\b[^.;]{0,30}$": -10.0,
        r"\bcommission expires?\W*$": -20.0,
        r"\bkeep the line open (?:until|to)\W*$|\bopen until\W*$": 7.0,
        r"\b(?:months|years|instal?ments|draw again|reborrow)\W*(?:up )?(?:to|until|ending(?: on)?)\W*(?:the\s*)?$": 8.0,
        r"\b(?:to be )?repaid\b[^.;]{0,80}\band on\W*(?:the\s*)?$": 6.0,
        r"\bthe (?:balance|rest|remainder) on\W*(?:the\s*)?$": 9.0,
        r"\btermination date\W*(?:means|is|shall mean)\W*$": 9.0,
        r"\bending (?:on or )?after\W*$|\b(?:fiscal|quarter|(?<!availability )(?<!credit )(?<!loan )(?<!repayment )period(?! (?:of |is )?(?:\d|\w+ (?:months|years)))|year)s?\b[^.;]{0,20}\bend(?:s|ed|ing)?\b[^.;]{0,20}$": -9.0,
        r"\b(?:last|final)(?:\s+\w+){0,3}?\s*[:–-]?\W*$": 9.0,
        r"\b(?:remainder|rest|residue|remaining (?:sum|balance|amount|principal))\b[^.;]{0,60}\b(?:on|by|at)\W*(?:the\s*)?$": 9.0,
        r"\b(?:payments?|instal?l?ments?|deductions?|repayments?|repayable)\b[^.;]{0,110}\bfrom\b[^.;]{0,40}\b(?:to|until|through|till)\W*$": 8.5,
        r"\bmaturity(?: date)?\W*[^.;]{0,60}(?:means|is|be|being|:|of|on|falls on|date)?\W*$": 9.0,
        r"\b(?:final |ultimate )?repayment date\W{0,3}\s(?:means|is|shall (?:be|mean))\s*$": 9.0,
        r"\b(?:the )?(?:last|final)(?: of (?:them|these|which))?\b[^.;]{0,70}\b(?:on|due|is|,|falls due on|payable on|by|later than)\W*(?:the\s*)?$": 9.0,
        r"\b(?:due|payable|repayable|paid|repaid|repay|pay|settled?|cleared|discharged|finished|redeemed)\b[^.;]{0,50}\b(?:in full|in one|in a single|single sum|lump sum|bullet|whole|entire|all|balance|balloon|one payment|at once)\b[^.;]{0,70}\b(?:on|by|before|no later than|not later than)\W*(?:the\s*)?$": 9.0,
        r"\b(?:whole|entire|full|all|any|outstanding|unpaid|remaining|total|balance|principal|loan|loans|advances?|note|debt|sum|money|everything|capital)\b[^.;]{0,130}\b(?:due|payable|repayable|repaid|repay|paid|pay|pay out|returned?|back|settled?)\b[^.;]{0,50}\b(?:on|by|before|until|no later than|not later than|latest)\W*(?:the\s*)?$": 8.0,
        r"\b(?:re)?pa(?:y|id)\b[^.;]{0,60}\b(?:debt|loan|principal|balance|sum|money|everything|advance|note|amount|it|in full|back|out)\b[^.;]{0,60}\b(?:on|by|before|no later than|not later than)\W*(?:the\s*)?$": 8.0,
        r"\bmatur(?:es?|ing)\b[^.;]{0,30}$": 9.0,
        r"\bin full\b[^.;]{0,25}\b(?:on|by)\W*$": 9.0,
        r"\b(?:repayment|payment in full|repayable|repaid)\b[^.;]{0,60}\b(?:on|by|before)\W*$": 7.0,
        r"\b(?:ends?|ending|expires?|terminates?|runs (?:until|to)|concludes?|comes to an end|continues? (?:until|to)|through|until|up to and including|to and including|available until|advances[^.;]{0,60}up to)\b[^.;]{0,25}$": 6.0,
        r"\bif,? on\W*$": 6.0,
        r"\bdue on\W*$|\bdue(?: and payable)?\b[^.;]{0,20}$": 6.0,
        r"\b(?:dated|date of|as of|entered into|made on|made this|signed|executed|effective|commenc\w+|beginning|begins?|starting|starts?|from|since|opened|born|issued|registered|incorporated|prior to|deliver\w*|adopted|until and including|fiscal year|year ended|ended|expired)\b(?:\s+\w+){0,2}\W*(?:the\s*)?$": -10.0,
        r"\b(?:first|initial) (?:payment|instal?l?ment|repayment|due)\b(?:(?!last|final)[^.;]){0,60}$|\bfirst (?:of (?:them|which)|due)\b(?:(?!last|final)[^.;]){0,30}$": -10.0,
        r"\b(?:prepay|prepaid|prepayment|drawn|drawdown|disburs\w+|advance\w*|lend|transfer\w*)\b(?:(?!ends?|until|matur|lasts|repa|due|shall pay|whole|outstanding)[^.;]){0,50}\b(?:on|by|before)\W*$": -6.0,
        r"\b(?:default|accelerat\w+|financial statements|audited|withdraw\w*)\b[^.;]{0,60}$|\b(?:tax|insurance|notice)\b[^.;,]{0,60}$": -5.0,
        r"\bpaid (?:out )?(?:in one|once|as one|by one)\b[^.;]{0,40}\b(?:account|transfer)\b[^.;]{0,20}$": -18.0,
        r"(?<!with )\b(?:interest)\b[^.;]{0,30}\b(?:payable|due|paid)\b[^.;]{0,40}\b(?:on|from)\W*$": -3.0,
    }
)
_MATURITY_AFTER = cues(
    {
        r"^[^.;]{0,60}\b(?:comes? to an end|ends\b|expires\b|is closed)": 8.0,
        r"^\W*is (?:to be )?(?:re)?paid\b": 6.0,
        r"^\W*at the (?:very )?latest\b": 7.0,
        r"^\W*(?:you|I|we|it|the \w+|\w+)\W+(?:must|will|shall|has to|have to|is to)\W+(?:have\W+)?(?:paid|repaid|pay|repay|settle|return)\b(?!\W*(?:US|USD|EUR|GBP)?\W?\d)(?!\W*[$€£¥])": 8.5,
        r"^[^.;]{0,30}\bafter that you cannot draw\b": 5.0,
        r"^[^.;]{0,120}\bthen (?:we are|it is|i am|the loan is) (?:done|finished|over|at an end|even|square)": 7.0,
        r"^[^.;]{0,60}\b(?:whatever|anything|all that|what) (?:is|remains|interest)[^.;]{0,60}\b(?:unpaid|owing|outstanding|left)\b": 5.0,
        r"^\W{0,4}(?:\(?\W*(?:as (?:it|the same) may be extended[^)]{0,40}|or such earlier[^.;(]{0,160}|being[^.;(]{0,60})?\W*(?:the|such date[^.;(]{0,20}|called)?\W*(?:final )?(?:maturity|repayment|due|termination|expiry|final payment) date)": 9.0,
        r"^[^.;]{0,60}\b(?:whichever|maturity)\b": 3.0,
        r"^[^.;]{0,40}\b(?:remaining|final) (?:balance|payment|instal?l?ment)|^\W*(?:when|on which (?:date|day))\b[^.;]{0,60}\b(?:balance|all|remaining|entire|whole|principal)": 6.0,
        r"^[^.;]{0,30}\b(?:the debt|the loan) (?:is|will be|shall be) (?:finished|repaid|paid|at an end)": 7.0,
        r"^\W*(?:and (?:on|each|every|continuing|the same)|and thereafter|with the last)\b": -4.0,
    }
)


_STARTS = re.compile(
    r"\b(?:from|starting|beginning|commencing|first on|dated|review is|review)(?:\s+on)?(?:\s+the)?\W*$", re.IGNORECASE
)


def find_maturities(document: Document) -> list[Maturity]:
    """The days on which `document` lets the last of the loan fall due, best first."""
    text = document.text
    breaks = passage_breaks(text)
    maturities: list[Maturity] = []
    days = capped(dates(text))
    latest = max((day for day, _, _ in days), default=None)
    for day, start, end in days:
        setting = setting_of(text, start, end, breaks)
        after, after_label = weigh(_MATURITY_AFTER, setting.after)
        weak = 9.0 if _STARTS.search(setting.before) else 0.0
        options = _by_label(_MATURITY_LABEL, setting.label, min(after, 0.0) - weak)
        before, label = weigh(_MATURITY_BEFORE, setting.before[-260:])
        before -= 8.0 if setting.aside else 0.0
        options.append(
            (before + max(after, 0.0) if before < 0 else max(before, after) + min(after, 0.0), label or after_label)
        )
        score, label = _decide(options)
        if score < _THRESHOLD:
            continue
        score += 1.5 if day == latest else 0.0
        score = _placed(score, 0.5 * start, text)
        maturities.append(
            Maturity(label, setting.start, setting.end, start, end, score, day.isoformat(), computed=False)
        )
    for find in (_computed, _own, _counted, _listed):
        maturities.extend(find(text, breaks))
    return sorted(maturities, key=lambda m: (-m.score, m.value_start))


_FROM_DATE = re.compile(
    rf"\b(?P<number>\d{{1,3}}|{NUMBER_WORDS})(?:\s*\(\d{{1,3}}\))?[\s-]+(?P<unit>months?|years?)\s+(?:from|after|following|of)\s+(?:and\s+including\s+)?(?:the\s+)?(?=\w)",
    re.IGNORECASE,
)


def _computed(text: str, breaks: list[tuple[int, int]]) -> Iterator[Maturity]:
    """Terms counted from a stated date: "thirty-six months from 1 May 2024"."""
    for match in _FROM_DATE.finditer(text):
        from_date = _date_at(text, match.end())
        months = in_months(match["number"], match["unit"])
        if from_date is None or not months:
            continue
        setting = setting_of(text, match.start(), match.end(), breaks)
        near = _near(setting)
        if not re.search(r"repa|matur|\bdue\b|\bterm\b|final|\bend", near, re.IGNORECASE) or re.search(
            r"notice|prepay|grace", near, re.IGNORECASE
        ):
            continue
        day = add_months(from_date[0], months)
        label, end = "term from a date", from_date[1]
        yield Maturity(label, setting.start, setting.end, match.start(), end, 6.0, day.isoformat(), computed=True)


def _near(setting: Setting) -> str:
    """The label of a value and the words beside it."""
    return f"{setting.label} {setting.before[-160:]} {setting.after[:120]}"


_COUNTED = re.compile(
    rf"(?<![\w.,$€£/-])(?P<number>\d{{1,3}}|{NUMBER_WORDS})(?:\s*\((?:\d{{1,3}}|[a-z -]{{3,40}})\))?[ \n]+(?:(?:equal|equated|consecutive|successive|regular|level|fixed|uniform|constant|deferred|approximately|substantially|calendar|principal|capital)[ ,\n]+(?:and[ \n]+)?)*"
    rf"(?P<unit>monthly|month-end|quarterly|half-yearly|six-monthly|semi-?annual|yearly|annual|weekly|fortnightly|bi-?weekly)?[ \n]*(?:(?:equal|equated|consecutive|successive|principal|capital|level)[ ,\n]+)*(?P<noun>instal?l?ments?|payments?|amorti[sz]ations?|repayments?|deductions?|debits?|redemptions?|E[MQ]Is?|months\b(?=, (?:the )?first))\b"
    rf"(?:[^.;]{{0,40}}?\bat[ \n]+intervals[ \n]+of[ \n]+(?P<every>{NUMBER_WORDS}|\d{{1,2}})[ \n]+months)?",
    re.IGNORECASE,
)
_COUNT_ROW = re.compile(
    rf"\bnumber\s+of\s+(?P<unit>monthly|quarterly|annual|yearly|weekly)?\s*(?:payments|instal?l?ments|repayments)[ \t]*[:.|]*[ \t]*(?P<number>\d{{1,3}}|{NUMBER_WORDS})\b",
    re.IGNORECASE,
)
_DAY_NEXT = rf"(?=\d{{1,2}}(?:st|nd|rd|th)?\b|(?:19|20)\d\d|(?:{MONTH})\b|(?:{ORDINAL})\s)"
_FIRST_ON = re.compile(
    rf"\bfirst\b(?:(?!last|final|year|half|to vote)[^;\n]|\n(?!\s*\n)){{0,50}}?(?:\bon|\bin|\bis|:|,|\bdue|\bone)\s+(?:the\s+)?{_DAY_NEXT}|\b(?:beginning|commencing|starting|(?<!interest )from)\s+(?:on\s+|from\s+)?(?:the\s+)?{_DAY_NEXT}",
    re.IGNORECASE,
)
_FIRST_ROW = re.compile(
    r"\bfirst\s+(?:monthly\s+)?(?:payment|instal?l?ment|repayment|deduction|EMI)(?:\s+(?:date|due|is|on|falls|falling)){0,4}[ \t]*[:.|-]*\s{0,4}",
    re.IGNORECASE,
)
_RHYTHMS: tuple[tuple[str, int], ...] = (
    (r"\b(?:each|every|per|a|succeeding|following) (?:succeeding |calendar |following )?month\b|\bmonthly\b|\bof the month\b", 1),
    (r"\b(?:each|every|per) (?:calendar )?quarter\b|\bquarterly\b|\bevery three months\b", 3),
    (r"\b(?:each|every) (?:half[- ]year|six months)\b|\bhalf-yearly\b", 6),
    (r"\b(?:each|every) year\b|\byearly\b|\bannually\b", 12),
)  # fmt: skip
_EVERY = {"m": 1, "q": 3, "h": 6, "s": 6, "y": 12, "a": 12}
_MONTH_END = re.compile(
    r"\b(?:last (?:\w+ )?day of (?:each|every|the)|month[- ]end|end of (?:each|every))\b", re.IGNORECASE
)
_ONE_MORE = re.compile(r"\b(?:and|followed by|plus)\s+(?:a|one|1)\s+(?:last|final)\s+(?:\w+\s+)?(?:payment|instal?l?ment)", re.IGNORECASE)  # fmt: skip


def _counted(text: str, breaks: list[tuple[int, int]]) -> Iterator[Maturity]:
    """The last of a number of regular instalments, reckoned from the first: "36 monthly …, the first on 15 May 2026"."""
    rows = list(_dates_behind(_FIRST_ROW, text))
    for match in (*_COUNTED.finditer(text), *_COUNT_ROW.finditer(text)):
        number = _count_of(match["number"])
        blank = text.find("\n\n", match.end(), match.end() + 320)
        reach = blank if blank >= 0 else min(len(text), match.end() + 320)
        named_day = next(_dates_behind(_FIRST_ON, text, match.end(), reach), None)
        first_due = named_day or (rows[0] if len({day for day, _ in rows}) == 1 else None)
        setting = setting_of(text, match.start(), match.end(), breaks)
        wording = text[match.start() : reach]
        if first_due is None or not 2 <= number <= 480 or setting.aside or _balloons(wording):
            continue
        number += 1 if _ONE_MORE.search(wording) else 0
        last_due = _last_of(number, first_due[0], match.groupdict(), text[max(0, match.start() - 80) : reach])
        if last_due is None:
            continue
        start, end = match.start(), first_due[1]
        if end < start:
            end = match.end()
        label, passage_end = "number of instalments from the first", max(setting.end, end)
        yield Maturity(label, setting.start, passage_end, start, end, 5.0, last_due.isoformat(), computed=True)


def _dates_behind(
    pattern: re.Pattern[str], text: str, start: int = 0, end: int | None = None
) -> Iterator[tuple[date, int]]:
    """The dates that begin where a match of `pattern` in `[start, end)` ends, and where each ends."""
    for match in pattern.finditer(text, start, len(text) if end is None else end):
        if dated := _date_at(text, match.end()):
            yield dated


def _date_at(text: str, start: int) -> tuple[date, int] | None:
    """The date that begins at `start`, and where it ends."""
    mention = next(dates(text[start : start + 80]), None)
    return (mention[0], start + mention[2]) if mention and mention[1] == 0 else None


def _last_of(number: int, first: date, match: dict[str, str | None], near: str) -> date | None:
    """The day of the last of `number` instalments; None where their rhythm is not said."""
    unit = (match["unit"] or "").lower()
    if unit.startswith(("week", "fort", "bi")):
        return first + timedelta(days=(number - 1) * (7 if unit.startswith("week") else 14))
    every = _rhythm(match, near)
    if not every:
        return None
    last_day = add_months(first, every * (number - 1))
    ends = first.day == monthrange(first.year, first.month)[1] and _MONTH_END.search(near)
    return last_day.replace(day=monthrange(last_day.year, last_day.month)[1]) if ends else last_day


def _rhythm(match: dict[str, str | None], near: str) -> int:
    """Number of months between two instalments; 0 where it is not said, or weeks."""
    unit, every = (match["unit"] or "").lower(), match.get("every")
    if every:
        return _count_of(every)
    if unit:
        return 0 if unit.startswith(("week", "fort", "bi")) else _EVERY[unit[0]]
    if (match.get("noun") or "").lower().startswith(("emi", "month")):
        return 1
    return next((months for rhythm, months in _RHYTHMS if re.search(rhythm, near, re.IGNORECASE)), 0)


# Instalments that do not pay the loan off, or are another's.
_PARTIAL = re.compile(
    r"\b(?:interest[- ]only|interest alone|balloon|(?<!on )(?<!on the )(?:remaining|outstanding) balance(?! of)|(?:the|and) remainder on|and the (?:rest|remainder|balance)(?! (?:on|by) the \w+ (?:day )?of (?:each|every)| (?:each|every) month)|prepa\w+ in)\b",
    re.IGNORECASE,
)
_WHOLE_LAST = re.compile(r"\b(?:last|final|\w+th) (?:\w+ ){0,3}(?:whole|entire|all|full) (?:the )?(?:principal|capital|loan|balance)", re.IGNORECASE)  # fmt: skip


def _balloons(said: str) -> bool:
    return bool(_PARTIAL.search(said)) and not _WHOLE_LAST.search(said)


_OWN_DATE = re.compile(
    rf"\b(?P<number>\d{{1,3}}|{NUMBER_WORDS})(?:\s*\(\d{{1,3}}\))?[\s-]+(?P<unit>months?|years?)(?:\s+(?:counted|reckoned|calculated))?,?\s+(?:as\s+)?(?:from|after|following)\s+"
    rf"(?:(?:the\s+)?(?P<own>(?:said\s+)?date\s+(?:hereof|hereon|above|first\s+above|of\s+(?:this|the|its|signature|signing|execution|issue|conclusion)\b(?!\s+(?:first|last|initial|advance|draw|disburse|loan\s+being|closing|payment))|first)|signature|signing|execution|the\s+signing|conclusion|today|this\s+da(?:y|te)|now\b|hereof|such\s+date|that\s+date|issue)"
    rf"|(?:the\s+)?(?:said\s+)?(?:date\s+of\s+)?(?:the\s+)?(?P<paid>lending|advance|disbursement|drawdown|drawing|payout|payment\s+out|loan\s+date|closing))",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:dated?(?: of (?:this )?(?:agreement|note|loan|issue|contract|deed|making of agreement|offer))?|(?:(?:made|executed|signed|entered into|concluded|agreed|done|drawn up|issued|effective|given|granted) (?:and \w+ )?(?:(?:at|in) [\w' .-]{2,40}?,? ?)?(?:on|as of|this|as at|the)))\W{1,12}(?:as of |this |the |on )*(?=\w)",
    re.IGNORECASE,
)
_ON_PAYOUT = re.compile(
    r"\b(?:disburs\w+|drawn|draw(?:down|n)|paid out|pay(?:out|ment out)|advanced|lent|lending|loan date|closing|transferred)\b[^.;]{0,40}?\b(?:on|date|is|:)\W*(?:the\s+)?(?=\w)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4)
def _own_date(text: str) -> date | None:
    """The day a document is made: dated, signed, or a date that stands on a line with no more than a place."""
    if dated := next(_dates_behind(_DATED, text), None):
        return dated[0]
    for day, start, end in dates(text):
        line = text[text.rfind("\n", 0, start) + 1 : start].strip(" \t,|")
        following = text[end : (text.find("\n", end) + 1 or len(text))].strip(" \t\n.,|")
        if (
            not following
            and len(line) <= 40
            and ":" not in line
            and not re.search(r"\d|\b(?:due|by|until|to|from|payment)\b", line)
        ):
            return day
    return None


def _own(text: str, breaks: list[tuple[int, int]]) -> Iterator[Maturity]:
    """Terms counted from the day a document is made or its money paid: "four years from the date hereof"."""
    for match in _OWN_DATE.finditer(text):
        months = in_months(match["number"], match["unit"])
        setting = setting_of(text, match.start(), match.end(), breaks)
        near = _near(setting)
        if not months or setting.aside or not _ENDS.search(near) or _NO_END.search(near):
            continue
        day = _own_date(text) if match["own"] else _payout(text)
        if day is not None:
            label, end_day = "term from its own date", add_months(day, months).isoformat()
            yield Maturity(label, setting.start, setting.end, *match.span(), 5.5, end_day, computed=True)


def _payout(text: str) -> date | None:
    """The one day on which the money is said to be lent or paid out."""
    days = {day for day, _ in _dates_behind(_ON_PAYOUT, text)}
    return days.pop() if len(days) == 1 else None


_ENDS = re.compile(r"repa|matur|\bdue\b|\bterm\b|\btenor|\bperiod\b|duration|final|\bend|expir|\breturn|\bpa(?:y|id)\b|give back|redeem|indebtedness", re.IGNORECASE)  # fmt: skip
_NO_END = re.compile(r"notice|prepay|grace|\boption|renew|extend|extension|convert|warrant|interest[- ]only|lock", re.IGNORECASE)  # fmt: skip
_PAYS = re.compile(r"\b(?:re)?pa(?:y|ys|id|ying|yable|yments?|yment)\b|\binstal?l?ments?\b|\bschedule|\bdue\b|\bcollect|\breturn", re.IGNORECASE)  # fmt: skip
_PAYS_OUT = re.compile(r"\b(?:disburs\w+|tranches?|draw\w*|advances?|advanced|lends?|stages|interest only|rent|milestone|paid out)\b", re.IGNORECASE)  # fmt: skip


def _listed(text: str, breaks: list[tuple[int, int]]) -> Iterator[Maturity]:
    """The last of the days that a schedule lists, each with its amount, or one after the other in a sentence."""
    run: list[tuple[date, int, int]] = []
    for mention in [*capped(dates(text)), (date.min, len(text) + 500, len(text) + 500)]:
        if run and mention[0] > run[-1][0] and _goes_on(text[run[-1][2] : mention[1]]):
            run.append(mention)
            continue
        if len(run) >= 3 or (len(run) == 2 and "\n" in text[run[0][2] : run[1][1]]):
            before = text[max(0, run[0][1] - 260) : run[0][1]]
            if _PAYS.search(before) and not _PAYS_OUT.search(before[-110:]):
                day, start, end = run[-1]
                setting = setting_of(text, start, end, breaks)
                if not setting.aside:
                    label = "last day listed"
                    yield Maturity(label, setting.start, setting.end, start, end, 4.5, day.isoformat(), computed=False)
        run = [mention]


_CELL = re.compile(r"[ \t|.:…–-]*(?:\(?[^\n]{0,60})\n[ \t|•*#()\d.]{0,14}\Z")
_COMMA = re.compile(r"\s*(?:\([^)\n]{0,40}\))?\s*(?:[,;]|,? ?and|&)(?:[^.;\n]|\.(?=\d)|\n(?!\n)){0,40}\Z")


def _goes_on(between: str) -> bool:
    """Return True for words between two days: a table's cell with an amount, or a comma with perhaps an amount."""
    if len(between) > 110:
        return False
    return bool(_CELL.match(between) and any(c.isdigit() for c in between)) or bool(_COMMA.match(between))


# --- terms -----------------------------------------------------------------------------------------------------

_TERM_LABEL = cues(
    {
        r"\b(?:term|tenor|tenure|duration|loan period|repayment period|period of (?:the )?loan|length|life|number of (?:payments|instal?l?ments))\b": 10.0,
        r"\b(?:repayment|instal?l?ments?|payment schedule|payments?)\b": 6.0,
        r"\bnotice|\bgrace|\bfixed[- ]rate period|\bwarranty|\bfee|\bintroductory": -12.0,
    }
)
_TERM_BEFORE = cues(
    {
        r"\b(?:interest period|fiscal|consecutive|trailing|LIBOR|SOFR|Eurodollar|Euro-Dollar|excess|deficiency|Treasury|maturities)\b[^.;]{0,80}$": -9.0,
        r"\b(?:term|period|tenor|tenure|duration|life)\b[^.;]{0,30}\b(?:of|is|:|be|over)?\W*$": 7.0,
        r"\b(?:repa(?:y|id|yable|yment)|payable|amorti[sz]\w*|instal?l?ments?|loan|advance)\b[^.;]{0,60}\b(?:over|for|in|by|of)\W*(?:a (?:term|period) of\W*)?$": 6.0,
        r"\b(?:in|by|of|pay|makes?|over)\W*$": 2.0,
        r"\b(?:within|notice|grace|after|first|every|each|last|past|preceding|deferment|forbearance|up to|within the|prior|statement|warrant\w*|interest[- ]only|less than|more than|at least|exceed\w*|limitation|availability|intro\w*)\b[^.;]{0,30}$": -8.0,
    }
)
_TERM_AFTER = cues(
    {
        r"^[^.;]{0,60}\b(?:LIBOR|SOFR|Eurodollar|Euro-Dollar|interest period|EURIBOR|Treasury)\b": -7.0,
        r"^\W*(?:instal?l?ments?|payments?|repayments?)\b": 5.0,
        r"^\W*(?:term|loan|period|amorti)\b": 6.0,
        r"^\W*(?:of|from|after|following)\s+(?:and including\s+)?(?:the )?(?:date|drawdown|advance|disburse|closing|first|loan)": 2.0,
        r"^\W*(?:after|before|prior|notice|written|of default|days|late|past|of each|period ending|interest)\b": -6.0,
    }
)


def find_terms(document: Document) -> list[Term]:
    """Find the terms that `document` gives the loan, in months, best first; a number of monthly instalments counts."""
    text = document.text
    breaks = passage_breaks(text)
    terms: list[Term] = []
    for match in capped(DURATION.finditer(text)):
        instalments = match["unit"].lower() in ("monthly", "annual", "yearly", "quarterly")
        months = in_months(match["number"], match["unit"])
        if not 1 <= months <= 600:
            continue
        setting = setting_of(text, match.start(), match.end(), breaks)
        after, after_label = weigh(_TERM_AFTER, setting.after)
        if (
            instalments
            and not re.match(
                r"^\W*(?:\w+\s+){0,3}?(?:instal?l?ments?|payments?|repayments?|,)", setting.after, re.IGNORECASE
            )
            and not setting.label
        ):
            continue
        options = _by_label(_TERM_LABEL, setting.label, min(after, 0.0))
        before, label = weigh(_TERM_BEFORE, setting.before[-140:])
        score, label = _decide([*options, (before + after, label or after_label)])
        if score >= _THRESHOLD:
            score = _placed(score, match.start(), text)
            terms.append(Term(label, setting.start, setting.end, *match.span(), score, months))
    terms.extend(_counted_terms(text, breaks))
    return sorted(terms, key=lambda t: (-t.score, t.value_start))


def _counted_terms(text: str, breaks: list[tuple[int, int]]) -> Iterator[Term]:
    """Terms that a number of instalments, or of months from the document's own date, makes."""
    for match in (*_COUNTED.finditer(text), *_COUNT_ROW.finditer(text), *_OWN_DATE.finditer(text)):
        near = text[max(0, match.start() - 80) : match.end() + 240].split("\n\n", maxsplit=1)[0]
        if match.re is _OWN_DATE:
            score = 4.6
            months = in_months(match["number"], match["unit"]) if _ENDS.search(near) and not _NO_END.search(near) else 0
        else:
            score = 4.2
            number = _count_of(match["number"])
            months = 0 if number < 2 or _balloons(near) else number * _rhythm(match.groupdict(), near)
        setting = setting_of(text, match.start(), match.end(), breaks)
        if 2 <= months <= 600 and not setting.aside and not re.search(r"(?i)\bfirst\W*$", setting.before):
            score = _placed(score, match.start(), text)
            yield Term("number of instalments", setting.start, setting.end, *match.span(), score, months)
