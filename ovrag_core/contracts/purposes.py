"""What loans are for and what stands behind them: noun phrases, filled in by the sampler."""

from __future__ import annotations

PURPOSES: dict[str, tuple[str, ...]] = {
    "personal": (
        "the purchase of a used camper van for family holidays",
        "a kitchen renovation in the borrower's own flat",
        "the costs of a wedding and a honeymoon",
        "paying off medical and dental bills",
        "a piano and music lessons for the borrower's children",
        "moving house and furnishing the new home",
        "the purchase of a family car",
        "an adoption and the travel it requires",
        "household appliances and new flooring",
        "the restoration of a sailing dinghy kept for leisure",
        "consolidating the borrower's private credit balances",
        "funeral expenses for a close relative",
    ),
    "business": (
        "working capital and seasonal stock",
        "the purchase of two injection-moulding machines",
        "fitting out a second production hall",
        "the acquisition of a competitor's customer list and trade marks",
        "refinancing supplier credit and expanding the delivery fleet",
        "a new enterprise resource planning system",
        "opening three further retail branches",
        "tooling and raw material for an export order",
        "the modernisation of the borrower's cold-storage plant",
        "bridging receivables under long-dated supply contracts",
    ),
    "home": (
        "the purchase of the dwelling described below as the borrower's main residence",
        "buying the borrower's first home",
        "replacing an earlier home loan on the same dwelling",
        "building a single-family house on the borrower's plot",
        "the purchase of a house into which the borrower will move",
        "the conversion of the attic of the borrower's house into living space",
    ),
    "premises": (
        "the purchase of a warehouse for the borrower's trade",
        "the acquisition of an office building from which the borrower will run its business",
        "the construction of a workshop on the borrower's industrial plot",
        "buying the shop premises the borrower now rents",
    ),
    "study": (
        "tuition and fees for a bachelor's degree in nursing",
        "tuition, books and living costs during a master's course in marine biology",
        "the cost of attending a four-year programme in mechanical engineering",
        "tuition at a school of veterinary medicine",
        "fees and accommodation for a teacher-training course",
        "a degree course in computer science",
        "the costs of attendance at a conservatory of music",
    ),
    "green": (
        "rooftop photovoltaic panels and a battery store, as an environmentally eligible project",
        "replacing an oil boiler by a ground-source heat pump, as an eligible climate project",
        "deep energy refurbishment that cuts primary energy demand by at least 40 per cent, as an eligible green project",
        "electric delivery vehicles and charging points, as a project eligible under published green lending principles",
        "a rainwater recovery and treatment plant, as an environmentally eligible project",
        "two small wind turbines, as a project eligible under published green lending principles",
        "wet-land restoration and tree planting, as an eligible climate project",
    ),
    "card_personal": (
        "everyday household and family purchases",
        "personal purchases and travel",
        "the cardholder's private spending at home and abroad",
    ),
    "card_business": (
        "travel and procurement expenses of the company's staff",
        "the business expenses of the company",
        "fuel, tolls and supplies for the company's vehicles",
    ),
}

PLEDGES: dict[str, tuple[str, ...]] = {
    "vehicle": (
        "{year} {make}, VIN {vin}",
        "the {year} {make} with chassis number {vin}, its keys and registration papers",
        "one {year} {make} (vehicle identification number {vin}) and its accessories",
    ),
    "deposit": (
        "savings account no. {account} held with the lender",
        "certificate of deposit no. {account} with all interest credited to it",
        "the balance of fixed-deposit account {account}",
    ),
    "equipment": (
        "{machine}, serial no. {serial}, with tooling and accessories",
        "{machine} (serial number {serial}) and {machine2}",
        "all machinery in the borrower's plant, including {machine}, serial no. {serial}",
    ),
    "receivables": (
        "all present and future accounts receivable and inventory of the borrower",
        "trade debts owed by the borrower's customers and the stock at its main warehouse",
        "the borrower's claims under its supply contract no. {account}",
    ),
    "undertaking": (
        "the whole undertaking and all assets of the borrower, present and future",
        "all of the borrower's property and assets, wherever situated",
    ),
    "securities": (
        "{count} registered shares in {stem} Holdings",
        "investment portfolio no. {account} held in custody by the lender",
    ),
}
MAKES = (
    "Halcyon Estate 2.0", "Corvane Traveller", "Nimbus E-Van", "Tarrant Pickup 1500", "Morava Combi", "Suvari Hatchback", "Larkin Roadster",
    "Ostrom Tourer 125 motorcycle",
)  # fmt: skip
MACHINES = (
    "a five-axis machining centre type KV-500", "an offset printing press type Helio 74", "a blow-moulding line type BM-12",
    "a laser cutter type LX-3030", "a bottling line type Flow 6000", "a harvester type Agra 9", "a tunnel oven type Therm 40",
    "a crane truck type Lift 220", "a dyeing range type Colora",
)  # fmt: skip
