"""The review page: what it marks and escapes, and how it looks in a narrow window and in print."""

import re
from itertools import pairwise, product
from pathlib import Path

from browser import open_browser, require_browser
from standins import BlackAndWhite, WordExtractor

from ovrag_core.app.review_page import review_page
from ovrag_core.base.types import Document
from ovrag_core.loans.deal import DealReview, Superseded
from ovrag_core.loans.grounds import Passage
from ovrag_core.loans.reviewing import Review, is_report, review, unchecked

LOOK = (Path(__file__).resolve().parents[2] / "ovrag_core/app/look.css").read_text(encoding="utf-8")


def of(text: str) -> tuple[Review, list[Document]]:
    document = Document("a.txt", text)
    return review(document, WordExtractor(), BlackAndWhite(), "stand-ins"), [document]


def test_the_page_marks_the_passages_and_escapes_the_text() -> None:
    page = review_page(
        [of("<script>alert(1)</script> \u202e is_Black & is_White"), (unchecked("b<b>.pdf", "it is <empty>", "m"), [])]
    )
    assert "<script>" not in page
    assert "\u202e" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count('<mark id="') == 2
    anchors = re.findall(r'id="([^"]+)"', page)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(anchors)
    assert "b&lt;b&gt;.pdf" in page and "it is &lt;empty&gt;" in page
    assert "http" not in page.replace("viewport", "")  # self-contained


def test_the_page_is_known_as_our_own(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(review_page([(unchecked("a.pdf", "empty", "m"), [])]), encoding="utf-8")
    assert is_report(tmp_path / "page.html")


def test_changes_of_a_deal_are_marked_in_the_document_that_has_them() -> None:
    documents = [Document("loan", "The rate is 5%."), Document("amendment", "It is 6% now.")]
    was, now = (Passage(quote=d.text, start=0, end=len(d.text), page=None, document=d.id) for d in documents)
    change = Superseded(fact="interest rate", was="5%", now="6%", was_said=was, by=now)
    deal = DealReview(document=("loan", "amendment"), label="CLEAN", model="m", seconds=0, superseded=(change,))
    page = review_page([(deal, documents)])
    assert '<mark id="d1t1c0" class="was">The rate is 5%.<sup>was</sup></mark>' in page
    assert '<mark id="d1t2c0" class="now">It is 6% now.<sup>now</sup></mark>' in page
    assert 'amendment, character 0, <a href="#d1t2c0">in the text</a>' in page


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2."""
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_have_the_contrast_of_wcag_aa() -> None:
    colours = dict(re.findall(r"--(\w+): (#\w+)", LOOK))
    grounds = ["#fff", colours["paper"], *re.findall(r"background: (#\w+)", LOOK)]
    for name, ground in product(("ink", "soft", "link", "clean", "unsure"), grounds):
        assert contrast(colours[name], ground) >= 4.5, f"{name} on {ground}"
    assert contrast("#fff", colours["clash"]) >= 4.5, "badge of a contradiction"
    assert min(contrast(colours["clash"], ground) for ground in grounds) >= 3, "its lines"


def test_a_narrow_window_shows_all_and_print_has_the_text(tmp_path: Path) -> None:
    require_browser()
    file = tmp_path / "review.html"
    file.write_text(review_page([of("it is_Black, " + "x" * 300)]), encoding="utf-8")
    with open_browser(tmp_path) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=380, height=900, deviceScaleFactor=1, mobile=False)
        page.call("Page.navigate", url=file.as_uri())
        page.wait("document.readyState == 'complete' && !!document.querySelector('.ovx')", 20)
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
        shown = "document.querySelector('.text').checkVisibility()"
        assert not page.evaluate(shown)
        page.call("Emulation.setEmulatedMedia", media="print")
        assert page.evaluate(shown), "although it was not unfolded"


def test_tables_have_heads_with_a_scope_and_headings_leave_no_level_out() -> None:
    page = review_page([of("is_Black is_White"), of("is_Black")])
    assert all("scope=" in head for head in re.findall(r"<th\b[^>]*", page))
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1 and all(level <= before + 1 for before, level in pairwise(levels))
    assert '<html lang="en">' in page
