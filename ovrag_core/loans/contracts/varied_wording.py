"""The varied wording: a register, a layout and an order of sections drawn for each contract, and each clause anew."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from random import Random

from ovrag_core.loans.contracts.draft import Draft, LineStyle
from ovrag_core.loans.contracts.lists import fits, lists
from ovrag_core.loans.contracts.speaker import Speaker, capitals
from ovrag_core.loans.contracts.terms import PLANTED, LoanTerms
from ovrag_core.loans.contracts.written_figures import day, money
from ovrag_core.text import ORDINALS, add_months

_ANNEXED_PAYMENTS = 36
Body = dict[str, list[str]]  # paragraphs by section


def write_varied(terms: LoanTerms, random: Random) -> Draft:
    """The contract in the varied wording, drawn from `random`."""
    fitting = [register for register in lists()["registers"] if fits(register["fits"], terms.tags)]
    (register,) = random.choices(fitting, weights=[register["weight"] for register in fitting])
    speaker = Speaker(terms, register, random)
    draft = speaker.draft
    title = _title(speaker)
    if register["form"] != "letter" and random.random() < 0.1:
        draft.add("note", random.choice(lists()["labels"]["marks"]))
    rows_start = len(draft.blocks) + 1  # after the title
    _open(speaker, title)
    rows = draft.blocks[rows_start:]
    _add_sections(speaker)
    if register["form"] == "schedule" and random.random() < 0.4:
        del draft.blocks[rows_start : rows_start + len(rows)]
        draft.add("heading", "SCHEDULE")
        draft.blocks += rows
    if terms.repayment == "instalments" and terms.months and random.random() <= 0.12:
        _annex(speaker, terms.months)
    _close(speaker)
    return draft


def _annex(speaker: Speaker, months: int) -> None:
    """A table of the payments, the first ones only where there are many."""
    draft = speaker.draft
    draft.add("heading", speaker.random.choice(lists()["labels"]["annexes"]))
    for number in range(1, min(months, _ANNEXED_PAYMENTS) + 1):
        due = add_months(speaker.terms.signed, number)
        draft.row(day(due, speaker.styles.day), speaker.values["payment"], "cell")
    if months > _ANNEXED_PAYMENTS:
        draft.add("text", f"and so on, {months} payments in all.")


def _title(speaker: Speaker) -> str:
    """A title, which now and then says what the loan is; of a contradiction at most one side.

    It does not take the side that grants a collateral, which a title cannot name.
    """
    terms, register, random = speaker.terms, speaker.register, speaker.random
    chance = random.random()
    if chance < 0.15 and register["form"] != "letter" and terms.variant:
        titled = {"unsecured", "open_end", "closed_end"} | (set() if terms.pledge else {"secured"})
        if sides := [says for says in PLANTED[terms.variant].passages if says in titled]:
            says = random.choice(sides)
            return speaker.say(f"title_{says}", "parties")
    if chance > 0.75:
        return speaker.say("title", "parties")
    title: str = random.choice(register["open_titles" if terms.open_end else "titles"])
    return title


def _open(speaker: Speaker, title: str) -> None:
    """Title and parties as the form has them, and rows, which may state security and credit form."""
    draft, terms, values, random = speaker.draft, speaker.terms, speaker.values, speaker.random
    form = speaker.register["form"]
    if form not in ("letter", "memo"):
        draft.add("title", title)
    titled = bool(draft.passages)
    lender, borrower = values["lender_intro"], values["borrower_intro"]
    lender_named, borrower_named = f"{lender} ({values['L_quoted']})", f"{borrower} ({values['B_quoted']})"
    match form:
        case "letter":
            draft.add("text", draft.saying("lender", lender))
            draft.add("text", values["signed"])
            draft.add("text", draft.saying("borrower", f"To: {borrower}"))
            draft.add("text", f"Our reference: {terms.reference}" if random.random() < 0.6 else "")
            draft.add("text", f"Dear {terms.borrower.name}," if terms.borrower.is_person else "Dear Sir or Madam,")
            draft.add("heading", title)
            draft.add("text", speaker.say("letter", "parties"))
        case "memo":
            lending, borrowing = random.choice(lists()["labels"]["memo"])
            draft.row(lending, lender_named, says="lender")
            draft.row(borrowing, borrower_named, says="borrower")
            draft.row("Date", values["signed"])
            draft.add("heading", title)
        case "note" | "first":
            if form == "note":
                amount = money(terms.principal, terms.place["currency"], speaker.styles.small_money)
                draft.add("text", f"{amount}    {values['city']}, {values['signed']}")
            draft.add("text", speaker.say("note_undersigned" if speaker.named_last else form, "parties"))
            draft.passages |= {"borrower": borrower, "lender": lender}
        case "cover" | "schedule":
            _cover(speaker, titled=titled)
        case "agreement":
            draft.add("text", speaker.say("agreement", "parties"))
            sides = [("lender", lender_named), ("borrower", borrower_named)]
            if random.random() < 0.4:
                sides.reverse()
            for mark, (says, text) in zip(random.choice(lists()["labels"]["parties"]), sides, strict=True):
                draft.add("text", mark, draft.saying(says, text))
        case _:
            we, you = random.choice(lists()["labels"]["you"])
            style: LineStyle = random.choice(("row", "cell", "row"))
            draft.row(we, lender, style, "lender")
            draft.row(you, borrower, style, "borrower")
            draft.add("text", f"Date: {values['signed']}")
            if form == "boxes":
                _boxes(speaker, titled=titled)


def _cover(speaker: Speaker, *, titled: bool) -> None:
    terms, random = speaker.terms, speaker.random
    in_schedule = speaker.register["form"] == "schedule"
    style: LineStyle = "row" if in_schedule and random.random() < 0.6 else "cell"
    clauses = ["lender", "borrower"]
    if random.random() < 0.4:
        clauses.reverse()
    clauses.append("amount_open" if terms.open_end else "amount_closed")
    clauses.append("rate_variable" if terms.rate is None else "rate_fixed")
    clauses += ["term", "maturity"] if terms.months else ["term_none"]
    if terms.repayment == "instalments" and random.random() < 0.6:
        clauses.append("payment")
    clauses += _optional_rows(speaker, titled=titled)
    for extra in ("reference", "signed", "law"):
        if random.random() < 0.5:
            clauses.insert(random.randint(0, len(clauses)), extra)
    for number, clause in enumerate(clauses, start=1):
        speaker.add_row(clause, style, f"Item {number}: " if in_schedule and style == "row" else "")


def _optional_rows(speaker: Speaker, *, titled: bool) -> Iterator[str]:
    """Rows on purpose, security and credit form; of a contradiction at most one side, the title's included."""
    terms, random = speaker.terms, speaker.random
    if random.random() < 0.6:
        yield f"purpose_{terms.extra_use}" if terms.extra_use else "purpose"
    if not titled and random.random() < 0.6:
        yield _security_row(speaker)
    if not titled and random.random() < 0.5:
        yield random.choice(terms.on_form)


def _boxes(speaker: Speaker, *, titled: bool) -> None:
    """The boxes that American law prescribes; their yearly rate holds the costs and is not the contract's rate."""
    security = [_security_row(speaker)]
    for box in ("apr", "charge", "financed", "total", "schedule", *([] if titled else security), "late", "prepay"):
        speaker.add_row(f"box_{box}", "cell")


def _security_row(speaker: Speaker) -> str:
    says: str = speaker.random.choice(speaker.terms.on_security)
    return "secured_claim" if says == "secured" and speaker.terms.pledge is None else says


def _add_sections(speaker: Speaker) -> None:
    draft, random, register = speaker.draft, speaker.random, speaker.register
    body = _body_of(speaker)
    way = lists()["numberings"][random.choice(register["numbering"])]
    flow = random.choice(register["flow"])
    for number, (section, texts) in enumerate(body, start=1):
        paragraphs = [" ".join(texts)] if flow == "joined" else texts
        name = _heading(speaker, section)
        heading = way["heading"].format(
            number=number,
            heading=name,
            capitals=name.upper(),
            letter=chr(ord("A") + number - 1),
            ordinal=ORDINALS[number - 1].upper(),
        )
        if way.get("within"):
            paragraphs[0] = f"{heading} {paragraphs[0]}"
        else:
            draft.add("heading", heading)
        mark = way.get("mark", "") if len(paragraphs) > 1 else ""
        for position, paragraph in enumerate(paragraphs, start=1):
            letter = chr(ord("a") + position - 1)
            draft.add("text", mark.format(number=number, position=position, letter=letter), paragraph)


def _body_of(speaker: Speaker) -> list[tuple[str, list[str]]]:
    """All sections but parties and signatures in their order, each with its paragraphs."""
    terms, random, say, several = speaker.terms, speaker.random, speaker.say, speaker.several
    order = random.choice(lists()["orders"])
    body: Body = defaultdict(list)
    if random.random() < 0.4:
        body["amount"].append(say("recital"))
    body["amount"].append(say("amount_open" if terms.open_end else "amount_closed"))
    body["interest"].append(say("rate_variable" if terms.rate is None else "rate_fixed"))
    _repayment(body, speaker)
    card = "card_" if terms.kind == "CardAccount" else ""
    use = f"{card}{terms.extra_use}" if terms.extra_use else terms.use
    body["purpose"].append(say(f"purpose_{use}"))
    if "trader" in terms.tags and random.random() < 0.6:
        body["covenants"].append(say("trader"))
    _security_and_form(body, speaker)
    body["special"] += several(f"special_{terms.kind}", random.randint(1, 3))
    body["covenants"] += several("distractor", random.randint(1, 6))
    if "lender_person" in terms.tags and random.random() < 0.5:
        body["covenants"].append(say("lender_person"))
    random.shuffle(body["covenants"])
    body["default"] += several("default", random.randint(1, 3))
    for section in speaker.register.get("extras", ()):
        if section == "boilerplate":
            body[section] += several(section, random.choice((0, 6, 12, 25)))
        else:
            body[section] += several(section.removesuffix("s"), random.randint(4, 8))
    body["general"].append(say("law"))
    body["general"] += several("general", random.randint(2, 8))
    sections = ("definitions", "conditions", *order, "boilerplate", "general")
    return [(section, body[section]) for section in sections if body[section]]


def _repayment(body: Body, speaker: Speaker) -> None:
    terms = speaker.terms
    closed = not terms.open_end or terms.variant == "card_fixed_term"
    term = "term_none" if terms.months is None else "term_closed" if closed else "term_line"
    body["repayment"] += [speaker.say(terms.repayment), speaker.say(term)]
    if speaker.random.random() < 0.5:
        body["repayment"].reverse()
    body["repayment"] += speaker.several("prepay", speaker.random.randint(0, 1))


def _security_and_form(body: Body, speaker: Speaker) -> None:
    terms, random = speaker.terms, speaker.random
    if terms.clash_type == "secured_unsecured":
        _say_both(body, speaker, terms.on_security, home="security")
    elif terms.pledge is None:
        body["security"].append(_stated(speaker, "unsecured"))
    else:
        care = speaker.several("collateral_care", random.randint(0, 2))
        body["security"].append(" ".join([_stated(speaker, "secured"), *care]))
    if terms.guarantor:
        body["security"].append(speaker.say("guarantee"))
    home = random.choice(("amount", "repayment"))
    if terms.clash_type == "openend_closedend":
        _say_both(body, speaker, terms.on_form[::-1], home=home)
    elif terms.open_end or random.random() < 0.75:
        body[home].append(_stated(speaker, terms.on_form[0]))


def _stated(speaker: Speaker, says: str) -> str:
    asset = speaker.terms.asset
    secured = f"secured_{asset}" if asset else "secured_claim"
    return speaker.say(secured if says == "secured" else says)


def _say_both(body: Body, speaker: Speaker, sides: Sequence[str], *, home: str) -> None:
    """Put one side at home, the other among other ordinary provisions; what title or rows have said stays there."""
    said = set(speaker.draft.passages)
    at_home, away = sides
    if at_home in said or (away not in said and speaker.random.random() < 0.5):
        at_home, away = away, at_home
    body[home].append(_stated(speaker, at_home))
    if away not in said:
        section = speaker.random.choice([section for section in lists()["elsewhere"][away] if section != home])
        body[section].append(_stated(speaker, away))


def _heading(speaker: Speaker, section: str) -> str:
    headings, name = lists()["headings"], speaker.register["headings"]
    if name == "formal" and speaker.terms.open_end and section in headings["open"]:
        name = "open"
    heading: str = speaker.random.choice(headings[name][section])
    return heading


def _close(speaker: Speaker) -> None:
    draft, random, terms, form = speaker.draft, speaker.random, speaker.terms, speaker.register["form"]
    if form == "letter":
        draft.add("text", speaker.say("letter_end", "parties"))
        draft.add("text", "Yours sincerely," if terms.borrower.is_person else "Yours faithfully,")
        draft.sign(terms.lender)
        pronoun = "I" if terms.borrower.is_person else "We"
        draft.add("text", random.choice(("Accepted:", f"{pronoun} accept the offer above.", "Agreed and accepted")))
        draft.sign(terms.borrower)
    elif speaker.named_last:
        draft.add("signature", speaker.values["borrower_intro"])
    elif form in ("note", "first"):
        draft.sign(capitals(terms.borrower), speaker.borrower_term)
    else:
        if random.random() < 0.7:
            draft.add("heading", _heading(speaker, "signatures"))
        else:
            draft.add("text", speaker.say("signing", "parties"))
        sides = [(terms.lender, speaker.lender_term), (terms.borrower, speaker.borrower_term)]
        random.shuffle(sides)
        shout = random.random() < 0.4
        for side, term in sides:
            draft.sign(capitals(side) if shout else side, {"we": "Lender", "you": "Borrower"}.get(term, term))
