"""Content of each section of a varied contract: paragraphs of sentences, a planted contradiction among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ovrag_core.loans.contracts.draft import Saying
from ovrag_core.loans.contracts.speaker import Speaker
from ovrag_core.loans.contracts.terms import Says

Part = str | Saying
_ORDERS = (
    "amount purpose interest repayment security special representations covenants default general",
    "purpose amount repayment interest security representations covenants special default general",
    "amount interest repayment default special purpose representations covenants security general",
    "amount repayment interest purpose special security default representations covenants general",
    "security amount interest repayment purpose special default representations covenants general",
    "amount interest security purpose repayment representations covenants default special general",
)
_ELSEWHERE: dict[Says, tuple[str, ...]] = {
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

    order: tuple[str, ...]
    sections: dict[str, list[list[Part]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, section: str, *parts: Part) -> None:
        """Append a paragraph to a section."""
        self.sections[section].append(list(parts))

    def add_each(self, section: str, texts: Iterable[str]) -> None:
        """Append a paragraph for each text."""
        self.sections[section] += [[text] for text in texts]


def compose_body(speaker: Speaker, *, said: Collection[Says]) -> Body:
    """All sections but parties and signatures. `said`: what title and cover sheet have already said."""
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
    body.add_each("special", speaker.several(f"special_{speaker.terms.kind}", speaker.random.randint(1, 3)))
    _covenants(body, speaker)
    body.add_each("default", speaker.several("default", speaker.random.randint(1, 3)))
    for section in speaker.register.extras:
        boilerplate = section == "boilerplate"
        number = speaker.random.choice((0, 6, 12, 25)) if boilerplate else speaker.random.randint(4, 8)
        body.add_each(section, speaker.several(section if boilerplate else section.removesuffix("s"), number))
    body.add("general", speaker.say("law"))
    body.add_each("general", speaker.several("general", speaker.random.randint(2, 8)))
    return body


def _repayment(body: Body, speaker: Speaker) -> None:
    terms = speaker.terms
    closed = not terms.open_end or terms.variant == "card_fixed_term"
    term = "term_none" if terms.months is None else "term_closed" if closed else "term_line"
    clauses = [speaker.say(terms.repayment), speaker.say(term)]
    if speaker.random.random() < 0.5:
        clauses.reverse()
    body.add_each("repayment", [*clauses, *speaker.several("prepay", speaker.random.randint(0, 1))])


def _purpose(body: Body, speaker: Speaker) -> None:
    terms = speaker.terms
    card = "card_" if terms.kind == "CardAccount" else ""
    use = f"{card}{terms.extra_use}" if terms.says_use else terms.use
    body.add("purpose", speaker.saying(terms.says_use, f"purpose_{use}"))
    if "trader" in speaker.tags and speaker.random.random() < 0.6:
        body.add("covenants", speaker.say("trader"))


def _security(body: Body, speaker: Speaker, said: Collection[Says]) -> None:
    terms, random = speaker.terms, speaker.random
    if terms.clash_type == "secured_unsecured":
        _place_both(body, speaker, said, terms.on_security, home="security")
    elif terms.pledge is None:
        body.add("security", _saying(speaker, "unsecured"))
    else:
        care = speaker.several("collateral_care", random.randint(0, 2))
        body.add("security", _saying(speaker, "secured"), *care)
    if terms.guarantor:
        body.add("security", speaker.say("guarantee"))


def _credit_form(body: Body, speaker: Speaker, said: Collection[Says]) -> None:
    terms, random = speaker.terms, speaker.random
    home = random.choice(("amount", "repayment"))
    if terms.clash_type == "openend_closedend":
        _place_both(body, speaker, said, terms.on_form[::-1], home=home)
    elif terms.open_end or random.random() < 0.75:
        body.add(home, _saying(speaker, terms.on_form[0]))


def _saying(speaker: Speaker, says: Says) -> Saying:
    pledge = speaker.terms.pledge
    secured = f"secured_{pledge.asset}" if pledge else "secured_claim"
    return speaker.saying(says, secured if says == "secured" else says)


def _place_both(body: Body, speaker: Speaker, said: Collection[Says], sides: Sequence[Says], *, home: str) -> None:
    """Put one side at home, the other among other ordinary provisions; what title or rows have said stays there."""
    at_home, away = sides
    if at_home in said or (away not in said and speaker.random.random() < 0.5):
        at_home, away = away, at_home
    body.add(home, _saying(speaker, at_home))
    if away not in said:
        choices = [section for section in _ELSEWHERE[away] if section != home]
        body.add(speaker.random.choice(choices), _saying(speaker, away))


def _covenants(body: Body, speaker: Speaker) -> None:
    random = speaker.random
    body.add_each("covenants", speaker.several("distractor", random.randint(1, 6)))
    if "lender_person" in speaker.tags and random.random() < 0.5:
        body.add("covenants", speaker.say("lender_person"))
    random.shuffle(body.sections["covenants"])
