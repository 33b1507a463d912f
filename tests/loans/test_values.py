# ruff: noqa: E501 -- passages of contracts stand on one line
"""Principal, rate, maturity and term: what marks a figure as the loan's, and what does not."""

from decimal import Decimal

import pytest
from growth import LINEAR, growth
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.loans.reading.values import DEFINED, find_values

# A single sentence that the judge of values misreads; what it misses in whole agreements is bounded in test_reading_bounds.


def principal(text: str) -> tuple[Decimal, str] | None:
    found = find_values(text).principals
    return (found[0].amount, found[0].currency) if found else None


def rate(text: str) -> Decimal | None:
    found = find_values(text).rates
    return found[0].percent if found else None


def maturity(text: str) -> str | None:
    found = find_values(text).maturities
    return found[0].date if found else None


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("Principal Amount:\nUSD 31,700.00\nEstimated payment:\nUSD 611.40\n", 31_700, "USD"),
        (
            "Harbour Bank lends Pellworm Works Six Hundred Fifty Thousand Dollars ($650,000.00), all on one day.",
            650_000,
            "USD",
        ),
        ("A term loan of £1.35 million, from which a fee of £4,500 is kept back.", 1_350_000, "GBP"),
        ("Sum advanced:       EUR 73,000\nSet-up fee:         EUR 365\n", 73_000, "EUR"),
        ("Net loan amount: 7.250,00 EUR\nTo be repaid: 36 times 219,80 EUR\n", 7_250, "EUR"),
        ('"Commitment" means $6,000,000. No Advance is smaller than $90,000.', 6_000_000, "USD"),
        ("The Funder shall advance A$310,000. It keeps A$1,900 of that for its costs.", 310_000, "AUD"),
        (
            "Limit | Rs. 1,20,00,000 |\nThe term loan of Rs. 35,00,000 from the weavers' bank is not touched by this sanction.",
            12_000_000,
            "INR",
        ),
        ("Credit limit: $8,300.00 (Canadian dollars)\nRegina, Saskatchewan, Canada\n", 8_300, "CAD"),
        ("1. Amount            ¥180,000,000\n2. Use               machines\n", 180_000_000, "JPY"),
        ("Amount               CHF 1'200'000.--\n", 1_200_000, "CHF"),
        ("promises to pay Karl Lind the sum of eighty-four thousand dollars.", 84_000, "USD"),
        (
            "$96,500.00                                  Millport, June 9, 2024\n\nThe Obligor promises to pay.",
            96_500,
            "USD",
        ),
        ("Kreditbeløp\nLoan amount: NOK 1 250 000\n", 1_250_000, "NOK"),
    ],
)
def test_what_is_lent(text: str, amount: int, currency: str) -> None:
    assert principal(text) == (Decimal(amount), currency)


def test_a_value_that_a_term_is_defined_for_comes_first() -> None:
    text = (
        'Each month brings $500 of the sum of Forty Thousand Dollars ($40,000) (this paper calls it the "Principal"), '
        'from 3 May 2024 until 2 June 2031 (the "Maturity Date"). Notice may be given on 1 May 2030.'
    )
    values = find_values(text)
    assert {(money.amount, money.probability) for money in values.principals[:2]} == {(Decimal(40_000), DEFINED)}
    assert (values.maturities[0].date, values.maturities[0].probability) == ("2031-06-02", DEFINED)


def test_a_value_that_a_term_means_comes_first() -> None:
    text = (
        'Each advance is $200,000 or more. "Aggregate Commitment" means the sum of $30,000,000 that the Bank may lend. '
        '"Termination Date" shall mean the earlier of the day of acceleration and March 3, 2031. '
        'This Agreement is made effective as of March 3, 2026 (the "Effective Date").'
    )
    values = find_values(text)
    assert (values.principals[0].amount, values.principals[0].probability) == (Decimal(30_000_000), DEFINED)
    assert [day.date for day in values.maturities] == ["2031-03-03"]


def test_of_sums_that_are_alike_the_largest_comes_first() -> None:
    text = "The Bank lends up to $25,000,000 by advances. The Bank lends up to $3,000,000 by letters of credit."
    assert {money.amount for money in find_values(text).principals[:1]} == {Decimal(25_000_000)}


@pytest.mark.parametrize(
    "text",
    [
        "Whoever pays late is charged $17.",
        "Your smallest payment a month is $20 or 2% of what you owe, whichever is more.",
        "The Company owes the Agent a structuring fee of $61,000.",
        "a court orders it to pay more than $80,000 and it does not",
        "see to it that the group's net assets are never worth less than £7 million",
        "36 monthly payments of $212.75, the first on July 9, 2024",
        "Your unsecured loan of $8,000 from Oldport Bank is paid off with part of the money.",
    ],
)
def test_what_is_not_lent(text: str) -> None:
    assert principal(text) is None


@pytest.mark.parametrize(
    ("text", "percent"),
    [
        ("Interest. 7⅜ per cent a year.", "7.375"),
        ("The Company pays interest of four and three-tenths percent (4.30%) per annum, which never moves.", "4.30"),
        ("On what is still owed, interest of eight percent per annum is due.", "8"),
        pytest.param(
            "Borrowing rate: 3,85 % p.a., fixed until the end\nEffective annual rate: 3,97 % p.a.\n",
            "3.85",
        ),
        ("Interest Rate (p.a.):\n8.9%\nTerm:\n52 months\n", "8.9"),
        (
            "Rate:               6.1% a year, unchanging\nOn sums not paid in time, 2% per month is added for as long as they are owed.",
            "6.1",
        ),
        ("ANNUAL PERCENTAGE RATE: 9.18%\n\nI will repay $2,600 with interest at 8.75% per year, fixed.", "8.75"),
        (
            "Interest is 10.4 per cent per annum throughout. Arrears cost 2 per cent per annum more than that.",
            "10.4",
        ),
        ("Default Rate: 14%\nInterest rate: 6 1/2 % per annum\n", "6.5"),
    ],
)
def test_the_contract_rate(text: str, percent: str) -> None:
    assert rate(text) == Decimal(percent)


@pytest.mark.parametrize(
    "text",
    [
        "For each Interest Period the rate is Term SOFR and, on top of it, a margin of 1.65% per annum.",
        "The rate on purchases varies with the Prime Rate, 9.5 percentage points above it.",
        "There is no fixed rate: interest is charged at the prime rate plus a margin of 2%.",
    ],
)
def test_a_variable_rate_is_no_figure(text: str) -> None:
    assert rate(text) is None


def test_fees_and_ratios_are_no_rates() -> None:
    assert rate("When the money is drawn, a fee of 0.6 per cent falls due.") is None
    assert rate("an extra charge of 2% of the sum so repaid") is None
    assert rate("SBA guarantees 75% of this loan to Lender.") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Maturity Date:\nFebruary 9, 2041\n", "2041-02-09"),
        ("Dated 8 June 2024. The Obligor shall pay out what it owes on 21 July 2025.", "2025-07-21"),
        ('Signed as of August 4, 2023. "Maturity Date" means August 4, 2030.', "2030-08-04"),
        ("First / last:       9 July 2023 / 9 June 2027\n", "2027-06-09"),
        ("The final installment, with whatever is then still owed, is due October 6, 2033.", "2033-10-06"),
        ("the first due 9 July 2023, the last due 9 June 2027", "2027-06-09"),
        ("The whole principal is payable at one time, on November 22, 2029.", "2029-11-22"),
        ("Repayment. In full on 14 May 2032, if drawn before 14 May 2026.", "2032-05-14"),
        ("The loan is repayable thirty-six (36) months from 31 May 2024.", "2027-05-31"),
        ("Final repayment date  01/04/2030\nDate of agreement  13/03/2025\n", "2030-04-01"),
        ("13 payments of $127.09, from April 4, 2025 to\nSeptember 19, 2025.", "2025-09-19"),
    ],
)
def test_when_the_last_falls_due(text: str, day: str) -> None:
    assert maturity(text) == day


@pytest.mark.parametrize(
    "text",
    [
        "The parties signed this Agreement on April 2, 2024.",
        "whoever prepays before June 3, 2028 pays 2% more",
        "its accounts of the year that closed on September 30, 2022, as audited",
        "Nobody used that option, which lapsed on January 15, 2024.",
        "Date of birth: 4 May 1980",
    ],
)
def test_other_dates_are_no_maturity(text: str) -> None:
    assert maturity(text) is None


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("Term:\n52 months\n", 52),
        ("a loan for a term of five (5) years", 60),
        ("Repayment shall be made in sixty (60) equal monthly instalments.", 60),
        ("repayable over 7 years", 84),
    ],
)
def test_how_long_the_loan_runs(text: str, months: int) -> None:
    found = find_values(text).terms
    assert found and found[0].months == months


def test_notice_periods_are_no_term() -> None:
    assert find_values("on three months' notice, or within 12 months after the notice").terms == []


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="0123456789 $€%.,/apinterest\nPrincipal:Mty2024JunLoan", max_size=300))
def test_offsets_stay_inside_any_text(text: str) -> None:
    for values in find_values(text):
        for value in values:
            assert 0 <= value.start < value.end <= len(text)


@pytest.mark.parametrize("piece", ["1,", "$1,000 ", "interest at ", "twenty ", "1 May 2024 ", "%", "loan of ", "5% "])
def test_time_is_linear_in_hostile_text(piece: str) -> None:
    def read(text: str) -> None:
        find_values(text)

    read(piece)  # what is read once is not measured
    assert growth(read, lambda size: piece * (size // len(piece)), 3_000) < LINEAR


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("2. Sum. NZ$480,000, paid in one amount.\n", "480000", "NZD"),
        ("| Total Loan Amount| Interest Rate |\n| $14,000.00 | 6.49% fixed |\n", "14000.00", "USD"),
        (" 2  Total amount of credit ..... EUR 22,000.00\n", "22000.00", "EUR"),
        ("How much?   EUR 5,200, sent to the account.\n", "5200", "EUR"),
        ("Your limit is N750,000. As you pay, it comes back.\n", "750000", "NGN"),
        (" 2. Amount. TT$285,000.00, which the Lender paid out.\n", "285000.00", "TTD"),
        ("The Lender lends the sum of R3 750 000 (three million\n    seven hundred and fifty thousand rand).\n", "3750000", "ZAR"),
        ("Amount  £9,600\n\nOther advances\n\nYou had a season ticket loan of £1,148 from us, which ran out.\n", "9600", "GBP"),
    ],
)  # fmt: skip
def test_principals_in_forms_of_other_drafters(text: str, amount: str, currency: str) -> None:
    best = find_values(text).principals[0]
    assert (best.amount, best.currency) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2.  Duration. To 28 February 2027.\n", "2027-02-28"),
        (" 7  First / last instalment .... 05.04.2026 / 05.03.2032\n", "2032-03-05"),
        ("4. TENOR     36 months, to 1st July 2028\n", "2028-07-01"),
        ("Over and done by         30 June 2028\n", "2028-06-30"),
        ("The Company may draw, pay back, and draw again, to 16 October 2027.\n", "2027-10-16"),
    ],
)
def test_maturities_in_forms_of_other_drafters(text: str, day: str) -> None:
    assert find_values(text).maturities[0].date == day


@pytest.mark.parametrize(
    "text",
    [
        "My Commission Expires January 31, 2009.\n",
        pytest.param(
            "5. First mortgage. The first charge on my home belongs to another bank and matures on April 1, 2028.\n",
        ),
        "Sum. USD 480,000, paid in one amount through our trust account on 20 June 2025.\n",
    ],
)
def test_other_days_are_no_maturity(text: str) -> None:
    assert not find_values(text).maturities


def test_the_contract_rate_is_told_from_an_advertised_one() -> None:
    text = "5.   Interest     7.00% per annum flat is our advertised reference only. The contract rate is 7.75% per annum.\n"
    assert find_values(text).rates[0].percent == Decimal("7.75")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Repayment in thirty-six equal monthly instalments. The first falls on 15 May 2026.", "2029-04-15"),
        (
            "The Borrower repays by eight payments at intervals of three months. The first is on 4 February 2026.",
            "2027-11-04",
        ),
        ("Sums fall due quarterly, save that the last is not to be later than 27 February 2032.", "2032-02-27"),
        (
            "Repayment         : 60 monthly instalments of Rs. 900 from\n                    10.04.2026 to 10.03.2031\n",
            "2031-03-10",
        ),
        ("Interest on July 1. All principal on February 15, 2027.", "2027-02-15"),
    ],
)
def test_the_last_instalment_is_reckoned_or_read(text: str, day: str) -> None:
    assert find_values(text).maturities[0].date == day


@pytest.mark.parametrize(
    "text",
    [
        "It shall complete the project by 31 March 2028; keep books; and insure.",
        "That financing was repaid on 30 June 2018.",
        "36 monthly payments of interest only, the first on 1 May 2026.",
    ],
)
def test_days_of_works_and_of_old_debts_are_no_maturity(text: str) -> None:
    assert find_values(text).maturities == []


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("The Ministry lends the Enterprise eleven million rupees (SCR 11,000,000).", 11_000_000, "SCR"),
        ("The Lender grants a student loan of MDL 186,000.", 186_000, "MDL"),
        (
            "It will finance vehicles for the Dealer's stock up to R14 000 000 outstanding at any one time.",
            14_000_000,
            "ZAR",
        ),
        (
            "The term loan of 2022, of EUR 1,200,000, was repaid. Holding puts at the disposal of the Subsidiary a maximum of EUR 3,000,000.",
            3_000_000,
            "EUR",
        ),
        (
            'Its house bank (the "Senior Bank") is to lend it CHF 6 million. The Lender lends the Company CHF 1,750,000.',
            1_750_000,
            "CHF",
        ),
        (
            "Q2. How much, and for what?\n    KRW 40,000,000. It is to help you move.\n\nQ9. Your bank?\n    Harbour Bank has lent you KRW 110,000,000.",
            40_000_000,
            "KRW",
        ),
    ],
)
def test_principals_among_other_debts(text: str, amount: int, currency: str) -> None:
    best = find_values(text).principals[0]
    assert (best.amount, best.currency) == (amount, currency)


def test_a_rate_by_the_month_gives_way_to_the_same_by_the_year() -> None:
    assert rate("On what you leave unpaid we charge 1.75 per cent for each month, that is 21 per cent a year.") == 21
