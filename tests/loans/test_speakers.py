"""Who "I", "we" and "you" are."""

import pytest

from ovrag_core.loans.reading.speakers import speaker_roles


@pytest.mark.parametrize(
    ("text", "you", "we", "i"),
    [
        ("We lend you the sum below. You must repay it monthly.", "borrower", "lender", None),
        ("I promise to pay you the amount below. If I owe more, you may accelerate.", "lender", None, "borrower"),
        ("We promise to pay you on demand. We owe it jointly. You may require us to pay.", "lender", "borrower", None),
        ("Can I borrow it again? No. You repay it and we lend you nothing more.", "borrower", "lender", None),
        ("We pay the loan out when you have signed. You repay in May.", "borrower", "lender", None),
        ("The Borrower repays the Lender.", None, None, None),
    ],
)  # fmt: skip
def test_pronouns_are_told_by_what_they_do(text: str, you: str | None, we: str | None, i: str | None) -> None:
    roles = speaker_roles(text)
    assert (roles.get("you"), roles.get("we"), roles.get("i")) == (you, we, i)
