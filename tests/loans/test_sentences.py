"""Sentences, rows and headings: what a unit is, and that every offset leads back to the original text."""

from growth import LINEAR, growth
from hypothesis import given
from hypothesis import strategies as st

from ovrag_core.loans.reading.sentences import plain_text, ticked_only, units


def pieces(text: str) -> list[tuple[str, str, str]]:
    plain = plain_text(text)
    return [(unit.kind, unit.label, plain.text[unit.start : unit.end]) for unit in units(plain.text)]


def test_a_label_and_its_value_are_one_row_on_one_line_or_two():
    for text in (
        "Security: none",
        "Security:\nnone",
        "Security      none",
        "| Security | none |",
        "**Security:** none",
    ):
        kinds = pieces("LOAN TERMS\n\n" + text + "\n\nThe borrower repays monthly.")
        rows = [(label, passage) for kind, label, passage in kinds if kind == "row"]
        assert [label for label, _ in rows] == ["Security"], text
        assert "none" in rows[0][1]


def test_two_rows_on_one_line_are_two():
    rows = [piece for piece in pieces("Borrower: Ada Obi            Loan date: 3 May 2024\n") if piece[0] == "row"]
    assert [label for _, label, _ in rows] == ["Borrower", "Loan date"]


def test_a_wrapped_value_belongs_to_its_row_and_the_next_row_does_not():
    text = (
        "Collateral:   all machinery at the plant in Lowell, with tools, spare parts, manuals and\n"
        "              the proceeds of each\nPurpose:      new roof\n"
    )
    rows = [passage for kind, _, passage in pieces(text) if kind == "row"]
    assert len(rows) == 2
    assert rows[0].endswith("the proceeds of each")


def test_abbreviations_initials_and_amounts_do_not_end_a_sentence():
    text = "Oakhill Bank, N.A. and J. R. Mora, Inc. agree on U.S. $1,250.50 under loan no. 77. It is due in May."
    assert [passage for _, _, passage in pieces(text)] == [
        "Oakhill Bank, N.A. and J. R. Mora, Inc. agree on U.S. $1,250.50 under loan no. 77.",
        "It is due in May.",
    ]


def test_numbered_clauses_without_blank_lines_are_apart_and_run_in_titles_are_headings():
    text = "1. Interest. The rate is five per cent.\n2. Security. None.\n3. Law. Kansas law applies."
    found = pieces(text)
    assert ("row", "Security", "2. Security. None.") in found
    assert ("heading", "", "1. Interest") in found
    assert ("sentence", "", "The rate is five per cent.") in found


def test_a_paragraph_that_a_page_break_splits_is_one_sentence():
    text = "The Borrower shall pay the balance in equal\n\nmonthly instalments over five years."
    assert len(pieces(text)) == 1


def test_signature_lines_are_no_sentences():
    assert pieces("____________________  Director of the Borrower")[0][0] == "signature"


def test_options_that_are_not_ticked_are_blanked_and_offsets_stay():
    text = "Security: [ ] mortgage  [x] none\nPurpose: ☐ business ☑ private"
    ticked = ticked_only(text)
    assert len(ticked) == len(text)
    assert "mortgage" not in ticked
    assert "business" not in ticked
    assert ticked[text.index("none") :].startswith("none")
    assert "private" in ticked


def test_ligatures_invisible_characters_and_hyphenated_line_ends_are_made_plain():
    text = "The ob\u00adli\u200bgation is unse-\ncured and \ufb01xed\u202e."
    plain = plain_text(text)
    assert plain.text == "The obligation is unsecured and fixed."
    start = plain.text.index("unsecured")
    a, b = plain.original(start, start + len("unsecured"))
    assert text[a:b] == "unse-\ncured"
    start = plain.text.index("fixed")
    assert text[slice(*plain.original(start, start + 5))] == "\ufb01xed"


MESSY = st.text(alphabet=st.sampled_from("ab.A :;-\n\u00ad\ufb01\ufb03\u200b\u201c|[]x1_"), max_size=200)


@given(MESSY)
def test_every_plain_character_leads_back_to_where_it_came_from(text: str):
    plain = plain_text(text)
    for offset, character in enumerate(plain.text):
        a, b = plain.original(offset, offset + 1)
        assert 0 <= a < b <= len(text)
        source = text[a:b]
        assert character in source or source in "\ufb01\ufb03\u201c" or source.isspace() or character in "\"'- \n*"


@given(MESSY)
def test_units_are_in_order_never_overlap_and_lie_inside_the_text(text: str):
    plain = plain_text(text)
    end = 0
    for unit in units(plain.text):
        assert end <= unit.start < unit.end <= len(plain.text)
        assert unit.start <= unit.value_start <= unit.end
        end = unit.end


def test_a_long_agreement_is_cut_in_linear_time():
    clause = "Covenants. The Borrower shall keep its books in order and pay taxes."

    def agreement(size: int) -> str:
        return "\n\n".join(f"Section {number}. {clause}" for number in range(size // 80))

    def cut(text: str) -> int:
        return len(units(plain_text(text).text))

    assert cut(agreement(8_000)) >= 100
    assert growth(cut, agreement, 40_000) < LINEAR
