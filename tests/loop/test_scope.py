# ruff: noqa: E501 -- a passage is easier to read on one line
"""Whose debt, whose property, which facility, which time: passages in many voices, and what each says of its own loan.

The table was written before the reader had seen any of it. A passage of `SILENT` says nothing of the matter, one of
`STATED` says just what stands beside it.
"""

import pytest

from ovrag_core.loans.reading.claims import find_claims, settle
from ovrag_core.loans.reading.sentences import plain_text, units

MISREAD = pytest.mark.xfail(reason="the judge misreads the sentence where it stands alone")
SECURITY = {"SecuredLoan", "UnsecuredLoan"}
FORM = {"OpenEndCredit", "ClosedEndCredit"}
KIND = {"ConsumerLoan", "CommercialLoan"}

SILENT = [
    # whose debt: other creditors, other agreements
    (SECURITY, "The bonds the Company issued in Luxembourg are secured by a pledge over the shares of its subsidiary."),
    (SECURITY, "The debenture dated 4 May 2016 in favour of Northgate Bank plc secures the invoice finance line only."),
    (
        SECURITY,
        "My sister lent me 4,000 pounds last year without any security; that loan is not touched by this letter.",
    ),
    (
        SECURITY,
        "The vessel Aurora carries a preferred mortgage in favour of her builder, who is owed two million kroner.",
    ),
    (
        SECURITY,
        "Employees' wage claims and trade payables of the Borrower are unsecured and fall due in the ordinary course.",
    ),
    (
        SECURITY,
        "The obligations of the Borrower under its lease with Vanta Leasing are secured by a deposit of three months' rent.",
    ),
    (SECURITY, "The finance company has a charge on the delivery van under a hire purchase contract of 2022."),
    (
        SECURITY,
        "Indebtedness under the Senior Credit Agreement is secured by first priority liens on all assets of the Company.",
    ),
    pytest.param(SECURITY, "The shareholder loans are unsecured and rank behind what is owed here.", marks=MISREAD),
    (SECURITY, "Holders of the 2027 Notes have the benefit of a mortgage over the refinery."),
    (
        SECURITY,
        "Where the borrower also has an overdraft with us, that overdraft is repayable on demand and is unsecured.",
    ),
    (SECURITY, "The mother's mortgage on the family house is with another institution and continues as before."),
    # whose property, whose grant
    (
        SECURITY,
        "Each Lender may at any time charge, assign or otherwise create security over its rights to secure its own obligations.",
    ),
    (SECURITY, "The tenant has lodged a deposit with the landlord as security for the rent."),
    pytest.param(
        SECURITY,
        "The buyer of the machine will grant the Borrower a lien on it until the purchase price has been paid.",
        marks=MISREAD,
    ),
    (SECURITY, "The Borrower is owed 90,000 by Pell & Sons, which is secured by a mortgage over their mill."),
    # which time: past, conditional, future, release
    (
        SECURITY,
        "Until 2019 the Borrower banked with Alpine Trust, which held a mortgage over the hotel; it was discharged in that year.",
    ),
    pytest.param(
        SECURITY,
        "Should the cover ratio fall below 1.20, the Borrower shall within ten days charge its stock in trade to the Lender.",
        marks=MISREAD,
    ),
    (SECURITY, "If the rating falls, the Lender can ask for a pledge of the shares."),
    (SECURITY, "The parties considered a charge over the vineyard but did not proceed with it."),
    (SECURITY, "An earlier draft spoke of a pledge over the patents; the clause was struck out."),
    (
        SECURITY,
        "The mortgage will be given only when the land register entry has been corrected, and the parties will then sign a separate deed.",
    ),
    (SECURITY, "Any security that the Borrower may in future provide will extend to all sums due."),
    # definitions, covenants, form language, representations
    (
        SECURITY,
        "In this agreement security means a mortgage, charge, pledge, lien or any other interest securing an obligation.",
    ),
    (SECURITY, "The Borrower shall not, without consent, allow any mortgage or charge to exist over its factory."),
    (SECURITY, "No Liens exist on the assets of the Borrower except Permitted Liens."),
    (SECURITY, "References to a debt include any liability, whether secured or unsecured, actual or contingent."),
    pytest.param(
        SECURITY, "Delete whichever does not apply: the loan is secured / the loan is unsecured.", marks=MISREAD
    ),
    (
        SECURITY,
        "If the loan is secured, the borrower must insure the property; if it is unsecured, this paragraph does not apply.",
    ),
    (SECURITY, "The Borrower owns its assets free of any mortgage, charge or pledge."),
    (SECURITY, "The recipients of unsecured loans under the programme must file accounts each year."),
    pytest.param(SECURITY, "Our secured loans start at 6.9% and our unsecured loans at 9.9% APR.", marks=MISREAD),
    (SECURITY, "Judgment creditors may register a charge against your home whether or not the loan was secured."),
    (SECURITY, "The borrower's liability is joint and several and no security given by one releases the other."),
    (SECURITY, "Late payment may lead to a default notice, a county court judgment and a charging order on your home."),
    # which facility
    (
        FORM,
        "The Borrower also has a revolving credit line of 50,000 with Merchant Bank, which this loan does not replace.",
    ),
    (FORM, "The overdraft of 2 April 2018 was repaid out of the proceeds of this loan."),
    (FORM, "Our flexible credit customers can draw, repay and draw again; ask us about it."),
    (
        FORM,
        '"Working Capital Facility" means the revolving credit facility made available to the Company by its house bank.',
    ),
    (FORM, "The lease of the press runs for 48 equal monthly payments of 950."),
    pytest.param(
        FORM, "If you later take our reserve account, amounts repaid to it may be drawn again.", marks=MISREAD
    ),
    (FORM, "The purchase price for the shop was paid in three equal instalments."),
    pytest.param(
        FORM, "The grant is paid out in four instalments by the ministry and need not be repaid.", marks=MISREAD
    ),
    (FORM, "Rent from the tenants is paid in twelve equal monthly instalments into the collection account."),
    (FORM, "Your insurance premium of 240 is payable in 12 equal monthly instalments."),
    (FORM, "Any purchase over 200 may be moved to a plan of six equal monthly instalments."),
    (FORM, "The Borrower asked for a revolving line; the committee declined it."),
    (FORM, "A payment that is later reversed is treated as never made and the sum is again owed."),
    (FORM, "The earlier term loan of 2017 was repayable in 60 monthly instalments and has been cleared."),
    # kinds
    pytest.param(
        KIND,
        "The Borrower's home is used for personal, family and household purposes and for no business.",
        marks=MISREAD,
    ),
    pytest.param(
        KIND, "If this loan is for personal, family or household purposes, the notice below applies.", marks=MISREAD
    ),
    (KIND, "The Bank lends in the ordinary course of its business."),
    (KIND, "The Lender carries on the business of a licensed credit provider."),
    (KIND, "Notices must be delivered on a business day during business hours."),
    (KIND, "We may share your personal data with our business partners for marketing."),
    (KIND, "Consumer credit legislation does not prevent us from charging default interest."),
    (KIND, "The guarantor's house serves as his private residence."),
    (KIND, "Our business loans have other conditions."),
]

STATED = [
    (
        {"SecuredLoan"},
        SECURITY,
        "For everything owed under these terms the bakery's oven and delivery van stand as security.",
    ),
    ({"SecuredLoan"}, SECURITY, "Until the last penny is paid the pawnbroker keeps the ring in his safe as a pledge."),
    (
        {"SecuredLoan"},
        SECURITY,
        "A first legal charge over 14 Mill Lane has been executed today in favour of the Lender as security for this loan.",
    ),
    ({"SecuredLoan"}, SECURITY, "The Borrower charges by way of floating charge all its undertaking to the Bank."),
    (
        {"SecuredLoan"},
        SECURITY,
        "The Advance is secured upon the flat at Rue Haute 9, which ranks after the mortgage of Banque Nord.",
    ),
    (
        {"SecuredLoan"},
        SECURITY,
        "What guarantees repayment is a hypothec in the lender's favour on lot 4 415 902 of the cadastre of Quebec.",
    ),
    ({"SecuredLoan"}, SECURITY, "Security offered: gold ornaments, 84 g, held in the branch vault"),
    ({"SecuredLoan"}, SECURITY, "The loan, unlike the overdraft, is secured by a mortgage of the orchard."),
    (
        {"SecuredLoan"},
        SECURITY,
        "I hand you the share certificates to hold against the loan until I have paid you back.",
    ),
    (
        {"SecuredLoan"},
        SECURITY,
        "If the debtor fails to pay, the creditor may sell the pledged tractor, which the debtor hereby pledges to him.",
    ),
    ({"UnsecuredLoan"}, SECURITY, "We hold no security of any kind for what you owe us."),
    ({"UnsecuredLoan"}, SECURITY, "The money is lent on trust; nothing has been pledged for it."),
    ({"UnsecuredLoan"}, SECURITY, "Security/collateral: not applicable"),
    ({"UnsecuredLoan"}, SECURITY, "This debt constitutes a direct, general and unsecured obligation of the Issuer."),
    (
        {"UnsecuredLoan"},
        SECURITY,
        "The lender has not asked for collateral and will have no claim on any particular asset.",
    ),
    (
        {"UnsecuredLoan"},
        SECURITY,
        "The Borrower has given no mortgage, pledge or other security for this Loan, and its other creditors' charges are unaffected.",
    ),
    ({"UnsecuredLoan"}, SECURITY, "Unlike your mortgage with us, this loan is not secured on your home."),
    (
        {"UnsecuredLoan"},
        SECURITY,
        "You are borrowing on an unsecured basis, which means that we cannot take your house or car.",
    ),
    (
        {"OpenEndCredit"},
        FORM,
        "Within the ceiling the society may take money, give it back and take it again as its season requires.",
    ),
    ({"OpenEndCredit"}, FORM, "Every repayment frees the like amount for new drawings until the line is cancelled."),
    (
        {"OpenEndCredit"},
        FORM,
        "You can use the available credit, pay it back and use it again for as long as the account is open.",
    ),
    ({"OpenEndCredit"}, FORM, "The credit is of the revolving kind."),
    ({"OpenEndCredit"}, FORM, "Subject to the limit, sums may be drawn and re-drawn at the customer's choice."),
    ({"OpenEndCredit"}, FORM, "This is an overdraft: you may go in and out of it as you like up to 3,000."),
    ({"ClosedEndCredit"}, FORM, "The sum is paid out once, and repaying it, early or late, opens no new credit."),
    ({"ClosedEndCredit"}, FORM, "Reborrowing is excluded."),
    (
        {"ClosedEndCredit"},
        FORM,
        "The loan shall be repaid by sixty equal monthly instalments of principal and interest.",
    ),
    ({"ClosedEndCredit"}, FORM, "What has been paid back cannot be called for a second time."),
    (
        {"ClosedEndCredit"},
        FORM,
        "The borrower repays the loan in 20 half-yearly instalments, the last on 30 June 2034.",
    ),
    ({"ClosedEndCredit"}, FORM, "Amounts prepaid shall not be available for redrawing."),
    ({"ClosedEndCredit"}, FORM, "This credit is not revolving, whatever the brochure on our Flexi account says."),
    ({"ConsumerLoan"}, KIND, "I will use the money for my household only and not in any trade or profession."),
    ({"ConsumerLoan"}, KIND, "The credit serves exclusively private ends of the borrower."),
    ({"ConsumerLoan"}, KIND, "You are taking this loan as a consumer."),
    ({"ConsumerLoan"}, KIND, "This is a regulated consumer credit agreement."),
    (
        {"CommercialLoan"},
        KIND,
        "The proceeds may be used for the business of the Borrower only and for no private purpose.",
    ),
    ({"CommercialLoan"}, KIND, "The loan is granted to finance the trading activities of the company."),
    ({"CommercialLoan"}, KIND, "The parties agree that this is a commercial transaction and not a consumer credit."),
    ({"CommercialLoan"}, KIND, "Funds are to be applied to the general corporate purposes of the Group."),
    (
        {"CommercialLoan"},
        KIND,
        "You declare that you borrow wholly or predominantly for the purposes of a business carried on by you.",
    ),
]


def stated(text: str, matter: set[str]) -> set[str]:
    """Classes of the matter that the text states."""
    plain = plain_text(text)
    return {claim.about for claim in settle(find_claims(text, plain, units(plain.text)))} & matter


@pytest.mark.parametrize(("matter", "text"), SILENT)
def test_other_debts_times_and_forms_say_nothing_of_this_loan(matter: set[str], text: str):
    assert stated(text, matter) == set()


@pytest.mark.parametrize(("expected", "matter", "text"), STATED)
def test_what_is_said_of_this_loan_is_heard(expected: set[str], matter: set[str], text: str):
    assert stated(text, matter) == expected
