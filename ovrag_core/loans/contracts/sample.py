"""Seeded sampling: how many contracts of each sort, and the terms of each one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random

from ovrag_core.base.errors import CorpusError
from ovrag_core.loans.contracts import names
from ovrag_core.loans.contracts.lists import Place, matters, places
from ovrag_core.loans.contracts.lists import names as name_lists
from ovrag_core.loans.contracts.terms import (
    KIND_OF_VARIANT,
    KINDS,
    VARIANTS,
    Asset,
    Kind,
    Pledge,
    Rate,
    Repayment,
    Side,
    Terms,
    Use,
    Variant,
)
from ovrag_core.text.dates import add_months

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
_PRINCIPALS: dict[Kind, tuple[int, int, int]] = {
    "ConsumerLoan": (3_000, 60_000, 100),
    "CommercialLoan": (80_000, 6_000_000, 5_000),
    "Mortgage": (90_000, 900_000, 1_000),
    "StudentLoan": (4_000, 60_000, 100),
    "SubsidizedStudentLoan": (2_500, 24_000, 100),
    "GreenLoan": (15_000, 900_000, 1_000),
    "CardAccount": (1_000, 25_000, 100),
}
_MONTHS: dict[Kind, tuple[int, ...]] = {
    "ConsumerLoan": (24, 30, 36, 42, 48, 60, 72, 84),
    "CommercialLoan": (24, 36, 48, 60, 72, 84, 120),
    "Mortgage": (120, 180, 216, 240, 300, 324, 360),
    "StudentLoan": (96, 120, 144, 180),
    "SubsidizedStudentLoan": (96, 120, 144),
    "GreenLoan": (60, 84, 96, 120, 180),
    "CardAccount": (24, 36, 48),
}
_RATES: dict[Kind, tuple[float, float]] = {
    "ConsumerLoan": (5.5, 14.0),
    "CommercialLoan": (4.5, 11.0),
    "Mortgage": (2.9, 7.5),
    "StudentLoan": (3.5, 8.5),
    "SubsidizedStudentLoan": (1.5, 5.5),
    "GreenLoan": (2.2, 6.5),
    "CardAccount": (11.9, 25.9),
}
_CURRENCY_SCALE = {"INR": 60, "ZAR": 12}


def quotas(count: int) -> dict[str, int]:
    """How many of `count` contracts are clean and how many carry each clash, by largest remainder."""
    return _apportion(count, SHARES)


def _apportion(count: int, shares: Mapping[str, int]) -> dict[str, int]:
    total = sum(shares.values())
    quota = {name: count * share // total for name, share in shares.items()}
    left = count - sum(quota.values())
    by_remainder = sorted(shares, key=lambda name: -(count * shares[name] % total))
    for name in by_remainder[:left]:
        quota[name] += 1
    return quota


def plan(count: int) -> list[tuple[Kind, Variant | None]]:
    """Kind and planted clash of each contract in order: clean ones over the seven kinds in turn, then each clash type.

    Raises CorpusError where `count` is not positive.
    """
    if count < 1:
        raise CorpusError(f"corpus.contracts must be at least 1, not {count}")
    quota = quotas(count)
    slots: list[tuple[Kind, Variant | None]] = [(KINDS[i % len(KINDS)], None) for i in range(quota["CLEAN"])]
    for clash_type, variants in VARIANTS.items():
        for i in range(quota[clash_type]):
            variant = variants[i % len(variants)]
            slots.append((KIND_OF_VARIANT[variant], variant))
    return slots


def sample(count: int, seed: int) -> list[Terms]:
    """Terms of `count` contracts; the same for the same arguments on every machine.

    Names do not repeat between contracts as long as the lists last.
    """
    used: set[str] = set()
    return [
        _terms(Random(f"terms/{seed}/{number}"), number, kind, variant, used)
        for number, (kind, variant) in enumerate(plan(count), start=1)
    ]


def _terms(random: Random, number: int, kind: Kind, variant: Variant | None, used: set[str]) -> Terms:
    place = random.choices(places(), weights=[place.weight for place in places()])[0]
    use, extra_use = _uses(random, kind, variant)
    borrower = _borrower(random, place, kind, variant, use, used)
    if kind == "Mortgage" and not borrower.is_person:
        use = extra_use = "business"
    if kind == "GreenLoan" and random.random() < 0.25:
        extra_use = "personal" if borrower.is_person else "business"
    open_end = _is_open_end(random, kind, variant, extra_use)
    fixed_term = not open_end or kind == "CommercialLoan" or variant in ("card_fixed_term", "consumer_both")
    signed = _signing_day(random)
    months = random.choice(_MONTHS[kind]) if fixed_term else None
    if months and open_end and variant is None:
        months = random.choice((12, 24, 36, 48, 60))
    principal = _principal(random, kind, place)
    rate = _rate(random, kind, place, open_end=open_end, variant=variant)
    return Terms(
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


def _uses(random: Random, kind: Kind, variant: Variant | None) -> tuple[Use, Use | None]:
    if kind == "ConsumerLoan":
        return "personal", "personal"
    if kind == "CommercialLoan":
        return "business", "business"
    if kind == "CardAccount":
        use: Use = "business" if variant is None and random.random() < 0.25 else "personal"
        return use, use
    if kind == "Mortgage":
        stated = variant is None and random.random() < 0.25
        return "home", "personal" if stated else None
    if kind == "GreenLoan":
        return "green", None
    return "study", None


def _borrower(random: Random, place: Place, kind: Kind, variant: Variant | None, use: Use, used: set[str]) -> Side:
    chance = random.random()
    if variant == "consumer_to_company":
        return _company(random, place, used)
    if variant == "commercial_to_person":
        return _person(random, place, used)
    if kind == "CommercialLoan" or use == "business":
        return _company(random, place, used)
    if (kind == "Mortgage" and variant is None and chance < 0.25) or (kind == "GreenLoan" and chance < 0.6):
        return _company(random, place, used)
    return _person(random, place, used)


def _is_open_end(random: Random, kind: Kind, variant: Variant | None, extra_use: Use | None) -> bool:
    chance = random.random()
    if kind == "CardAccount":
        return True
    if variant is not None:
        return False
    share = {"ConsumerLoan": 0.15, "CommercialLoan": 0.3, "Mortgage": 0.1 if extra_use == "personal" else 0.0}
    return chance < share.get(kind, 0.0)


def _repayment(random: Random, kind: Kind, variant: Variant | None, *, open_end: bool) -> Repayment:
    chance = random.random()
    if open_end and variant != "card_fixed_term":
        return "minimum" if kind in ("CardAccount", "ConsumerLoan", "Mortgage") else "clean_down"
    if kind in ("CommercialLoan", "GreenLoan") and variant != "term_loan_revolving":
        return "bullet" if chance < 0.2 else "quarterly" if chance < 0.45 else "instalments"
    return "instalments"


def _signing_day(random: Random) -> date:
    first, last = _DAYS_OF_SIGNING
    when = first + timedelta(days=random.randrange((last - first).days))
    return when.replace(day=min(when.day, 28))


def _principal(random: Random, kind: Kind, place: Place) -> Decimal:
    low, high, step = _PRINCIPALS[kind]
    amount = low * (high / low) ** random.random()
    return Decimal(round(amount / step) * step * _CURRENCY_SCALE.get(place.currency, 1))


def _rate(random: Random, kind: Kind, place: Place, *, open_end: bool, variant: Variant | None) -> Rate:
    low, high = _RATES[kind]
    step = random.choice((Decimal("0.05"), Decimal("0.125"), Decimal("0.25"), Decimal("0.01")))
    percent = (Decimal(str(random.uniform(low, high))) / step).quantize(Decimal(1), ROUND_HALF_UP) * step
    variable = random.random() < (0.4 if open_end else 0.12)
    if variable and variant is None and kind not in ("StudentLoan", "SubsidizedStudentLoan", "ConsumerLoan"):
        margin = Decimal(random.randrange(4, 40)) / 4 if kind == "CardAccount" else Decimal(random.randrange(2, 14)) / 4
        return Rate(percent=None, benchmark=place.benchmark, margin=margin.normalize())
    return Rate(percent=percent)


def _instalment(principal: Decimal, rate: Rate, months: int) -> Decimal:
    monthly = (rate.percent if rate.percent is not None else Decimal(3) + rate.margin) / 1200
    factor = (1 + monthly) ** months
    return (principal * monthly * factor / (factor - 1)).quantize(_CENT, ROUND_HALF_UP)


def _purpose(random: Random, kind: Kind, use: Use, borrower: Side) -> str:
    if kind == "CardAccount":
        return random.choice(matters().purposes[f"card_{use}"])
    if kind == "Mortgage":
        return random.choice(matters().purposes["home" if borrower.is_person else "premises"])
    return random.choice(matters().purposes[use])


def _pledge(random: Random, place: Place, kind: Kind, variant: Variant | None, borrower: Side) -> Pledge | None:
    secured = random.random() < _SHARE_SECURED[kind]
    if variant in ("secured_without_collateral", "card_fixed_term"):
        return None
    if not secured and variant != "consumer_collateral_unsecured":
        return None
    if kind == "Mortgage":
        return _asset(random, place, "real_property")
    assets = _ASSETS.get(kind, _PERSONAL_ASSETS if borrower.is_person else _COMPANY_ASSETS)
    return _asset(random, place, random.choice(assets))


_SHARE_SECURED: dict[Kind, float] = {
    "ConsumerLoan": 0.45,
    "CommercialLoan": 0.6,
    "Mortgage": 1.0,
    "StudentLoan": 0.0,
    "SubsidizedStudentLoan": 0.0,
    "GreenLoan": 0.5,
    "CardAccount": 0.15,
}
_PERSONAL_ASSETS: tuple[Asset, ...] = ("equipment", "vehicle", "deposit")
_ASSETS: dict[Kind, tuple[Asset, ...]] = {
    "ConsumerLoan": ("vehicle", "vehicle", "deposit", "securities"),
    "CardAccount": ("deposit",),
}
_COMPANY_ASSETS: tuple[Asset, ...] = ("equipment", "equipment", "receivables", "undertaking", "securities")


def _asset(random: Random, place: Place, asset: Asset) -> Pledge:
    if asset == "real_property":
        address = _address(random, place)
        text = random.choice(place.land).format(
            address=address, lot=random.randint(2, 48), block=random.choice("ABCDEFG"), stem=_land_stem(random, place),
            book=random.randint(101, 4890), page=random.randint(100, 990), title=_title_number(random),
        )  # fmt: skip
        return Pledge(asset, text)
    machine, other = random.sample(matters().machines, 2)
    text = random.choice(matters().pledges[asset]).format(
        year=random.randint(2018, 2025),
        make=random.choice(matters().makes), vin=_vin(random), account=_account(random),
        machine=machine, machine2=other, serial=f"{random.choice('ABKMT')}{random.randint(1000, 99999)}",
        count=f"{random.randint(2, 90) * 100:,}", stem=random.choice(name_lists().company_stems),
    )  # fmt: skip
    return Pledge(asset, text)


def _vin(random: Random) -> str:
    return "".join(random.choices("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", k=17))


def _account(random: Random) -> str:
    return f"{random.randint(1000, 9999)} {random.randint(100_000, 999_999)}"


def _title_number(random: Random) -> str:
    return f"{random.choice(('NK', 'WYK', 'DN', 'INV', 'GY', 'PTH'))}{random.randint(10_000, 399_999)}"


def _land_stem(random: Random, place: Place) -> str:
    return random.choice(name_lists().continental_stems if place.continental else name_lists().street_stems)


def _address(random: Random, place: Place) -> str:
    return place.address.format(
        n=random.randint(1, 240), street=random.choice(place.streets), city=random.choice(place.cities)
    )


def _unused(name: str, used: set[str]) -> bool:
    if name in used:
        return False
    used.add(name)
    return True


def _person(random: Random, place: Place, used: set[str]) -> Side:
    for _ in range(100):
        name = names.person(random, place.cultures)
        if _unused(name, used):
            break
    born = date(random.randint(1951, 2003), random.randint(1, 12), random.randint(1, 28))
    return Side(name=name, kind="natural_person", address=_address(random, place), style="", born=born)


def _company(random: Random, place: Place, used: set[str]) -> Side:
    form, style = random.choice(place.company_forms)
    for _ in range(100):
        name = names.company(random, form, place.cultures)
        if _unused(name, used):
            break
    filled = style.format(
        law=place.law,
        register=random.randint(10_000, 799_999),
        acn=" ".join(str(random.randint(100, 689)) for _ in range(3)),
        lot=random.randint(10, 24),
    )
    office = random.choice(("managing director", "director", "chief financial officer", "authorised signatory"))
    signatory = names.person(random, place.cultures, bare=True)
    return Side(
        name=name,
        kind="legal_entity",
        address=_address(random, place),
        style=re.sub(r"\ba (?=[AEIO])", "an ", filled),
        signatory=signatory,
        office=office,
    )


_LENT_BY_ANYBODY: tuple[Kind, ...] = ("StudentLoan", "GreenLoan")
_SHARE_LENT_BY_PEOPLE = 0.06


def _lender(
    random: Random, place: Place, kind: Kind, variant: Variant | None, extra_use: Use | None, used: set[str]
) -> Side:
    if variant in ("commercial_by_person", "mortgage_by_person"):
        return _person(random, place, used)
    if kind in _LENT_BY_ANYBODY and variant is None and extra_use is None and random.random() < _SHARE_LENT_BY_PEOPLE:
        return _person(random, place, used)
    signatory = names.person(random, place.cultures, bare=True)
    public = {"StudentLoan": 0.25, "SubsidizedStudentLoan": 0.7}.get(kind, 0.0)
    if random.random() < public:
        return Side(
            name=random.choice(place.government), kind="government", address=_address(random, place), style="",
            signatory=signatory, office="authorised officer",
        )  # fmt: skip
    pattern, style = random.choice(place.lender_forms)
    for _ in range(100):
        name = names.lender(random, pattern, continental=place.continental)
        if _unused(name, used):
            break
        pattern, style = random.choice(place.lender_forms)
    return Side(
        name=name, kind="financial_institution", address=_address(random, place), style=style, signatory=signatory,
        office=random.choice(("vice president", "head of lending", "authorised signatory", "relationship manager")),
    )  # fmt: skip


def _guarantor(random: Random, place: Place, kind: Kind, variant: Variant | None, used: set[str]) -> Side | None:
    chance = random.random()
    if kind != "CommercialLoan" or variant in ("commercial_to_person", "commercial_by_person") or chance > 0.3:
        return None
    return _person(random, place, used) if chance < 0.15 else _company(random, place, used)
