"""Content of each section of a varied contract: paragraphs of sentences, a planted contradiction among them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ovrag_core.loans.contracts.draft import Saying
from ovrag_core.loans.contracts.speaker import Speaker
from ovrag_core.loans.contracts.terms import Says

SectionName = str
Part = str | Saying
_ORDERS = (
    "amount purpose interest repayment security special representations covenants default general",
    "purpose amount repayment interest security representations covenants special default general",
    "amount interest repayment default special purpose representations covenants security general",
    "amount repayment interest purpose special security default representations covenants general",
    "security amount interest repayment purpose special default representations covenants general",
    "amount interest security purpose repayment representations covenants default special general",
)
_ELSEWHERE: dict[Says, tuple[SectionName, ...]] = {
    "secured": ("amount", "purpose", "covenants", "repayment", "default"),
    "unsecured": ("amount", "purpose", "covenants", "interest", "general"),
    "no_collateral": ("covenants", "default", "general", "repayment"),
    "open_end": ("amount", "covenants", "purpose", "interest", "general"),
    "closed_end": ("amount", "covenants", "purpose", "interest", "general"),
}
"""Where the second passage of a contradiction may stand: among ordinary provisions, never in a special one."""


@dataclass
class Body:
    """Sections by name, each a list of paragraphs, each a list of sentences; and their order."""

    order: tuple[SectionName, ...]
    sections: dict[SectionName, list[list[Part]]] = field(default_factory=dict)

    def add(self, section: SectionName, *parts: Part) -> None:
        """Append a paragraph to a section."""
        self.sections.setdefault(section, []).append(list(parts))


def compose_body(speaker: Speaker, *, said: frozenset[Says]) -> Body:
    """All sections but parties and signatures. `said`: what a cover sheet has already said."""
    *order, closing = speaker.random.choice(_ORDERS).split()
    body = Body(order=("definitions", "conditions", *order, "boilerplate", closing))
    if speaker.random.random() < 0.4:
        body.add("amount", speaker.say("recital"))
    body.add("amount", speaker.say("amount_open" if speaker.terms.open_end else "amount_closed"))
    body.add("interest", speaker.say("rate_variable" if speaker.terms.rate.percent is None else "rate_fixed"))
    _repayment(body, speaker)
    _purpose(body, speaker)
    _security(body, speaker, said)
    _credit_form(body, speaker, said)
    for text in speaker.several(f"special_{speaker.terms.kind}", speaker.random.randint(1, 3)):
        body.add("special", text)
    _covenants(body, speaker)
    for text in speaker.several("default", speaker.random.randint(1, 3)):
        body.add("default", text)
    for section in speaker.register.extras:
        boilerplate = section == "boilerplate"
        number = speaker.random.choice((0, 6, 12, 25)) if boilerplate else speaker.random.randint(4, 8)
        for text in speaker.several(section if boilerplate else section.removesuffix("s"), number):
            body.add(section, text)
    body.add("general", speaker.say("law"))
    for text in speaker.several("general", speaker.random.randint(2, 8)):
        body.add("general", text)
    return body


def _repayment(body: Body, speaker: Speaker) -> None:
    terms = speaker.terms
    closed = not terms.open_end or terms.variant == "card_fixed_term"
    term = "term_none" if terms.months is None else "term_closed" if closed else "term_line"
    clauses = [speaker.say(terms.repayment), speaker.say(term)]
    if speaker.random.random() < 0.5:
        clauses.reverse()
    for clause in clauses:
        body.add("repayment", clause)
    for text in speaker.several("prepay", speaker.random.randint(0, 1)):
        body.add("repayment", text)


def _purpose(body: Body, speaker: Speaker) -> None:
    terms = speaker.terms
    card = "card_" if terms.kind == "CardAccount" else ""
    if terms.extra_use == "personal":
        body.add("purpose", speaker.saying("consumer", f"purpose_{card}personal"))
    elif terms.extra_use == "business":
        body.add("purpose", speaker.saying("commercial", f"purpose_{card}business"))
    else:
        body.add("purpose", speaker.say(f"purpose_{terms.use}"))
    if "trader" in speaker.tags and speaker.random.random() < 0.6:
        body.add("covenants", speaker.say("trader"))


def _security(body: Body, speaker: Speaker, said: frozenset[Says]) -> None:
    terms, random = speaker.terms, speaker.random
    if terms.clash_type == "secured_unsecured":
        secured = "secured_claim" if terms.pledge is None else f"secured_{terms.pledge.asset}"
        denied: Says = "no_collateral" if terms.pledge is None else "unsecured"
        _place_both(body, speaker, said, (("secured", secured), (denied, denied)), home="security")
    elif terms.pledge is None:
        body.add("security", speaker.saying("unsecured", "unsecured"))
    else:
        care = speaker.several("collateral_care", random.randint(0, 2))
        body.add("security", speaker.saying("secured", f"secured_{terms.pledge.asset}"), *care)
    if terms.guarantor:
        body.add("security", speaker.say("guarantee"))


def _credit_form(body: Body, speaker: Speaker, said: frozenset[Says]) -> None:
    terms, random = speaker.terms, speaker.random
    home = random.choice(("amount", "repayment"))
    if terms.clash_type == "openend_closedend":
        _place_both(body, speaker, said, (("closed_end", "closed"), ("open_end", "open")), home=home)
    elif terms.open_end:
        body.add(home, speaker.saying("open_end", "open"))
    elif random.random() < 0.75:
        body.add(home, speaker.saying("closed_end", "closed"))


def _place_both(
    body: Body,
    speaker: Speaker,
    said: frozenset[Says],
    sides: tuple[tuple[Says, str], tuple[Says, str]],
    *,
    home: SectionName,
) -> None:
    """Put one side at home, the other among other ordinary provisions; what title or rows have said stays there."""
    ordered = list(sides)
    if ordered[0][0] in said or (ordered[1][0] not in said and speaker.random.random() < 0.5):
        ordered.reverse()
    at_home, away = ordered
    body.add(home, speaker.saying(*at_home))
    if away[0] not in said:
        choices = [section for section in _ELSEWHERE[away[0]] if section != home]
        body.add(speaker.random.choice(choices), speaker.saying(*away))


def _covenants(body: Body, speaker: Speaker) -> None:
    random = speaker.random
    for text in speaker.several("distractor", random.randint(1, 6)):
        body.add("covenants", text)
    if "lender_person" in speaker.tags and random.random() < 0.5:
        body.add("covenants", speaker.say("lender_person"))
    paragraphs = body.sections.get("covenants", [])
    random.shuffle(paragraphs)
