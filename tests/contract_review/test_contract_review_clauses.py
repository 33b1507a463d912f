"""Clauses of contracts: how numbers nest, where they stand, and what looks like a clause and is none."""

from __future__ import annotations

import pytest
from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st

from ovrag_studies.contract_review.texts.clause_tree import ContractClause, find_clauses, label, path_at

PLAIN = """\
1. Definitions. In this Agreement:
1.1 "Goods" means the boats.
1.2 "Yard" means the yard in Leith.
2. Supply. The Seller shall (a) build the Goods; and (b) deliver them under Section 1.2 hereof.
3. Term and Termination
3.1 Term. Three years.
3.2 Termination. Either party may terminate:
(a) for breach, where
(i) it is material, and
(ii) it is not cured; or
(b) on notice.
"""


def shape(text: str) -> list[tuple[int, str, str]]:
    return [(clause.level, clause.number, clause.title) for clause in find_clauses(text)]


def test_numbers_nest_and_titles_are_read() -> None:
    assert shape(PLAIN) == [
        (0, "1", "Definitions"),
        (1, "1.1", ""),
        (1, "1.2", ""),
        (0, "2", "Supply"),
        (0, "3", "Term and Termination"),
        (1, "3.1", "Term"),
        (1, "3.2", "Termination"),
        (2, "a", ""),
        (3, "i", ""),
        (3, "ii", ""),
        (2, "b", ""),
    ]


@pytest.mark.parametrize(
    ("begun", "joined"),
    [("\n", "\n"), ("     ", "     "), ("\r\n", "\r\n"), ("\f", "\n\f"), ("\ufeff", "\n\t")],
)
def test_numbers_are_found_at_lines_and_after_blanks(begun: str, joined: str) -> None:
    text = begun + joined.join(["1. Price. Ten.", "2. Term. A year.", "2.1. Renewal. None.", "3. Law. Utah."])
    assert shape(text) == [(0, "1", "Price"), (0, "2", "Term"), (1, "2.1", "Renewal"), (0, "3", "Law")]


def test_lost_line_ends_do_not_hide_clauses() -> None:
    text = "ARTICLE 1 GRANT 1.1. Grant. It is granted. 1.2. Use. As seen fit. 2. FEES 2.1 Fee. Ten. 2.2 Tax. None."
    found = shape(text)
    assert [number for _, number, _ in found] == ["Article 1", "1.1", "1.2", "2", "2.1", "2.2"]


def test_references_sums_and_dates_begin_no_clause() -> None:
    text = "1. Price. The price is 4.5 million under Section\n9.3 below, due 12. March.\n2. Law. See Sections 1 and 2."
    assert [clause.number for clause in find_clauses(text)] == ["1", "2"]


def test_a_table_of_contents_is_no_clause() -> None:
    entries = ["ARTICLE I DEFINITIONS 1", "Section 1.1 Terms 1", "Section 1.2 Reading 2", "ARTICLE II SUPPLY 3"]
    entries += ["Section 2.1 Order 3", "Section 2.2 Boats; Yards 4"]
    body = "ARTICLE I\n\nDEFINITIONS\n\nSection 1.1 Terms. They are these.\n\nSection 1.2 Reading. As one reads.\n\n"
    body += "ARTICLE II\n\nSUPPLY\n\nSection 2.1 Order. In writing.\n\nSection 2.2 Boats; Yards. Both.\n"
    text = "AGREEMENT\n\nTABLE OF CONTENTS\n\n" + "\n\n".join(entries) + "\n\n" + body
    found = find_clauses(text)
    assert found[0].start == text.index(body)
    assert [clause.number for clause in found] == ["Article I", "1.1", "1.2", "Article II", "2.1", "2.2"]
    assert found[0].title == "DEFINITIONS"


@pytest.mark.parametrize("after", ["ii", "j"])
def test_the_letter_i_is_what_follows_says(after: str) -> None:
    letters = [*"abcdefgh", "i", after, *(["iii"] if after == "ii" else ["k"])]
    text = "1. List.\n" + "\n".join(f"({letter}) an item;" for letter in letters)
    levels = [level for level, _, _ in shape(text)]
    assert levels == [0, *[1] * 8, *[2 if after == "ii" else 1] * 3]


def test_two_numbers_at_once_are_two_levels() -> None:
    text = "1. Rights.\n(a)(i) the first, and (ii) the second;\n(b) the last."
    assert [(level, number) for level, number, _ in shape(text)] == [
        (0, "1"),
        (1, "a"),
        (2, "i"),
        (2, "ii"),
        (1, "b"),
    ]


def test_the_label_of_a_filing_is_no_clause_and_a_schedule_is() -> None:
    text = "Exhibit 10.17\n\nSUPPLY AGREEMENT\n\n1. Price. Ten.\n\n2. Law. Utah.\n\nSchedule A\n\n1. Boats\n\n2. Oars\n"
    assert [(level, number) for level, number, _ in shape(text)] == [
        (0, "1"),
        (0, "2"),
        (0, "Schedule A"),
        (1, "1"),
        (1, "2"),
    ]


def test_without_numbers_headings_are_the_clauses() -> None:
    text = "SUPPLY AGREEMENT\n\nPRICE\n\nThe price is ten.\n\nLAW\n\nThe law of Utah governs.\n"
    assert [clause.title for clause in find_clauses(text)] == ["SUPPLY AGREEMENT", "PRICE", "LAW"]


@pytest.mark.parametrize("text", ["", "   \n\f\n", "One line.", "just words without any number or heading in them"])
def test_there_may_be_none(text: str) -> None:
    assert find_clauses(text) == ()
    assert path_at((), 0) == ()


def test_the_clauses_of_a_place() -> None:
    clauses = find_clauses(PLAIN)
    inside = PLAIN.index("not cured")
    assert [clause.number for clause in path_at(clauses, inside)] == ["3", "3.2", "a", "ii"]
    assert label(path_at(clauses, inside)) == "3 Term and Termination > 3.2 Termination > a > ii"


def test_a_very_long_contract_is_read_in_time() -> None:
    text = "".join(f"\n{number}. Title {number}. " + "(a) words and words; (b) more. " * 20 for number in range(1, 500))
    assert len(find_clauses(text)) > 98


@pytest.mark.parametrize("unit", ["(a)(b)(c)", "(a)(i)(A)(1)", " ", "\xa0", "1. ", "1.1 A\n", "x ", "§"])
def test_time_grows_with_the_length_of_monotonous_text(unit: str) -> None:
    assert growth(find_clauses, lambda size: (unit * size)[:size], 40_000) < LINEAR
    assert max((clause.level for clause in find_clauses((unit * 40_000)[:40_000])), default=0) < 30


ADDRESSES = ["1 Main Street", "10 Cedar Road, Floor 2", "12 Rue Haute", "77 Lyndale Park", "1200 Main Street, Suite 4"]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize(
    "text",
    [
        "1. Price. Ten.\n2. Law. Utah.\n{}\nLeith\n3. End. Now.",
        "9. Notices. To the Yard:\n\n{}\nLeith\n\n10. Law. Utah.\n11. End. Now.\n12. Last. Then.",
        "9 Notices\nTo the Yard:\n{}\nLeith\n10 Law\nUtah.\n11 End\nNow.\n12 Last\nThen.",
        "{}\nLeith\n\n1. Price. Ten.\n2. Law. Utah.\n",
        "ARTICLE 1 PRICE\n1.1 Ten.\n1.2 Tax. None.\n{}\nLeith\nARTICLE 2 LAW\n2.1 Utah.",
        "{}\nLeith\n\n12 March 2020\n\nDear Sirs, we shall sell you the boats.\n",
        "NOTICES\n\nAs follows to the Seller.\n\n{}\n\nLAW\n\nThe law of Utah governs.\n",
    ],
)
def test_the_number_of_a_house_begins_no_clause(text: str, address: str) -> None:
    assert address not in [
        text.format(address)[each.start :].split("\n")[0] for each in find_clauses(text.format(address))
    ]
    without = [(each.number, each.title) for each in find_clauses(text.format("At the harbour"))]
    assert [(each.number, each.title) for each in find_clauses(text.format(address))] == without


def test_numbers_without_dots_are_clauses_where_they_stand_in_a_row() -> None:
    text = "1 Price\n1.1 Ten.\n2 Tax\nNone.\n3 Law\nUtah.\nSchedule 1\n1 Boats\nTwo.\n2 Oars\nFour.\n"
    numbers = ["1", "1.1", "2", "3", "Schedule 1", "1", "2"]
    assert [clause.number for clause in find_clauses(text)] == numbers
    unnamed = "1 Price\nTen.\n2 Law\nUtah.\nThe Boats\n1 Hull\nOak.\n2 Sail\nLinen.\n3 Oars\nTwo.\n"
    assert [clause.title for clause in find_clauses(unnamed)] == ["Price", "Law", "Hull", "Sail", "Oars"]


def test_numbers_of_pages_and_quantities_begin_no_clause() -> None:
    pages = "".join(f"{page}. Part {page}. Words.\n\n{page}   Source: YARD INC, 10-K\n\n" for page in range(1, 5))
    assert [number for _, number, _ in shape(pages)] == ["1", "2", "3", "4"]
    centred = "1. Price. Ten.\n\n2" + " " * 30 + "SIGNATURES\n\n3" + " " * 30 + "PRICES\n\n2. Law. Utah."
    assert [number for _, number, _ in shape(centred)] == ["1", "2"]
    goods = "1. Goods.\n1 Boat\n5 Oars\n1 Anchor\n10 Ropes\n5 Oars\n2. Law. Utah."
    assert [number for _, number, _ in shape(goods)] == ["1", "2"]


def test_lists_of_one_kind_do_not_nest_without_end() -> None:
    text = "1. Rights.\n" + "(a) a right; and (b) another.\n" * 6 + "2. Law. Utah."
    assert max(level for level, _, _ in shape(text)) == 2


@given(st.lists(st.sampled_from([*PLAIN.splitlines(), "(a)", "1.", "Section 2", "\f", "\u00ad", "12", "IV."])))
def test_clauses_are_in_order_and_nest(lines: list[str]) -> None:
    text = "\n".join(lines)
    clauses = find_clauses(text)
    assert all(0 <= clause.start < clause.end <= len(text) for clause in clauses)
    assert [clause.start for clause in clauses] == sorted({clause.start for clause in clauses})
    stack: list[ContractClause] = []
    for clause in clauses:
        while stack and stack[-1].level >= clause.level:
            assert stack.pop().end <= clause.start
        assert clause.level == (stack[-1].level + 1 if stack else 0)
        assert not stack or clause.end <= stack[-1].end
        stack.append(clause)
