# ruff: noqa: E501 -- passages of contracts stand on one line
"""Principal, rate, maturity and term: what marks a figure as the loan's, and what does not."""

import time
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovrag_core.extraction.quantities import add_months, parse_number, words_to_number
from ovrag_core.extraction.values import find_maturities, find_principals, find_rates, find_terms
from ovrag_core.types import Document


def document(text: str) -> Document:
    return Document(id="d", text=text)


def principal(text: str) -> tuple[Decimal, str] | None:
    found = find_principals(document(text))
    for value in found:
        assert 0 <= value.start <= value.value_start < value.value_end <= value.end <= len(text)
        assert value.end - value.start <= 400
    return (found[0].amount, found[0].currency) if found else None


def rate(text: str) -> Decimal | str | None:
    found = find_rates(document(text))
    return None if not found else "variable" if found[0].variable else found[0].percent


def maturity(text: str) -> str | None:
    found = find_maturities(document(text))
    return found[0].date if found else None


@pytest.mark.parametrize(
    ("figures", "value"),
    [
        ("1,340,000.00", "1340000.00"),
        ("18.500,00", "18500.00"),
        ("1'250'000", "1250000"),
        ("12,50,000", "1250000"),
        ("2 750 000", "2750000"),
        ("6,29", "6.29"),
        ("1.750", "1750"),
        ("2.75", "2.75"),
    ],
)
def test_numbers_of_all_countries(figures: str, value: str) -> None:
    assert parse_number(figures) == Decimal(value)


def test_numbers_in_words() -> None:
    assert words_to_number("two hundred seventy-five thousand") == 275_000
    assert words_to_number("One Million Three Hundred and Forty Thousand") == 1_340_000
    assert words_to_number("two crore fifty lakh") == 25_000_000
    assert words_to_number("some money") is None


@pytest.mark.parametrize(
    ("text", "amount", "currency"),
    [
        ("Principal Amount:\nUSD 254,000.00\nEstimated payment:\nUSD 1,618.89\n", 254_000, "USD"),
        (
            "the Bank shall lend the Company One Million Four Hundred Thousand Dollars ($1,400,000.00) in one advance.",
            1_400_000,
            "USD",
        ),
        ("A term loan of £2.75 million, less an arrangement fee of £9,000.", 2_750_000, "GBP"),
        ("Sum advanced:       EUR 410,000\nArrangement fee:    EUR 2,050\n", 410_000, "EUR"),
        ("Net loan amount: 18.500,00 EUR\nInstalments: 60 of 360,16 EUR each\n", 18_500, "EUR"),
        ('"Commitment" means $25,000,000. Each Advance shall be for at least $250,000.', 25_000_000, "USD"),
        ("The Financier shall advance A$4,800,000 to the Borrower. A fee of A$72,000 is deducted.", 4_800_000, "AUD"),
        (
            "Limit | Rs. 2,50,00,000 |\nThe term loan of Rs. 40,00,000 availed from another society stands on its own terms.",
            25_000_000,
            "INR",
        ),
        ("Credit limit: $22,000.00 (Canadian dollars)\nToronto, Ontario, Canada\n", 22_000, "CAD"),
        ("1. Amount            ¥180,000,000\n2. Use               machines\n", 180_000_000, "JPY"),
        ("Amount               CHF 1'200'000.--\n", 1_200_000, "CHF"),
        ("promises to pay Karl Lind the sum of two hundred seventy-five thousand dollars.", 275_000, "USD"),
        (
            "$1,750,000.00                                  Rochester, May 3, 2025\n\nThe Obligor promises to pay.",
            1_750_000,
            "USD",
        ),
        ("Kreditbeløp\nLoan amount: NOK 1 250 000\n", 1_250_000, "NOK"),
    ],
)
def test_what_is_lent(text: str, amount: int, currency: str) -> None:
    assert principal(text) == (Decimal(amount), currency)


@pytest.mark.parametrize(
    "text",
    [
        "A late charge of $29 is due.",
        "Each month you must pay at least the greater of $35 or 1% of the balance.",
        "The Borrower shall pay an arrangement fee of $187,500.",
        "the entry of a judgment above $250,000 that remains unsatisfied",
        "keep consolidated tangible net worth above £18 million",
        "60 monthly payments of $470.38, beginning April 3, 2025",
        "Your unsecured loan of $8,000 from Oldport Bank is paid off with part of the money.",
    ],
)
def test_what_is_not_lent(text: str) -> None:
    assert principal(text) is None


@pytest.mark.parametrize(
    ("text", "percent"),
    [
        ("Interest. 5⅝ per cent per annum.", "5.625"),
        ("The Loan bears interest at six and nine-tenths percent (6.90%) per annum, fixed.", "6.90"),
        ("Interest runs at nine percent per annum on the unpaid balance.", "9"),
        ("Borrowing rate: 6,29 % p.a., bound for the whole term\nEffective annual rate: 6,47 % p.a.\n", "6.29"),
        ("Interest Rate (p.a.):\n4.2%\nTerm:\n348 months\n", "4.2"),
        (
            "Rate:               7.2% per annum, fixed\nInterest on late payments is charged at 1% per month until payment.",
            "7.2",
        ),
        ("ANNUAL PERCENTAGE RATE: 7.49%\n\nI promise to pay $5,000 with interest at 7.25% per year, fixed.", "7.25"),
        (
            "Interest is 9.35 per cent per annum, fixed. Interest on overdue money is increased by 3 per cent per annum.",
            "9.35",
        ),
        ("Default Rate: 14%\nInterest rate: 6 1/2 % per annum\n", "6.5"),
    ],
)
def test_the_contract_rate(text: str, percent: str) -> None:
    assert rate(text) == Decimal(percent)


@pytest.mark.parametrize(
    "text",
    [
        "Each Loan bears interest at the Adjusted Term SOFR Rate plus the Applicable Rate of 1.375% per annum.",
        "Your purchase rate varies with the Prime Rate; we add a margin of 12.74 percentage points.",
        "There is no fixed rate: interest is charged at the prime rate plus a margin of 2%.",
    ],
)
def test_a_variable_rate_is_no_figure(text: str) -> None:
    assert rate(text) == "variable"


def test_fees_and_ratios_are_no_rates() -> None:
    assert rate("An arrangement fee of 0.9 per cent, payable at drawdown.") is None
    assert rate("a premium of 1% of that amount") is None
    assert rate("SBA guarantees 75% of this loan to Lender.") is None


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Maturity Date:\nSeptember 17, 2054\n", "2054-09-17"),
        ("Dated 3 March 2025. The Borrower must pay out the debt on 10 March 2026.", "2026-03-10"),
        ('"Maturity Date" means January 31, 2029. Dated as of January 31, 2025.', "2029-01-31"),
        ("First / last:       1 May 2024 / 1 April 2029\n", "2029-04-01"),
        ("The final installment is due September 12, 2031, when any remaining balance is also due.", "2031-09-12"),
        ("first due 1 May 2025, last due 1 April 2030", "2030-04-01"),
        ("Principal is payable in a single sum on February 1, 2028.", "2028-02-01"),
        ("Repayment. In full on 30 June 2031. To be drawn by 30 June 2024.", "2031-06-30"),
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
        "This Agreement is dated as of March 17, 2025.",
        "if the prepayment is made before April 30, 2027, a premium of 1% is due",
        "audited statements for the fiscal year ended December 31, 2023",
        "The option was never exercised and expired on February 28, 2025.",
        "Date of birth: 4 May 1980",
    ],
)
def test_other_dates_are_no_maturity(text: str) -> None:
    assert maturity(text) is None


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("Term:\n348 months\n", 348),
        ("a loan for a term of five (5) years", 60),
        ("Repayment shall be made in sixty (60) equal monthly instalments.", 60),
        ("repayable over 7 years", 84),
    ],
)
def test_how_long_the_loan_runs(text: str, months: int) -> None:
    found = find_terms(document(text))
    assert found and found[0].months == months


def test_notice_periods_are_no_term() -> None:
    assert find_terms(document("on three months' notice, or within 12 months after the notice")) == []


def test_adding_months_keeps_to_the_month() -> None:
    assert add_months(date(2024, 1, 31), 1) == date(2024, 2, 29)
    assert add_months(date(2024, 11, 30), 3) == date(2025, 2, 28)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="0123456789 $€%.,/apinterest\nPrincipal:Mty2024JunLoan", max_size=300))
def test_offsets_stay_inside_any_text(text: str) -> None:
    for finder in (find_principals, find_rates, find_maturities, find_terms):
        for value in finder(document(text)):
            assert 0 <= value.start <= value.value_start < value.value_end <= value.end <= len(text)


def test_time_is_linear_in_hostile_text() -> None:
    for piece in ("1,", "$1,000 ", "interest at ", "twenty ", "1 May 2024 ", "%", "loan of ", "5% "):
        text = piece * (120_000 // len(piece))
        start = time.perf_counter()
        for finder in (find_principals, find_rates, find_maturities, find_terms):
            finder(document(text))
        assert time.perf_counter() - start < 60, piece


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
    best = find_principals(Document("d", text))[0]
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
    assert find_maturities(Document("d", text))[0].date == day


@pytest.mark.parametrize(
    "text",
    [
        "My Commission Expires January 31, 2009.\n",
        "5. First mortgage. The first charge on my home belongs to another bank and matures on April 1, 2028.\n",
        "Sum. USD 480,000, paid in one amount through our trust account on 20 June 2025.\n",
    ],
)
def test_other_days_are_no_maturity(text: str) -> None:
    assert not find_maturities(Document("d", text))


def test_the_contract_rate_is_told_from_an_advertised_one() -> None:
    text = "5.   Interest     7.00% per annum flat is our advertised reference only. The contract rate is 7.75% per annum.\n"
    assert find_rates(Document("d", text))[0].percent == Decimal("7.75")


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
    assert find_maturities(Document("d", text))[0].date == day


@pytest.mark.parametrize(
    "text",
    [
        "It shall complete the project by 31 March 2028; keep books; and insure.",
        "That financing was repaid on 30 June 2018.",
        "36 monthly payments of interest only, the first on 1 May 2026.",
    ],
)
def test_days_of_works_and_of_old_debts_are_no_maturity(text: str) -> None:
    assert find_maturities(Document("d", text)) == []


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
    best = find_principals(Document("d", text))[0]
    assert (best.amount, best.currency) == (amount, currency)


def test_a_rate_by_the_month_gives_way_to_the_same_by_the_year() -> None:
    rates = find_rates(
        Document("d", "On what you leave unpaid we charge 1.75 per cent for each month, that is 21 per cent a year.")
    )
    assert rates[0].percent == 21
