"""Invented names of people, companies and lenders, nobody's in particular."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from ovrag_core.loans.contracts.lists import lists


def person_name(random: Random, cultures: Sequence[str], *, bare: bool = False) -> str:
    """A person's full name, now and then with a middle initial, a title or a suffix unless `bare`."""
    culture = lists()["people"][random.choice(cultures)]
    name = f"{random.choice(culture['first'])} {random.choice(culture['last'])}"
    if random.random() < 0.2:
        name = name.replace(" ", f" {random.choice(lists()['middles'])} ", 1)
    chance = random.random()
    if bare or chance < 0.8:
        return name
    return f"{random.choice(lists()['titles'])} {name}" if chance < 0.95 else name + random.choice(lists()["suffixes"])


def company_name(random: Random, form: str, cultures: Sequence[str]) -> str:
    """A company's name with its legal form; some bear a person's or a family's name."""
    trade = random.choice(lists()["trades"])
    chance = random.random()
    if chance < 0.15:
        stem = f"{random.choice(lists()['people'][random.choice(cultures)]['last'])} {trade}"
    elif chance < 0.25:
        stem = f"{person_name(random, cultures, bare=True)} {trade}"
    elif chance < 0.35:
        stem = random.choice(lists()["company_stems"])
    else:
        stem = f"{random.choice(lists()['company_stems'])} {trade}"
    return f"{stem}, {form}" if form.startswith("Inc") and random.random() < 0.5 else f"{stem} {form}"


def lender_name(random: Random, pattern: str, *, continental: bool) -> str:
    """A lending organisation's name from its pattern."""
    stem = random.choice(lists()["continental_stems" if continental else "lender_stems"])
    return pattern.format(stem=stem, person=random.choice(lists()["lender_people"]))
