"""Seeded sampling: how many contracts of each sort, the terms of each, and invented names, nobody's in particular."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import cycle, islice
from random import Random

from ovrag_core.base import CorpusError
from ovrag_core.loans.contracts.lists import Asset, Place, Use, lists
from ovrag_core.loans.contracts.terms import PLANTED, LoanRate, LoanTerms, Pledge, Repayment, Side
from ovrag_core.text import add_months

SHARES: Mapping[str, int] = {
    "CLEAN": 60,
    "secured_unsecured": 15,
    "openend_closedend": 15,
    "borrower_type": 5,
    "lender_type": 5,
}
"""The published corpus's hundred contracts, in their order."""

_CENT = Decimal("0.01")
_DAYS_OF_SIGNING = (date(2023, 1, 9), date(2026, 2, 20))
_CURRENCY_SCALE = {"INR": 60, "ZAR": 12}


def quotas(count: int) -> dict[str, int]:
    """Split `count` contracts into clean ones and those that carry each clash, by largest remainder."""
    total = sum(SHARES.values())
    quota = {name: count * share // total for name, share in SHARES.items()}
    left = count - sum(quota.values())
    for name in sorted(SHARES, key=lambda name: -(count * SHARES[name] % total))[:left]:
        quota[name] += 1
    return quota


def plan(count: int) -> list[tuple[str, str | None]]:
    """Kind and planted clash of each contract in order: clean ones over the seven kinds in turn, then each clash type.

    Raises CorpusError where `count` is not positive.
    """
    if count < 1:
        raise CorpusError(f"corpus.contracts must be at least 1, not {count}")
    quota = quotas(count)
    slots: list[tuple[str, str | None]] = [(kind, None) for kind in islice(cycle(lists().kinds), quota["CLEAN"])]
    for clash_type in quota:
        variants = [variant for variant, planted in PLANTED.items() if planted.clash_type == clash_type]
        slots += [(PLANTED[variant].kind, variant) for variant in islice(cycle(variants), quota[clash_type])]
    return slots


def sample(count: int, seed: int) -> list[LoanTerms]:
    """Terms of `count` contracts; the same for the same arguments on every machine.

    Names do not repeat between contracts as long as the lists last.
    """
    used: set[str] = set()
    return [
        _terms(Random(f"terms/{seed}/{number}"), number, kind, variant, used)
        for number, (kind, variant) in enumerate(plan(count), start=1)
    ]


def _terms(random: Random, number: int, kind: str, variant: str | None, used: set[str]) -> LoanTerms:
    place = random.choices(lists().places, weights=[p.weight for p in lists().places])[0]
    use, extra_use = _uses(random, kind, variant)
    borrower = _borrower(random, place, kind, variant, use, used)
    if kind == "Mortgage" and not borrower.is_person:
        use = extra_use = "business"
    if kind == "GreenLoan" and random.random() < 0.25:
        extra_use = "personal" if borrower.is_person else "business"
    open_end = _is_open_end(random, kind, variant, extra_use)
    fixed_term = not open_end or kind == "CommercialLoan" or variant in ("card_fixed_term", "consumer_both")
    signed = _signing_day(random)
    months = random.choice(lists().kinds[kind].months) if fixed_term else None
    if months and open_end and variant is None:
        months = random.choice((12, 24, 36, 48, 60))
    principal = _principal(random, kind, place)
    rate = _rate(random, kind, place, open_end=open_end, variant=variant)
    return LoanTerms(
        number=number,
        reference=f"{random.choice(('LN', 'KV', 'F', 'CR', 'A'))}-{signed.year}-{random.randint(10_000, 99_999)}",
        kind=kind,
        variant=variant,
        place=place,
        borrower=borrower,
        lender=_lender(random, place, kind, variant, extra_use, used),
        principal=principal,
        rate=rate,
        signed=signed,
        first_payment=add_months(signed, 1),
        maturity=add_months(signed, months) if months else None,
        months=months,
        payment=_instalment(principal, rate, months or 48),
        repayment=_repayment(random, kind, variant, open_end=open_end),
        use=use,
        extra_use=extra_use,
        purpose=_purpose(random, kind, use, borrower),
        open_end=open_end,
        pledge=_pledge(random, place, kind, variant, borrower),
        guarantor=_guarantor(random, place, kind, variant, used),
    )


def _uses(random: Random, kind: str, variant: str | None) -> tuple[Use, Use | None]:
    """The use of the loan, and where it is private or business, that the contract says so."""
    use = lists().kinds[kind].use
    stated = use if use in ("personal", "business") else None
    if kind in ("CardAccount", "Mortgage") and variant is None and random.random() < 0.25:
        return ("business", "business") if kind == "CardAccount" else (use, "personal")
    return use, stated


def _borrower(random: Random, place: Place, kind: str, variant: str | None, use: Use, used: set[str]) -> Side:
    chance = random.random()
    is_company = (
        variant == "consumer_to_company"
        or (use == "business" and variant != "commercial_to_person")
        or (kind == "Mortgage" and variant is None and chance < 0.25)
        or (kind == "GreenLoan" and chance < 0.6)
    )
    return (_company if is_company else _person)(random, place, used)


def _is_open_end(random: Random, kind: str, variant: str | None, extra_use: Use | None) -> bool:
    chance = random.random()
    if kind == "CardAccount":
        return True
    if variant is not None:
        return False
    share = {"ConsumerLoan": 0.15, "CommercialLoan": 0.3, "Mortgage": 0.1 if extra_use == "personal" else 0.0}
    return chance < share.get(kind, 0.0)


def _repayment(random: Random, kind: str, variant: str | None, *, open_end: bool) -> Repayment:
    chance = random.random()
    if open_end and variant != "card_fixed_term":
        return "minimum" if kind in ("CardAccount", "ConsumerLoan", "Mortgage") else "clean_down"
    if kind in ("CommercialLoan", "GreenLoan") and variant != "term_loan_revolving":
        return "bullet" if chance < 0.2 else "quarterly" if chance < 0.45 else "instalments"
    return "instalments"


def _signing_day(random: Random) -> date:
    earliest, latest = _DAYS_OF_SIGNING
    when = earliest + timedelta(days=random.randrange((latest - earliest).days))
    return when.replace(day=min(when.day, 28))


def _principal(random: Random, kind: str, place: Place) -> Decimal:
    low, high, step = lists().kinds[kind].principal
    amount = low * (high / low) ** random.random()
    return Decimal(round(amount / step) * step * _CURRENCY_SCALE.get(place.currency, 1))


def _rate(random: Random, kind: str, place: Place, *, open_end: bool, variant: str | None) -> LoanRate:
    low, high = lists().kinds[kind].rates
    step = random.choice((Decimal("0.05"), Decimal("0.125"), Decimal("0.25"), Decimal("0.01")))
    percent = (Decimal(str(random.uniform(low, high))) / step).quantize(Decimal(1), ROUND_HALF_UP) * step
    variable = random.random() < (0.4 if open_end else 0.12)
    if variable and variant is None and kind not in ("StudentLoan", "SubsidizedStudentLoan", "ConsumerLoan"):
        margin = Decimal(random.randrange(4, 40)) / 4 if kind == "CardAccount" else Decimal(random.randrange(2, 14)) / 4
        return LoanRate(percent=None, benchmark=place.benchmark, margin=margin.normalize())
    return LoanRate(percent=percent)


def _instalment(principal: Decimal, rate: LoanRate, months: int) -> Decimal:
    monthly = (rate.percent if rate.percent is not None else Decimal(3) + rate.margin) / 1200
    factor = (1 + monthly) ** months
    return (principal * monthly * factor / (factor - 1)).quantize(_CENT, ROUND_HALF_UP)


def _purpose(random: Random, kind: str, use: Use, borrower: Side) -> str:
    matter: str = use
    if kind == "CardAccount":
        matter = f"card_{use}"
    elif kind == "Mortgage":
        matter = "home" if borrower.is_person else "premises"
    return random.choice(lists().purposes[matter])


def _pledge(random: Random, place: Place, kind: str, variant: str | None, borrower: Side) -> Pledge | None:
    secured = random.random() < lists().kinds[kind].secured
    if variant in ("secured_without_collateral", "card_fixed_term"):
        return None
    if not secured and variant != "consumer_collateral_unsecured":
        return None
    assets = lists().kinds[kind].assets or (_PERSONAL_ASSETS if borrower.is_person else _COMPANY_ASSETS)
    return _asset(random, place, "real_property" if kind == "Mortgage" else random.choice(assets))


_PERSONAL_ASSETS: tuple[Asset, ...] = ("equipment", "vehicle", "deposit")
_COMPANY_ASSETS: tuple[Asset, ...] = ("equipment", "equipment", "receivables", "undertaking", "securities")


def _asset(random: Random, place: Place, asset: Asset) -> Pledge:
    if asset == "real_property":
        address = _address(random, place)
        stems = lists().continental_stems if place.continental else lists().street_stems
        text = random.choice(place.land).format(
            address=address, lot=random.randint(2, 48), block=random.choice("ABCDEFG"), stem=random.choice(stems),
            book=random.randint(101, 4890), page=random.randint(100, 990),
            title=f"{random.choice(('NK', 'WYK', 'DN', 'INV', 'GY', 'PTH'))}{random.randint(10_000, 399_999)}",
        )  # fmt: skip
        return Pledge(asset, text)
    machine, machine2 = random.sample(lists().machines, 2)
    text = random.choice(lists().pledges[asset]).format(
        year=random.randint(2018, 2025),
        make=random.choice(lists().makes), vin="".join(random.choices("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", k=17)),
        account=f"{random.randint(1000, 9999)} {random.randint(100_000, 999_999)}",
        machine=machine, machine2=machine2, serial=f"{random.choice('ABKMT')}{random.randint(1000, 99999)}",
        count=f"{random.randint(2, 90) * 100:,}", stem=random.choice(lists().company_stems),
    )  # fmt: skip
    return Pledge(asset, text)


def _address(random: Random, place: Place) -> str:
    return place.address.format(
        n=random.randint(1, 240), street=random.choice(place.streets), city=random.choice(place.cities)
    )


def person_name(random: Random, cultures: tuple[str, ...], *, bare: bool = False) -> str:
    """A person's full name, now and then with a middle initial, a title or a suffix unless `bare`."""
    parts = lists()
    culture = parts.people[random.choice(cultures)]
    name = f"{random.choice(culture.first)} {random.choice(culture.last)}"
    if random.random() < 0.2:
        name = name.replace(" ", f" {random.choice(parts.middles)} ", 1)
    chance = random.random()
    if bare or chance < 0.8:
        return name
    return f"{random.choice(parts.titles)} {name}" if chance < 0.95 else name + random.choice(parts.suffixes)


def company_name(random: Random, form: str, cultures: tuple[str, ...]) -> str:
    """A company's name with its legal form; some bear a person's or a family's name."""
    parts = lists()
    trade = random.choice(parts.trades)
    chance = random.random()
    if chance < 0.15:
        stem = f"{random.choice(parts.people[random.choice(cultures)].last)} {trade}"
    elif chance < 0.25:
        stem = f"{person_name(random, cultures, bare=True)} {trade}"
    elif chance < 0.35:
        stem = random.choice(parts.company_stems)
    else:
        stem = f"{random.choice(parts.company_stems)} {trade}"
    return f"{stem}, {form}" if form.startswith("Inc") and random.random() < 0.5 else f"{stem} {form}"


def lender_name(random: Random, pattern: str, *, continental: bool) -> str:
    """A lending organisation's name from its pattern."""
    parts = lists()
    stems = parts.continental_stems if continental else parts.lender_stems
    return pattern.format(stem=random.choice(stems), person=random.choice(parts.lender_people))


def _unused(draw: Callable[[], str], used: set[str]) -> str:
    """Return a name that no contract has had, as far as the lists last."""
    for _ in range(100):
        name = draw()
        if name not in used:
            break
    used.add(name)
    return name


def _person(random: Random, place: Place, used: set[str]) -> Side:
    name = _unused(lambda: person_name(random, place.cultures), used)
    born = date(random.randint(1951, 2003), random.randint(1, 12), random.randint(1, 28))
    return Side(name=name, kind="natural_person", address=_address(random, place), born=born)


def _company(random: Random, place: Place, used: set[str]) -> Side:
    form, style = random.choice(place.company_forms)
    name = _unused(lambda: company_name(random, form, place.cultures), used)
    filled = style.format(
        law=place.law,
        register=random.randint(10_000, 799_999),
        acn=" ".join(str(random.randint(100, 689)) for _ in range(3)),
        lot=random.randint(10, 24),
    )
    office = random.choice(("managing director", "director", "chief financial officer", "authorised signatory"))
    signatory = person_name(random, place.cultures, bare=True)
    return Side(
        name=name,
        kind="legal_entity",
        address=_address(random, place),
        style=re.sub(r"\ba (?=[AEIO])", "an ", filled),
        signatory=signatory,
        office=office,
    )


_LENT_BY_ANYBODY: tuple[str, ...] = ("StudentLoan", "GreenLoan")
_SHARE_LENT_BY_PEOPLE = 0.06


def _lender(
    random: Random, place: Place, kind: str, variant: str | None, extra_use: Use | None, used: set[str]
) -> Side:
    if variant in ("commercial_by_person", "mortgage_by_person"):
        return _person(random, place, used)
    if kind in _LENT_BY_ANYBODY and variant is None and extra_use is None and random.random() < _SHARE_LENT_BY_PEOPLE:
        return _person(random, place, used)
    signatory = person_name(random, place.cultures, bare=True)
    public = {"StudentLoan": 0.25, "SubsidizedStudentLoan": 0.7}.get(kind, 0.0)
    if random.random() < public:
        return Side(
            name=random.choice(place.government), kind="government", address=_address(random, place),
            signatory=signatory, office="authorised officer",
        )  # fmt: skip
    style = ""

    def draw() -> str:
        nonlocal style
        pattern, style = random.choice(place.lender_forms)
        return lender_name(random, pattern, continental=place.continental)

    name = _unused(draw, used)
    return Side(
        name=name, kind="financial_institution", address=_address(random, place), style=style, signatory=signatory,
        office=random.choice(("vice president", "head of lending", "authorised signatory", "relationship manager")),
    )  # fmt: skip


def _guarantor(random: Random, place: Place, kind: str, variant: str | None, used: set[str]) -> Side | None:
    chance = random.random()
    if kind != "CommercialLoan" or variant in ("commercial_to_person", "commercial_by_person") or chance > 0.3:
        return None
    return _person(random, place, used) if chance < 0.15 else _company(random, place, used)
