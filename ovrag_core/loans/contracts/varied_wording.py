"""The varied wording: a register, a layout and an order of sections drawn for each contract, and each clause anew."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from ovrag_core.loans.contracts.contract_sections import Body, Part, compose_body
from ovrag_core.loans.contracts.draft import Draft, LineStyle, Saying, sign
from ovrag_core.loans.contracts.lists import lists
from ovrag_core.loans.contracts.phrasings import fits
from ovrag_core.loans.contracts.speaker import Speaker, capitals
from ovrag_core.loans.contracts.terms import PLANTED, LoanTerms, Says, tags_of
from ovrag_core.text import ORDINALS, add_months


def write_varied(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the varied wording, drawn from `random`."""
    tags = tags_of(terms)
    fitting = [register for register in lists().registers if fits(register.fits, tags)]
    (register,) = random.choices(fitting, weights=[register.weight for register in fitting])
    speaker = Speaker(terms, register, random)
    draft = Draft(
        speaker.pledge,
        font=register.font if random.random() < 0.7 else random.choice(("serif", "sans")),
        size=random.choice((9, 9.5, 10, 10.5, 11, 12)),
        paper="letter" if terms.place.american else "a4",
        footer=random.choice(("none", "page", "page_of", "reference")),
    )
    title = _title(speaker)
    if register.form != "letter" and random.random() < 0.1:
        draft.add("note", random.choice(_MARKS))
    rows_start = len(draft.blocks) + 1  # after the title
    _opening(draft, speaker, title)
    rows = draft.blocks[rows_start:]
    _sections(draft, speaker, compose_body(speaker, said=draft.passages.keys()))
    if register.form == "schedule" and random.random() < 0.4:
        del draft.blocks[rows_start : rows_start + len(rows)]
        draft.add("heading", "SCHEDULE")
        draft.blocks += rows
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
        draft.row(speaker.date(add_months(terms.first_payment, number)), speaker.values["payment"], "cell")
    if terms.months > _ANNEXED_PAYMENTS:
        draft.add("text", f"and so on, {terms.months} payments in all.")


_MARKS = ("CONFIDENTIAL", "Execution copy", "Copy no. 2 of 3", "Original", "Please keep with your papers")


def _title(speaker: Speaker) -> Part:
    """A title, which now and then says what the loan is; of a contradiction at most one side.

    It does not take the side that grants a collateral, which a title cannot name.
    """
    terms, register, random = speaker.terms, speaker.register, speaker.random
    chance = random.random()
    if chance < 0.15 and register.form != "letter" and terms.variant:
        titled = {"unsecured", "open_end", "closed_end"} | (set() if terms.pledge else {"secured"})
        if sides := [says for says in PLANTED[terms.variant].passages if says in titled]:
            says = random.choice(sides)
            return speaker.saying(says, f"title_{says}", "parties")
    if chance > 0.75:
        return speaker.say("title", "parties")
    return random.choice(register.open_titles if terms.open_end else register.titles)


def _opening(draft: Draft, speaker: Speaker, title: Part) -> None:
    """Title and parties as the form has them, and rows, which may state security and credit form."""
    form = speaker.register.form
    if form not in ("letter", "memo"):
        draft.add("title", title)
    titled = bool(draft.passages)
    if form == "letter":
        _letterhead(draft, speaker, title)
    elif form == "memo":
        _memo_head(draft, speaker, title)
    elif form in ("note", "first"):
        _note_head(draft, speaker)
    elif form in ("cover", "schedule"):
        _cover(draft, speaker, titled=titled)
    elif form == "agreement":
        _agreement_parties(draft, speaker)
    else:
        _you_parties(draft, speaker)
        if form == "boxes":
            _boxes(draft, speaker, titled=titled)


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


def _note_head(draft: Draft, speaker: Speaker) -> None:
    terms, values = speaker.terms, speaker.values
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
    lender, borrower = speaker.random.choice(_YOU_LABELS)
    style: LineStyle = speaker.random.choice(("row", "cell", "row"))
    draft.row(lender, Saying("lender", values["lender_intro"]), style)
    draft.row(borrower, Saying("borrower", values["borrower_intro"]), style)
    draft.add("text", f"Date: {values['signed']}")


def _cover(draft: Draft, speaker: Speaker, *, titled: bool) -> None:
    terms, random = speaker.terms, speaker.random
    style: LineStyle = "row" if speaker.register.form == "schedule" and random.random() < 0.6 else "cell"
    clauses: list[tuple[str, Says | None]] = [("lender", "lender"), ("borrower", "borrower")]
    if random.random() < 0.4:
        clauses.reverse()
    clauses.append(("amount_open" if terms.open_end else "amount_closed", None))
    clauses.append(("rate_variable" if terms.rate.percent is None else "rate_fixed", None))
    clauses += [("term", None), ("maturity", None)] if terms.months else [("term_none", None)]
    if terms.repayment == "instalments" and random.random() < 0.6:
        clauses.append(("payment", None))
    clauses += _optional_rows(speaker, titled=titled)
    for extra in ("reference", "signed", "law"):
        if random.random() < 0.5:
            clauses.insert(random.randint(0, len(clauses)), (extra, None))
    for number, (clause, says) in enumerate(clauses, start=1):
        label, value = speaker.row(clause)
        item = f"Item {number}: {label}" if speaker.register.form == "schedule" and style == "row" else label
        draft.row(item, Saying(says, value), style)


def _optional_rows(speaker: Speaker, *, titled: bool) -> Iterator[tuple[str, Says | None]]:
    """Rows on purpose, security and credit form; of a contradiction at most one side, the title's included."""
    terms, random = speaker.terms, speaker.random
    if random.random() < 0.6:
        yield f"purpose_{terms.extra_use}" if terms.says_use else "purpose", terms.says_use
    if not titled and random.random() < 0.6:
        yield _security_row(speaker)
    if not titled and random.random() < 0.5:
        says = random.choice(terms.on_form)
        yield says, says


def _boxes(draft: Draft, speaker: Speaker, *, titled: bool) -> None:
    """The boxes that American law prescribes; their yearly rate holds the costs and is not the contract's rate."""
    security, says = _security_row(speaker)
    for box in ("apr", "charge", "financed", "total", "schedule", security, "late", "prepay"):
        if box != security or not titled:
            label, value = speaker.row(f"box_{box}")
            draft.row(label, Saying(says if box == security else None, value), "cell")


def _security_row(speaker: Speaker) -> tuple[str, Says]:
    """A row on security, and what it says."""
    says = speaker.random.choice(speaker.terms.on_security)
    return "secured_claim" if says == "secured" and speaker.terms.pledge is None else says, says


def _sections(draft: Draft, speaker: Speaker, body: Body) -> None:
    random, register = speaker.random, speaker.register
    numbering, flow = random.choice(register.numbering), random.choice(register.flow)
    used = [section for section in body.order if body.sections.get(section)]
    for number, section in enumerate(used, start=1):
        paragraphs = body.sections[section]
        if flow == "joined":
            paragraphs = [[saying for paragraph in paragraphs for saying in paragraph]]
        _section(draft, number, _heading(speaker, section), paragraphs, numbering)


def _heading(speaker: Speaker, section: str) -> str:
    sets, register = lists().headings, speaker.register
    formal = "open" if speaker.terms.open_end and section in sets["open"] else "formal"
    return speaker.random.choice(sets[formal if register.headings == "formal" else register.headings][section])


def _section(draft: Draft, number: int, heading: str, paragraphs: list[list[Part]], numbering: str) -> None:
    way = lists().numberings[numbering]
    ordinal = ORDINALS[number - 1].upper()
    letter = chr(ord("A") + number - 1)
    text = way.heading.format(number=number, heading=heading, capitals=heading.upper(), letter=letter, ordinal=ordinal)
    if way.within:
        paragraphs = [[text, *paragraphs[0]], *paragraphs[1:]]
    else:
        draft.add("heading", text)
    mark = way.mark if len(paragraphs) > 1 else ""
    for position, sayings in enumerate(paragraphs, start=1):
        letter = chr(ord("a") + position - 1)
        draft.add("text", mark.format(number=number, position=position, letter=letter), *sayings)


def _closing(draft: Draft, speaker: Speaker) -> None:
    random, terms, form = speaker.random, speaker.terms, speaker.register.form
    if form == "letter":
        draft.add("text", speaker.say("letter_end", "parties"))
        draft.add("text", "Yours faithfully," if not terms.borrower.is_person else "Yours sincerely,")
        sign(draft, terms.lender)
        pronoun = "I" if terms.borrower.is_person else "We"
        draft.add("text", random.choice(("Accepted:", f"{pronoun} accept the offer above.", "Agreed and accepted")))
        sign(draft, terms.borrower)
        return
    if form in ("note", "first"):
        if speaker.named_last:
            draft.add("signature", speaker.values["borrower_intro"])
        else:
            sign(draft, capitals(terms.borrower), speaker.borrower_term)
        return
    if random.random() < 0.7:
        draft.add("heading", _heading(speaker, "signatures"))
    else:
        draft.add("text", speaker.say("signing", "parties"))
    sides = [(terms.lender, speaker.lender_term), (terms.borrower, speaker.borrower_term)]
    random.shuffle(sides)
    shout = random.random() < 0.4
    for side, term in sides:
        role = {"we": "Lender", "you": "Borrower"}.get(term, term)
        sign(draft, capitals(side) if shout else side, role)
