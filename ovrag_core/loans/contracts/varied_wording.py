"""The varied wording: a register, a layout and an order of sections drawn for each contract, and each clause anew."""

from __future__ import annotations

from random import Random

from ovrag_core.loans.contracts.contract_sections import Body, Part, compose_body
from ovrag_core.loans.contracts.draft import Draft, PageLook, Saying
from ovrag_core.loans.contracts.registers import Flow, Numbering, choose_register, registers
from ovrag_core.loans.contracts.speaker import Speaker, capitals
from ovrag_core.loans.contracts.terms import PLANTED, LoanTerms, Says, Side, tags_of
from ovrag_core.text import add_months


def write_varied(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the varied wording, drawn from `random`."""
    register = choose_register(random, tags_of(terms))
    speaker = Speaker(terms, register, random)
    draft = Draft(look=_look(speaker), collateral=speaker.pledge)
    title, covered = _title(speaker)
    if register.form != "letter" and random.random() < 0.1:
        draft.add("note", random.choice(_MARKS))
    rows_start = len(draft.blocks) + 1  # after the title
    covered |= _opening(draft, speaker, title, covered)
    rows_end = len(draft.blocks)
    _sections(draft, speaker, compose_body(speaker, said=covered))
    if register.form == "schedule" and random.random() < 0.4:
        moved = draft.blocks[rows_start:rows_end]
        draft.blocks[rows_start:rows_end] = []
        draft.add("heading", "SCHEDULE")
        draft.blocks += moved
    _annex(draft, speaker)
    _closing(draft, speaker)
    return draft


_ANNEXED_PAYMENTS = 36


def _annex(draft: Draft, speaker: Speaker) -> None:
    """Now and then a table of the payments, the first ones only where there are many."""
    terms = speaker.terms
    if terms.repayment != "instalments" or terms.months is None or speaker.random.random() > 0.12:
        return
    draft.add("heading", speaker.random.choice(("Annex: Payments", "ANNEX A - PAYMENT PLAN", "Repayment table")))
    for number in range(min(terms.months, _ANNEXED_PAYMENTS)):
        draft.cell(speaker.date(add_months(terms.first_payment, number)), speaker.values["payment"])
    if terms.months > _ANNEXED_PAYMENTS:
        draft.add("text", f"and so on, {terms.months} payments in all.")


_MARKS = ("CONFIDENTIAL", "Execution copy", "Copy no. 2 of 3", "Original", "Please keep with your papers")


def _title(speaker: Speaker) -> tuple[Part, frozenset[Says]]:
    """A title, which now and then says what the loan is; of a contradiction at most one side."""
    terms, register, random = speaker.terms, speaker.register, speaker.random
    chance = random.random()
    if chance < 0.15 and register.form != "letter" and (sides := _titled_sides(terms)):
        says = random.choice(sides)
        return speaker.saying(says, f"title_{says}", "parties"), frozenset([says])
    if chance > 0.75:
        return speaker.say("title", "parties"), frozenset()
    return random.choice(register.open_titles if terms.open_end else register.titles), frozenset()


def _titled_sides(terms: LoanTerms) -> list[Says]:
    """The sides of a contradiction that a title may take; not the grant of a collateral, which a title cannot name."""
    if terms.variant is None:
        return []
    titled = ("unsecured", "open_end", "closed_end", *(() if terms.pledge else ("secured",)))
    return [says for says in PLANTED[terms.variant].passages if says in titled]


def _look(speaker: Speaker) -> PageLook:
    random = speaker.random
    return PageLook(
        font=speaker.register.font if random.random() < 0.7 else random.choice(("serif", "sans")),
        size=random.choice((9, 9.5, 10, 10.5, 11, 12)),
        paper="letter" if speaker.terms.place.american else "a4",
        footer=random.choice(("none", "page", "page_of", "reference")),
    )


def _opening(draft: Draft, speaker: Speaker, title: Part, said: frozenset[Says]) -> frozenset[Says]:
    """Title and parties as the form has them; returns what rows have said about security and credit form."""
    form = speaker.register.form
    if form == "letter":
        _letterhead(draft, speaker, title)
    elif form in ("note", "first"):
        _note_head(draft, speaker, title)
    elif form == "memo":
        _memo_head(draft, speaker, title)
    elif form == "boxes":
        draft.add("title", title)
        _you_parties(draft, speaker)
        return _boxes(draft, speaker, said)
    elif form in ("cover", "schedule"):
        draft.add("title", title)
        return _cover(draft, speaker, said)
    else:
        draft.add("title", title)
        if form == "you":
            _you_parties(draft, speaker)
        else:
            _agreement_parties(draft, speaker)
    return frozenset()


def _letterhead(draft: Draft, speaker: Speaker, title: Part) -> None:
    terms = speaker.terms
    draft.add("text", Saying("lender", speaker.values["lender_intro"]))
    draft.add("text", speaker.date(terms.signed))
    draft.add("text", Saying("borrower", f"To: {speaker.values['borrower_intro']}"))
    draft.add("text", f"Our reference: {terms.reference}" if speaker.random.random() < 0.6 else "")
    draft.add("text", f"Dear {terms.borrower.name}," if terms.borrower.is_person else "Dear Sir or Madam,")
    draft.add("heading", title)
    draft.add("text", speaker.say("letter", "parties"))


def _memo_head(draft: Draft, speaker: Speaker, title: Part) -> None:
    values = speaker.values
    lending, borrowing = speaker.random.choice((("From", "To"), ("Lending side", "Borrowing side"), ("Between", "and")))
    draft.row(lending, Saying("lender", f"{values['lender_intro']} ({values['L_quoted']})"))
    draft.row(borrowing, Saying("borrower", f"{values['borrower_intro']} ({values['B_quoted']})"))
    draft.row("Date", values["signed"])
    draft.add("heading", title)


def _note_head(draft: Draft, speaker: Speaker, title: Part) -> None:
    terms, values = speaker.terms, speaker.values
    draft.add("title", title)
    if speaker.register.form == "note":
        draft.add("text", f"{speaker.small_amount(terms.principal)}    {values['city']}, {values['signed']}")
    clause = "first" if speaker.register.form == "first" else "note_undersigned" if speaker.named_last else "note"
    draft.add("text", speaker.say(clause, "parties"))
    draft.passages["borrower"] = values["borrower_intro"]
    draft.passages["lender"] = values["lender_intro"]


def _agreement_parties(draft: Draft, speaker: Speaker) -> None:
    values = speaker.values
    draft.add("text", speaker.say("agreement", "parties"))
    lender = f"{values['lender_intro']} ({values['L_quoted']})"
    borrower = f"{values['borrower_intro']} ({values['B_quoted']})"
    sides: list[tuple[Says, str]] = [("lender", lender), ("borrower", borrower)]
    if speaker.random.random() < 0.4:
        sides.reverse()
    marks = speaker.random.choice((("(1)", "(2)"), ("", "and"), ("between", "and"), ("1.", "2."), ("(a)", "(b)")))
    for mark, (says, text) in zip(marks, sides, strict=True):
        draft.add("text", mark, Saying(says, text))


_YOU_LABELS = (
    ("We", "You"),
    ("Lender (“we”, “us”)", "Borrower (“you”)"),
    ("The lender, called we", "The customer, called you"),
    ("Our name", "Your name"),
)


def _you_parties(draft: Draft, speaker: Speaker) -> None:
    values = speaker.values
    labels = speaker.random.choice(_YOU_LABELS)
    style = speaker.random.choice(("row", "cell", "row"))
    _line(draft, style, labels[0], values["lender_intro"], "lender")
    _line(draft, style, labels[1], values["borrower_intro"], "borrower")
    draft.add("text", f"Date: {values['signed']}")


def _line(draft: Draft, style: str, label: str, value: str, says: Says | None = None) -> None:
    if style == "cell":
        draft.cell(label, value, says)
    else:
        draft.row(label, Saying(says, value) if says else value)


def _cover(draft: Draft, speaker: Speaker, said: frozenset[Says]) -> frozenset[Says]:
    terms, random = speaker.terms, speaker.random
    style = "row" if speaker.register.form == "schedule" and random.random() < 0.6 else "cell"
    clauses: list[tuple[str, Says | None]] = [("lender", "lender"), ("borrower", "borrower")]
    if random.random() < 0.4:
        clauses.reverse()
    clauses.append(("amount_open" if terms.open_end else "amount_closed", None))
    clauses.append(("rate_variable" if terms.rate.percent is None else "rate_fixed", None))
    clauses += [("term", None), ("maturity", None)] if terms.months else [("term_none", None)]
    if terms.repayment == "instalments" and random.random() < 0.6:
        clauses.append(("payment", None))
    clauses += _optional_rows(speaker, said)
    for extra in ("reference", "signed", "law"):
        if random.random() < 0.5:
            clauses.insert(random.randint(0, len(clauses)), (extra, None))
    for number, (clause, says) in enumerate(clauses, start=1):
        label, value = speaker.row(clause)
        item = f"Item {number}: {label}" if speaker.register.form == "schedule" and style == "row" else label
        _line(draft, style, item, value, says)
    return frozenset(says for _, says in clauses if says)


def _boxes(draft: Draft, speaker: Speaker, said: frozenset[Says]) -> frozenset[Says]:
    """The boxes that American law prescribes; their yearly rate holds the costs and is not the contract's rate."""
    security, says = speaker.random.choice(_security_rows(speaker.terms))
    boxes = ["apr", "charge", "financed", "total", "schedule", security, "late", "prepay"]
    if said:
        boxes.remove(security)
    for box in boxes:
        label, value = speaker.row(f"box_{box}")
        draft.cell(label, value, says if box == security else None)
    return frozenset([says] if says and not said else [])


_PURPOSE_ROWS: dict[str, tuple[str, Says]] = {
    "personal": ("purpose_personal", "consumer"),
    "business": ("purpose_business", "commercial"),
}


def _optional_rows(speaker: Speaker, said: frozenset[Says]) -> list[tuple[str, Says | None]]:
    """Rows on purpose, security and credit form; of a contradiction at most one side, the title's included."""
    terms, random = speaker.terms, speaker.random
    rows: list[tuple[str, Says | None]] = []
    if random.random() < 0.6:
        rows.append(_PURPOSE_ROWS.get(terms.extra_use or "", ("purpose", None)))
    if not said and random.random() < 0.6:
        rows.append(random.choice(_security_rows(terms)))
    if not said and random.random() < 0.5:
        rows.append(random.choice(_form_rows(terms)))
    return rows


def _security_rows(terms: LoanTerms) -> list[tuple[str, Says | None]]:
    if terms.variant == "secured_without_collateral":
        return [("secured_claim", "secured"), ("no_collateral", "no_collateral")]
    rows: list[tuple[str, Says | None]] = [("secured", "secured")] if terms.called_secured else []
    return [*rows, ("unsecured", "unsecured")] if terms.called_unsecured else rows


def _form_rows(terms: LoanTerms) -> list[tuple[str, Says | None]]:
    both = terms.clash_type == "openend_closedend"
    rows: list[tuple[str, Says | None]] = [("open", "open_end")] if terms.open_end or both else []
    return rows if terms.open_end and not both else [*rows, ("closed", "closed_end")]


def _sections(draft: Draft, speaker: Speaker, body: Body) -> None:
    random, register = speaker.random, speaker.register
    numbering, flow = random.choice(register.numbering), random.choice(register.flow)
    number = 0
    for section in body.order:
        paragraphs = body.sections.get(section, [])
        if paragraphs:
            number += 1
            heading = random.choice(_headings(speaker, section))
            _section(draft, number, heading, paragraphs, numbering, flow)


def _headings(speaker: Speaker, section: str) -> tuple[str, ...]:
    sets = registers().headings
    if speaker.terms.open_end and section in sets["open"] and speaker.register.headings == "formal":
        return sets["open"][section]
    return sets[speaker.register.headings][section]


def _section(
    draft: Draft, number: int, heading: str, paragraphs: list[list[Part]], numbering: Numbering, flow: Flow
) -> None:
    if flow == "joined":
        paragraphs = [[saying for paragraph in paragraphs for saying in paragraph]]
    if numbering == "run_in":
        opening, *following = paragraphs
        paragraphs = [[f"{heading}.", *opening], *following]
    elif numbering == "ordinal_words":
        opening, *following = paragraphs
        paragraphs = [[f"{_ORDINALS[number - 1]}:", *opening], *following]
    else:
        draft.add("heading", _heading(number, heading, numbering))
    for position, sayings in enumerate(paragraphs, start=1):
        draft.add("text", _mark(number, position, len(paragraphs), numbering), *sayings)


_ORDINALS = ("FIRST", "SECOND", "THIRD", "FOURTH", "FIFTH", "SIXTH", "SEVENTH", "EIGHTH", "NINTH", "TENTH")


def _heading(number: int, heading: str, numbering: Numbering) -> str:
    return {
        "article": f"ARTICLE {number}. {heading.upper()}",
        "decimal": f"{number}. {heading}",
        "plain_decimal": f"{number}. {heading.upper()}",
        "section": f"Section {number}. {heading}",
        "section_sign": f"§ {number} {heading}",
        "letters": f"{chr(64 + number)}. {heading}",
        "caps": heading.upper(),
    }.get(numbering, heading)


def _mark(number: int, position: int, count: int, numbering: Numbering) -> str:
    if count == 1 or numbering in ("none", "run_in", "caps", "plain_decimal", "ordinal_words"):
        return ""
    return {
        "article": f"{number}.{position:02d}",
        "decimal": f"{number}.{position}",
        "section": f"({chr(96 + position)})",
        "section_sign": f"({position})",
        "letters": f"{position}.",
    }.get(numbering, "")


def _closing(draft: Draft, speaker: Speaker) -> None:
    random, terms, form = speaker.random, speaker.terms, speaker.register.form
    if form == "letter":
        draft.add("text", speaker.say("letter_end", "parties"))
        draft.add("text", "Yours faithfully," if not terms.borrower.is_person else "Yours sincerely,")
        _sign(draft, terms.lender, "")
        pronoun = "I" if terms.borrower.is_person else "We"
        draft.add("text", random.choice(("Accepted:", f"{pronoun} accept the offer above.", "Agreed and accepted")))
        _sign(draft, terms.borrower, "")
        return
    if form in ("note", "first"):
        if speaker.named_last:
            draft.add("signature", speaker.values["borrower_intro"])
        else:
            _sign(draft, capitals(terms.borrower), speaker.borrower_term)
        return
    if random.random() < 0.7:
        draft.add("heading", random.choice(_headings(speaker, "signatures")))
    else:
        draft.add("text", speaker.say("signing", "parties"))
    sides = [(terms.lender, speaker.lender_term), (terms.borrower, speaker.borrower_term)]
    random.shuffle(sides)
    shout = random.random() < 0.4
    for side, term in sides:
        role = {"we": "Lender", "you": "Borrower"}.get(term, term)
        _sign(draft, capitals(side) if shout else side, role)


def _sign(draft: Draft, side: Side, role: str) -> None:
    draft.add("signature", side.name + (f" ({role})" if role else ""))
    if side.signatory:
        draft.add("text", f"By: {side.signatory}, {side.office}")
