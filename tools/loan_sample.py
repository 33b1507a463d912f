"""Set `data/samples/loans/agreement.pdf`, an invented agreement that contradicts itself: `python tools/loan_sample.py`.

It is what README.md and the docs are tried on. The same bytes at each call. `--picture` also makes
docs/pictures/review.png, the top of its review page, with Chromium.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

FILE = Path("data/samples/loans/agreement.pdf")
PICTURE = Path("docs/pictures/review.png")
TITLE = "Loan Agreement"
PARTIES = (
    "This agreement is made on 4 May 2026 between Alder Vale Savings Bank, 12 Quay Street, Whitby (the “Lender”) and "
    "Nora Quill, born on 9 March 1987, 3 Mill Lane, Whitby (the “Borrower”)."
)
CLAUSES = {
    "Loan": "The Lender lends the Borrower GBP 18,500.00, paid out in one sum on 11 May 2026. What is repaid cannot be "
    "drawn again.",
    "Purpose": "The money is for the Borrower’s own household: a new roof for the house in which she lives.",
    "Interest": "Interest is 6.4% per year on the outstanding balance, fixed for the whole term.",
    "Repayment": "The loan is repaid in 60 equal monthly instalments, the last of which falls due on 11 May 2031.",
    "Costs": "The Borrower pays no fee for this agreement. Early repayment is free of charge at the end of any month.",
    "Security": "This loan is unsecured, and the Lender has no claim on any property of the Borrower.",
    "Insurance": "The Borrower keeps the house at 3 Mill Lane insured against fire and storm for its full value.",
    "Charge": "For all sums due under this agreement the Borrower charges the house at 3 Mill Lane to the Lender by "
    "way of legal mortgage, to be registered before the loan is paid out.",
    "Law": "This agreement is governed by the law of England and Wales.",
}


def take_picture() -> None:
    """Review the file and show the top of the page."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "review.html"
        subprocess.run(["ovrag", "review", FILE, "--html", page], stdout=subprocess.DEVNULL, check=False)
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--hide-scrollbars",
        ]
        size = ["--window-size=1000,580", f"--screenshot={PICTURE.resolve()}"]
        subprocess.run(["chromium", *options, *size, page.as_uri()], stderr=subprocess.DEVNULL, check=True)


def main() -> None:
    """Write the file, and the picture where it is asked for."""
    styles = getSampleStyleSheet()
    story = [Paragraph(TITLE, styles["Title"]), Paragraph(PARTIES, styles["BodyText"])]
    for number, (heading, text) in enumerate(CLAUSES.items(), start=1):
        story += [Spacer(0, 0.2 * cm), Paragraph(f"<b>{number}. {heading}.</b> {text}", styles["BodyText"])]
    story += [
        Spacer(0, cm),
        Paragraph("Signed: Alder Vale Savings Bank &nbsp; · &nbsp; Nora Quill", styles["BodyText"]),
    ]
    FILE.parent.mkdir(parents=True, exist_ok=True)
    SimpleDocTemplate(str(FILE), pagesize=A4, title=TITLE, margin=2.5 * cm, invariant=True).build(story)
    print(FILE)
    if "--picture" in sys.argv[1:]:
        take_picture()


if __name__ == "__main__":
    main()
