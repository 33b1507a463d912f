"""Tables of facilities: each cell is of its own facility, whichever way the table lies."""

from __future__ import annotations

import pytest

from ovrag_core.base.types import Document
from ovrag_core.loans.reading.grids import facility_cells
from ovrag_core.loans.reading.reader import read

COLUMNS = """\
FACILITY AGREEMENT between Oderland Bank AG (the Lender) and Havel Timber GmbH (the Borrower)

                 | Facility A           | Facility B          | Facility C
-----------------+----------------------+---------------------+---------------
Kind             | term loan            | revolving overdraft | guarantee line
Amount           | EUR 3,000,000        | EUR 500,000         | EUR 250,000
Interest         | 5.10% fixed          | EURIBOR 3M + 2.00%  | not applicable
Repayment        | 20 equal quarterly   | by the last day     | on discharge
                 | instalments          |                     |
Last day         | 30 June 2031         | 30 June 2027        | 30 June 2027
Security         | land charge over the | none (unsecured)    | cash deposit
                 | sawmill at Lebus     |                     |

1. The Lender grants the Borrower the facilities in the table for its timber business.

2. (B) What is paid into the account may be drawn again up to the limit.
"""
ROWS = """\
| No. | Facility  | Limit      | Repayment       | Security                |
|-----|-----------|------------|-----------------|-------------------------|
| 1   | Term Loan | $2,000,000 | 60 instalments  | first mortgage on plant |
| 2   | Revolver  | $500,000   | on demand       | none                    |
"""


def test_columns_are_facilities_and_wrapped_cells_stay_in_theirs() -> None:
    cells = {(cell.facility, cell.term, COLUMNS[cell.start : cell.end]) for cell in facility_cells(COLUMNS)}
    assert ("Facility A", "Security", "sawmill at Lebus") in cells
    assert ("Facility B", "Security", "none (unsecured)") in cells
    assert ("Facility C", "Last day", "30 June 2027") in cells


def test_rows_are_facilities() -> None:
    cells = {(cell.facility, cell.term, ROWS[cell.start : cell.end]) for cell in facility_cells(ROWS)}
    assert ("Term Loan", "Security", "first mortgage on plant") in cells
    assert ("Revolver", "Limit", "$500,000") in cells


def test_each_facility_has_its_own_facts_and_no_contradiction_arises() -> None:
    facilities = {facility.name: facility for facility in read(Document("grid", COLUMNS)).facilities}
    loan, overdraft, line = (facilities[f"Facility {letter}"] for letter in "ABC")
    assert (loan.credit_form, overdraft.credit_form, line.credit_form) == ("closed-end", "open-end", "unstated")
    assert (loan.security, overdraft.security) == ("secured", "unsecured")
    assert loan.principal is not None and loan.principal.amount == 3_000_000
    assert overdraft.principal is not None and overdraft.principal.amount == 500_000
    assert (loan.maturity, overdraft.maturity) == ("2031-06-30", "2027-06-30")
    assert (loan.interest_rate, overdraft.interest_rate) == ("5.1%", None)


@pytest.mark.parametrize(
    "text",
    [
        "Month | Payment | Balance\n1 | 100.00 | 900.00\n2 | 100.00 | 800.00\n3 | 100.00 | 700.00\n",
        "Borrower | Anna Lind\nLender | Norrbank AB\nAmount | SEK 40,000\nSecurity | none\n",
        "A loan, a line and a card are three things.\nNone of them is a table.\nNor is this.\n",
    ],
)
def test_other_tables_and_prose_have_no_cells(text: str) -> None:
    assert facility_cells(text) == []
