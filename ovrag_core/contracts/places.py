"""Where contracts are made: law, currency, addresses, and the legal forms that companies take there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A jurisdiction.

    `addresses` are patterns with {street} and {n}; `company_forms` pairs of a suffix and what the contract calls such a
    company; `lender_forms` patterns with {stem}; `cultures` the name lists that people there are drawn from.
    """

    name: str
    law: str
    court: str
    currency: str
    weight: int
    cultures: tuple[str, ...]
    streets: tuple[str, ...]
    cities: tuple[str, ...]
    address: str
    company_forms: tuple[tuple[str, str], ...]
    lender_forms: tuple[tuple[str, str], ...]
    land: tuple[str, ...]
    benchmark: str
    government: tuple[str, ...]
    register: str

    @property
    def american(self) -> bool:
        """Whether dates, spelling and land law are those of the United States."""
        return self.currency == "USD"


_US_STREETS = (
    "Larkspur Avenue", "Mill Creek Road", "North Harbor Street", "Sycamore Lane", "Old Quarry Road", "Cottonwood Drive",
    "East Fulton Street", "Ridgeline Court", "Bellweather Boulevard", "Juniper Terrace", "Prospect Street", "Ferry Road",
)  # fmt: skip
_US_COMPANIES = (
    ("Inc.", "a {law} corporation"),
    ("Corporation", "a corporation organized under the laws of {law}"),
    ("Corp.", "a {law} business corporation"),
    ("LLC", "a {law} limited liability company"),
    ("L.P.", "a {law} limited partnership"),
    ("Co.", "a {law} corporation"),
)
_US_LENDERS = (
    ("{stem} Bank, N.A.", "a national banking association"),
    ("{stem} National Bank", "a national banking association"),
    ("{stem} Savings Bank", "a state-chartered savings bank"),
    ("{stem} Trust Company", "a trust company"),
    ("{stem} Credit Union", "a state-chartered credit union"),
    ("First Bank of {stem}", "a banking corporation"),
    ("{stem} Lending Partners LLC", "a licensed lender"),
    ("{stem} Capital Funding, Inc.", "a licensed lender"),
    ("{stem} Bancorp", "a bank holding company's lending subsidiary"),
    ("{person} Bank", "a state-chartered bank"),
    ("{person} & Sons, Bankers", "a private bank"),
)
_US_LAND = (
    "the land and dwelling at {address}, being Lot {lot}, Block {block} of the {stem} Addition",
    "the real estate commonly known as {address}, recorded in Book {book}, Page {page} of the county land records",
    "the condominium unit at {address}, together with its share of the common elements",
    "the house, garage and parcel at {address} (Assessor's Parcel No. {book}-{page}-{lot})",
)


def _us(state: str, cities: tuple[str, ...], weight: int, agency: str) -> Place:
    return Place(
        name=state,
        law=state,
        court=f"the courts of the State of {state}",
        currency="USD",
        weight=weight,
        cultures=("anglo", "hispanic", "african", "east_asian", "south_asian", "nordic", "slavic", "arabic"),
        streets=_US_STREETS,
        cities=cities,
        address="{n} {street}, {city}",
        company_forms=_US_COMPANIES,
        lender_forms=_US_LENDERS,
        land=_US_LAND,
        benchmark="the prime rate published in a national business newspaper",
        government=("U.S. Department of Education", agency),
        register="file number",
    )


# ruff: noqa: E501
PLACES: tuple[Place, ...] = (
    _us("Delaware", ("Wilmington, DE 19801", "Dover, DE 19904", "Newark, DE 19711"), 3, "Delaware Higher Education Aid Authority"),
    _us("New York", ("Albany, NY 12207", "Brooklyn, NY 11215", "Rochester, NY 14607"), 4, "New York State Tuition Finance Authority"),
    _us("Texas", ("Austin, TX 78704", "Lubbock, TX 79401", "El Paso, TX 79902"), 3, "Texas Board of College Loans"),
    _us("Ohio", ("Dayton, OH 45402", "Toledo, OH 43604", "Athens, OH 45701"), 2, "State of Ohio, Office of Student Assistance"),
    _us("Minnesota", ("Duluth, MN 55802", "Saint Paul, MN 55102", "Mankato, MN 56001"), 2, "Minnesota Commission for Student Finance"),
    _us("California", ("Fresno, CA 93721", "Oakland, CA 94607", "San Diego, CA 92104"), 4, "California Education Loan Authority"),
    Place(
        name="England", law="England and Wales", court="the courts of England", currency="GBP", weight=4,
        cultures=("anglo", "south_asian", "african", "slavic", "celtic"),
        streets=("Wharf Lane", "Cathedral Close", "Station Approach", "Priory Gardens", "Tanner's Row", "Market Place"),
        cities=("Leeds LS2 7HZ", "Norwich NR1 3EX", "Bristol BS1 6QF", "Exeter EX4 3SR"),
        address="{n} {street}, {city}",
        company_forms=(("Limited", "a private company limited by shares"), ("Ltd", "a company registered in England and Wales"), ("plc", "a public limited company"), ("LLP", "a limited liability partnership")),
        lender_forms=(("{stem} Bank plc", "an authorised bank"), ("{stem} Building Society", "a building society"), ("{stem} Asset Finance Limited", "a licensed lender"), ("Bank of {stem}", "an authorised bank"), ("{person} & Co.", "private bankers"), ("The {stem} Permanent", "a mutual lender")),
        land=("the freehold dwelling known as {address} (title number {title})", "the leasehold flat at {address}, held for a term of 125 years (title number {title})", "the freehold land and buildings at {address}, registered at the Land Registry under title {title}"),
        benchmark="the base rate of the Bank of England",
        government=("Department for Education", "Secretary of State for Education"), register="company number",
    ),
    Place(
        name="Scotland", law="Scotland", court="the Scottish courts", currency="GBP", weight=1,
        cultures=("celtic", "anglo", "nordic"),
        streets=("Shore Road", "Kirk Wynd", "Bonnygate", "Harbour Terrace", "Castle Brae"),
        cities=("Inverness IV1 1HY", "Dundee DD1 4BJ", "Perth PH1 5TF"),
        address="{n} {street}, {city}",
        company_forms=(("Limited", "a company incorporated in Scotland"), ("plc", "a public company incorporated in Scotland")),
        lender_forms=(("{stem} Merchant Bank plc", "a bank"), ("{stem} Savings Bank", "a savings bank"), ("{stem} Finance Limited", "a finance house")),
        land=("the subjects at {address} registered in the Land Register under title number {title}",),
        benchmark="the base rate of the Bank of England",
        government=("The Scottish Ministers", "Student Awards Agency"), register="company number",
    ),
    Place(
        name="Ireland", law="Ireland", court="the courts of Ireland", currency="EUR", weight=2,
        cultures=("celtic", "anglo", "slavic"),
        streets=("Quay Street", "Abbey Road", "Bóthar na Trá", "Chapel Hill"),
        cities=("Galway H91 X2P3", "Sligo F91 K6T0", "Cork T12 W8E5"),
        address="{n} {street}, {city}",
        company_forms=(("DAC", "a designated activity company"), ("Limited", "a private company limited by shares"), ("plc", "a public limited company")),
        lender_forms=(("{stem} Bank DAC", "a licensed bank"), ("{stem} Asset Finance Limited", "a finance house"), ("{stem} Credit Union Limited", "a credit union")),
        land=("the dwelling house and plot at {address}, comprised in Folio {title}",),
        benchmark="three-month EURIBOR",
        government=("Minister for Further and Higher Education",), register="company number",
    ),
    Place(
        name="Germany", law="Germany", court="the courts at the Lender's seat", currency="EUR", weight=3,
        cultures=("german", "turkish", "slavic", "greek"),
        streets=("Lindenallee", "Hafenstraße", "Am Mühlbach", "Schillerplatz", "Gartenweg", "Bahnhofstraße"),
        cities=("73430 Aalen", "24103 Kiel", "01097 Dresden", "48143 Münster"),
        address="{street} {n}, {city}",
        company_forms=(("GmbH", "entered in the commercial register under HRB {register}"), ("AG", "a stock corporation, HRB {register}"), ("GmbH & Co. KG", "a limited partnership, HRA {register}"), ("UG (haftungsbeschränkt)", "entered under HRB {register}"), ("e.K.-Nachfolger OHG", "a general partnership, HRA {register}")),
        lender_forms=(("Sparkasse {stem}", "a public savings bank"), ("Volksbank {stem} eG", "a cooperative bank"), ("{stem}er Kreditanstalt AG", "a credit institution"), ("Bankhaus {person}", "a private bank"), ("{stem} Hypotheken AG", "a credit institution")),
        land=("the plot and house at {address}, land register of {stem}, folio {page}, parcel {book}/{lot}",),
        benchmark="three-month EURIBOR",
        government=("Bundesverwaltungsamt", "Land Niedersachsen, Ministerium für Wissenschaft und Kultur"), register="HRB",
    ),
    Place(
        name="Switzerland", law="Switzerland", court="the ordinary courts of the canton of Bern", currency="CHF", weight=1,
        cultures=("german", "french", "italian"),
        streets=("Seeweg", "Rue du Lac", "Kirchgasse", "Via Cantonale"),
        cities=("3600 Thun", "1820 Montreux", "6900 Lugano"),
        address="{street} {n}, {city}",
        company_forms=(("AG", "a company limited by shares"), ("GmbH", "a limited liability company"), ("Sàrl", "a limited liability company"), ("SA", "a company limited by shares")),
        lender_forms=(("{stem} Kantonalbank", "a cantonal bank"), ("Banque {person} SA", "a private bank"), ("{stem} Kredit AG", "a licensed lender")),
        land=("the property at {address}, land register sheet no. {book}",),
        benchmark="the compounded three-month SARON",
        government=("Kanton Bern, Amt für Ausbildungsbeiträge",), register="CHE",
    ),
    Place(
        name="Ontario", law="Ontario", court="the courts of Ontario", currency="CAD", weight=2,
        cultures=("anglo", "french", "south_asian", "east_asian"),
        streets=("Maple Grove Road", "King Street West", "Lakeshore Crescent", "Rue Laurier"),
        cities=("Kingston, ON K7L 2Z5", "Thunder Bay, ON P7A 4T2", "Guelph, ON N1H 3Y8"),
        address="{n} {street}, {city}",
        company_forms=(("Inc.", "a corporation under the laws of Ontario"), ("Ltd.", "an Ontario corporation"), ("Ltée", "a federally incorporated company")),
        lender_forms=(("{stem} Bank of Canada", "a chartered bank"), ("Caisse populaire {stem}", "a financial cooperative"), ("{stem} Mutual", "a mutual lender"), ("{stem} Trust", "a trust company")),
        land=("the lands and premises municipally known as {address} (PIN {book}-{page})",),
        benchmark="the Canadian prime rate",
        government=("Ministry of Colleges and Universities", "His Majesty the King in right of Ontario"), register="corporation number",
    ),
    Place(
        name="Queensland", law="Queensland", court="the courts of Queensland", currency="AUD", weight=2,
        cultures=("anglo", "italian", "greek", "east_asian"),
        streets=("Banksia Parade", "Esplanade", "Jacaranda Street", "Wattle Court"),
        cities=("Cairns QLD 4870", "Toowoomba QLD 4350", "Noosaville QLD 4566"),
        address="{n} {street}, {city}",
        company_forms=(("Pty Ltd", "ACN {acn}"), ("Limited", "ACN {acn}, a public company"), ("Holdings Pty Limited", "ACN {acn}")),
        lender_forms=(("{stem} Bank Limited", "an authorised deposit-taking institution"), ("{stem} Finance Pty Ltd", "a licensed credit provider"), ("{stem} Mutual Limited", "a mutual bank")),
        land=("Lot {lot} on SP {book}{page}, {address}", "the land and improvements at {address}, title reference {book}{page}"),
        benchmark="the bank bill swap rate",
        government=("Commonwealth of Australia, Department of Education",), register="ACN",
    ),
    Place(
        name="Singapore", law="Singapore", court="the courts of Singapore", currency="SGD", weight=1,
        cultures=("east_asian", "south_asian", "malay", "anglo"),
        streets=("Tanjong Rhu Road", "Jalan Senyum", "Keong Saik Lane", "Upper Boon Keng Link"),
        cities=("Singapore 436897", "Singapore 089145", "Singapore 380014"),
        address="{n} {street}, {city}",
        company_forms=(("Pte. Ltd.", "a company incorporated in Singapore, UEN {acn}"), ("Limited", "a public company incorporated in Singapore")),
        lender_forms=(("{stem} Bank Limited", "a licensed bank"), ("{stem} Finance Ltd", "a licensed finance company"), ("{stem} Overseas Banking Corporation", "a licensed bank")),
        land=("the apartment at {address} (Strata Lot U{book}{lot})",),
        benchmark="the compounded SORA",
        government=("Ministry of Education",), register="UEN",
    ),
    Place(
        name="India", law="India", court="the courts at Pune", currency="INR", weight=2,
        cultures=("south_asian",),
        streets=("Lakshmi Path", "Church Gate Road", "Station Road", "Tilak Marg"),
        cities=("Pune 411004", "Kochi 682011", "Jaipur 302001"),
        address="{n} {street}, {city}",
        company_forms=(("Private Limited", "a company incorporated under the Companies Act, 2013"), ("Limited", "a public company limited by shares"), ("LLP", "a limited liability partnership")),
        lender_forms=(("{stem} Bank Limited", "a scheduled bank"), ("{stem} Gramin Bank", "a regional rural bank"), ("{stem} Finserve Limited", "a lender registered with the central bank"), ("{stem} Co-operative Bank Ltd", "a co-operative bank")),
        land=("Flat No. {lot}, {address} (Survey No. {book}/{lot})",),
        benchmark="the Lender's external benchmark linked rate",
        government=("Government of Maharashtra, Directorate of Higher Education",), register="CIN",
    ),
    Place(
        name="South Africa", law="South Africa", court="the High Court of South Africa", currency="ZAR", weight=1,
        cultures=("african", "anglo", "dutch", "south_asian"),
        streets=("Jakaranda Avenue", "Voortrekker Street", "Marine Drive", "Protea Close"),
        cities=("Stellenbosch 7600", "Durban 4001", "Polokwane 0699"),
        address="{n} {street}, {city}",
        company_forms=(("(Pty) Ltd", "a private company, registration number 20{lot}/{acn}/07"), ("CC", "a close corporation"), ("Limited", "a public company")),
        lender_forms=(("{stem} Bank Ltd", "a registered bank"), ("{stem} Credit Providers (Pty) Ltd", "a registered credit provider"), ("{person} Private Bank", "a registered bank")),
        land=("Erf {book}, situated at {address}, held under deed of transfer T{page}/20{lot}",),
        benchmark="the prime overdraft rate",
        government=("National Student Finance Fund of the Republic of South Africa",), register="registration number",
    ),
    Place(
        name="Netherlands", law="the Netherlands", court="the district court of Gelderland", currency="EUR", weight=1,
        cultures=("dutch", "turkish", "arabic"),
        streets=("Molenkade", "Oude Gracht", "Lindelaan"),
        cities=("6811 KM Arnhem", "3512 JE Utrecht", "9711 LM Groningen"),
        address="{street} {n}, {city}",
        company_forms=(("B.V.", "a private company with its seat in Arnhem"), ("N.V.", "a public company with its seat in Utrecht"), ("Coöperatie U.A.", "a cooperative")),
        lender_forms=(("{stem} Bank N.V.", "a bank"), ("{stem} Krediet B.V.", "a licensed lender"), ("Spaarbank {stem}", "a savings bank")),
        land=("the house with garden at {address}, cadastral number {book} section B no. {page}",),
        benchmark="three-month EURIBOR",
        government=("Dienst Uitvoering Studiefinanciering",), register="KvK number",
    ),
)  # fmt: skip
