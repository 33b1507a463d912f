"""Documents are read as a person reads them, their offsets can be trusted, and bad files get one clear sentence."""

import io
import logging
import zipfile
from pathlib import Path

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from pypdf import PdfReader, PdfWriter
from pypdf.generic import DecodedStreamObject, NameObject
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table

from ovrag_core.base.errors import DocumentError
from ovrag_core.documents import MAX_CHARACTERS, find, load

LEFT = (
    "The owner lets the boat to the hirer for the period named above. The hirer has seen the boat and found it sound. "
    "Sails and oars belong to the boat and are handed over with it. A list of them is signed by both on the first day."
)
RIGHT = (
    "The deposit is returned within ten days after the boat has been inspected. Damage is paid for out of the deposit, "
    "and what the deposit does not cover is paid by the hirer at once. Nothing is due for ordinary wear of the sails."
)


def canvas(path, **keywords):
    return Canvas(str(path), pagesize=A4, invariant=1, **keywords)


def wrap(text, width=38):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append(line.strip())
            line = ""
        line += word + " "
    return [*lines, line.strip()]


def flat(text):
    return " ".join(text.split())


def write_text_pdf(path, lines, **keywords):
    page = canvas(path, **keywords)
    for number, line in enumerate(lines):
        page.drawString(72, 780 - 14 * number, line)
    page.save()
    return path


def test_label_and_value_stand_on_one_line_however_the_table_was_drawn(tmp_path):
    rows = [["Daily Rate:", "EUR 85.00"], ["Period", "14 days"], ["Deposit:", "EUR 400.00"]]
    SimpleDocTemplate(str(tmp_path / "table.pdf"), invariant=1).build(
        [Paragraph("Terms", getSampleStyleSheet()["Heading1"]), Table(rows, colWidths=[150, 200])]
    )
    assert load(tmp_path / "table.pdf").text == "Terms\n\nDaily Rate: EUR 85.00\nPeriod  14 days\nDeposit: EUR 400.00"
    page = canvas(tmp_path / "by_column.pdf")
    for column in (0, 1):  # drawn column by column, as some generators do
        for row, cells in enumerate(rows):
            page.drawString(72 + 200 * column, 700 - 30 * row, cells[column])
    page.save()
    assert load(tmp_path / "by_column.pdf").text == "Daily Rate: EUR 85.00\nPeriod  14 days\nDeposit: EUR 400.00"


@pytest.mark.parametrize("shift", [0, 6])
def test_two_columns_of_prose_are_read_one_after_the_other(tmp_path, shift):
    page = canvas(tmp_path / "columns.pdf")
    page.drawString(72, 780, "Lease of a boat with sails and oars, in two columns, by and between the parties below")
    for number, (left, right) in enumerate(zip(wrap(LEFT), wrap(RIGHT), strict=False)):
        page.drawString(72, 740 - 14 * number, left)
        page.drawString(320, 740 - 14 * number - shift, right)
    page.drawString(72, 500, "This line runs across the whole page again, from the left margin to the right one.")
    page.save()
    text = flat(load(tmp_path / "columns.pdf").text)
    assert flat(LEFT) in text
    assert flat(RIGHT) in text
    assert (
        text.index("oars, in two") < text.index("The owner lets") < text.index("The deposit is") < text.index("across")
    )


def test_signature_blocks_side_by_side_are_read_block_by_block(tmp_path):
    page = canvas(tmp_path / "signatures.pdf")
    page.drawString(
        72, 780, "Signed by the parties on the day first written above, in two copies, one for each of them."
    )
    left = ["______________________", "By: Ada Byron", "Title: Director", "Date: ____________"]
    right = ["______________________", "By: Grace Hopper", "Title: Harbour Master", "Date: ____________"]
    for number in range(4):
        page.drawString(72, 700 - 20 * number, left[number])
        page.drawString(340, 700 - 20 * number, right[number])
    page.save()
    text = load(tmp_path / "signatures.pdf").text
    assert text.index("Ada Byron") < text.index("Director") < text.index("Grace Hopper") < text.index("Harbour Master")
    assert "Ada Byron  " not in text


def test_party_blocks_side_by_side_are_read_block_by_block(tmp_path):
    page = canvas(tmp_path / "parties.pdf")
    for number, (left, right) in enumerate([("OWNER:", "HIRER:"), ("Ada Byron", "Grace Hopper"), ("Ems", "Delft")]):
        page.drawString(72, 700 - 16 * number, left)
        page.drawString(340, 700 - 16 * number, right)
    page.save()
    assert flat(load(tmp_path / "parties.pdf").text) == "OWNER: Ada Byron Ems HIRER: Grace Hopper Delft"


def test_a_table_of_three_columns_stays_in_rows(tmp_path):
    rows = [["Date", "Amount", "Balance"], ["1 May", "100", "900"], ["1 June", "100", "800"], ["1 July", "100", "700"]]
    SimpleDocTemplate(str(tmp_path / "rows.pdf"), invariant=1).build([Table(rows, colWidths=[120, 120, 120])])
    assert load(tmp_path / "rows.pdf").text.splitlines()[2] == "1 June  100  800"


def test_hyphenated_ends_of_lines_ligatures_and_invisible_characters(tmp_path):
    lines = ["This agree-", "ment is not an open-", "end one; see the indemni-", "fication."]
    write_text_pdf(tmp_path / "plain.pdf", lines)
    assert load(tmp_path / "plain.pdf").text == "This agreement\nis not an open-end\none; see the indemnification."
    page = tmp_path / "fancy.html"
    page.write_text("<p>The con\ufb01rmation\u200b is&nbsp;veri\u00ad\ufb01ed\u202e.</p>", encoding="utf-8")
    assert load(page).text == "The confirmation is verified."


def test_raised_marks_stay_in_their_line(tmp_path):
    page = canvas(tmp_path / "raised.pdf")
    text = page.beginText(72, 700)
    text.setFont("Helvetica", 12)
    text.textOut("The rate is variable")
    text.setRise(5)
    text.setFont("Helvetica", 7)
    text.textOut("a")
    text.setRise(0)
    text.setFont("Helvetica", 12)
    text.textOut(" and may rise.")
    page.drawText(text)
    page.save()
    assert load(tmp_path / "raised.pdf").text == "The rate is variablea and may rise."


def test_a_turned_page_and_text_in_a_form_are_read(tmp_path):
    page = canvas(tmp_path / "turned.pdf")
    page.saveState()
    page.translate(300, 100)
    page.rotate(90)
    page.drawString(0, 0, "First line across the sheet")
    page.drawString(0, -20, "Second line across the sheet")
    page.restoreState()
    page.showPage()
    page.beginForm("stamp")
    page.drawString(72, 700, "Inside a form")
    page.endForm()
    page.doForm("stamp")
    page.save()
    document = load(tmp_path / "turned.pdf")
    assert document.text == "First line across the sheet\nSecond line across the sheet\n\nInside a form"
    assert [page.number for page in document.pages] == [1, 2]


def test_pages_know_their_span(tmp_path):
    page = canvas(tmp_path / "pages.pdf")
    for number in range(1, 4):
        page.drawString(72, 700, f"This is page {number}.")
        page.showPage()
    page.showPage()
    page.save()
    document = load(tmp_path / "pages.pdf", "mine")
    assert document.id == "mine"
    assert document.page_at(document.text.index("page 2")) == 2
    assert [document.text[page.start : page.end] for page in document.pages] == [
        "This is page 1.",
        "This is page 2.",
        "This is page 3.",
        "",
    ]


def test_heads_and_page_numbers_do_not_break_sentences(tmp_path):
    page = canvas(tmp_path / "running.pdf")
    bodies = ["The hirer may sail the boat and", "may moor it anywhere.", "Nothing else is agreed."]
    for number, body in enumerate(bodies, start=1):
        page.drawString(72, 800, "Lease of a boat, copy for the owner")
        page.drawString(72, 700, body)
        page.drawString(290, 30, f"- {number} -" if number < 3 else "Page 3 of 3")
        page.showPage()
    page.save()
    assert load(tmp_path / "running.pdf").text == (
        "Lease of a boat, copy for the owner\n\nThe hirer may sail the boat and\nmay moor it anywhere.\n\n"
        "Nothing else is agreed."
    )


def test_wrapped_labels_keep_their_values(tmp_path):
    page = canvas(tmp_path / "wrapped.pdf")
    page.setFont("Helvetica", 11)
    rows = [
        (["Rate for the first", "three days"], ["EUR 85.00 a day, which may be raised"]),
        (["Deposit"], ["EUR 400.00"]),
    ]
    rows += [(["Fee for a late", "return"], ["EUR 20.00 for each hour", "that has begun"]), (["Fuel"], ["None"])]
    y = 700
    for labels, values in rows:
        shift = 6 * (len(labels) - len(values))  # values stand in the middle of their row
        for number, label in enumerate(labels):
            page.drawString(72, y - 12 * number, label)
        for number, value in enumerate(values):
            page.drawString(180, y - 12 * number - shift, value)
        y -= 36
    page.save()
    assert load(tmp_path / "wrapped.pdf").text == (
        "Rate for the first three days  EUR 85.00 a day, which may be raised\nDeposit  EUR 400.00\n"
        "Fee for a late return  EUR 20.00 for each hour\nthat has begun\n\nFuel  None"
    )


def test_plain_text_is_not_altered(tmp_path):
    path = tmp_path / "note.txt"
    for raw in (b"a\r\nb\rc\n\n\n  d \t\xef\xac\x81 ", b"\xef\xbb\xbfmarked", "Büro\u200b—€".encode()):
        path.write_bytes(raw)
        assert load(path).text == raw.decode("utf-8")


def test_windows_1252_and_utf_16_are_understood(tmp_path):
    path = tmp_path / "old.txt"
    path.write_bytes(b"The \x93Lender\x94 \x96 caf\xe9 \x81")
    assert load(path).text == "The “Lender” – café \x81"
    path.write_bytes("The “Lender”".encode("utf-16"))
    assert load(path).text.lstrip("\ufeff") == "The “Lender”"


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=1, max_size=300))
def test_any_bytes_are_read_or_refused_with_a_sentence(tmp_path_factory, raw):
    for suffix in ("txt", "pdf", "docx", "html"):
        path = tmp_path_factory.getbasetemp() / f"any.{suffix}"
        path.write_bytes(raw)
        try:
            assert load(path).text.strip()
        except DocumentError as error:
            assert path.name in str(error)
            assert "\n" not in str(error)


def test_html_shows_what_a_browser_shows(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(
        """<!DOCTYPE html><html><head><title>No</title><style>p{}</style><script>var no = 1;</script></head><body>
        <h1>Lease</h1><div style="display: none">hidden</div><p hidden>hidden</p>
        <p>One   paragraph with <b>bold</b>
        and a<br>break.</p><ul><li>first</li><li>second</li></ul>
        <table><tr><th>Daily Rate</th><td>EUR 85.00</td></tr><tr><td>Deposit:</td><td>$</td><td>400</td></tr>
        <tr><td>a</td><td>b b</td><td>c</td></tr><tr><td>(a)</td><td>item</td></tr>
        <tr><td>By: Ada<br>Title: Director</td><td>By: Grace<br>Title: Master</td></tr></table>
        tail</body></html>""",
        encoding="utf-8",
    )
    assert load(path).text == (
        "Lease\n\nOne paragraph with bold and a\nbreak.\n\nfirst\nsecond\n\nDaily Rate: EUR 85.00\nDeposit: $400\n"
        "a  b b  c\n(a) item\nBy: Ada\nTitle: Director\nBy: Grace\nTitle: Master\n\ntail"
    )


def test_html_in_a_text_file_is_html_and_a_declared_encoding_is_obeyed(tmp_path):
    path = tmp_path / "filing.txt"
    path.write_bytes(b'<html><head><meta charset="iso-8859-1"></head><body><p>caf\xe9</p></body></html>')
    assert load(path).text == "café"


def make_docx(path):
    made = docx.Document()
    made.add_heading("Lease of a boat", 1)
    made.add_paragraph("Before the table.")
    table = made.add_table(rows=2, cols=2)
    for row, cells in enumerate([("Daily Rate", "EUR 85.00"), ("Period:", "14 days")]):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    paragraph = made.add_paragraph("After the table, ")
    paragraph.add_run("secret").font.hidden = True
    paragraph.add_run("bold").bold = True
    made.save(str(path))
    return path


def test_docx_keeps_paragraphs_and_tables_in_order(tmp_path):
    path = make_docx(tmp_path / "lease.docx")
    assert load(path).text == (
        "Lease of a boat\n\nBefore the table.\n\nDaily Rate: EUR 85.00\nPeriod: 14 days\n\nAfter the table, bold"
    )


def test_sections_are_found_by_their_headings(tmp_path):
    path = tmp_path / "lease.txt"
    path.write_text(
        "LEASE OF A BOAT\n\nMade between the parties.\n\nSection 2: Terms\nSection 4 shall apply to them.\n\n"
        "3. Use of the Boat. The hirer may sail it.\n\n4.1 Deposit\nA deposit is paid.\n\nARTICLE V\nEnd\n\n"
        "General Terms\n\nNothing else has been agreed between the parties to this lease of a boat.\n",
    )
    document = load(path)
    assert [section.title for section in document.sections] == [
        "LEASE OF A BOAT",
        "Section 2: Terms",
        "3. Use of the Boat",
        "4.1 Deposit",
        "ARTICLE V",
        "General Terms",
    ]
    for section in document.sections:
        assert document.text[section.start :].startswith(section.title)
    assert document.sections[-1].end == len(document.text)


def encrypted(path):
    writer = PdfWriter(clone_from=PdfReader(write_text_pdf(path.with_name("open.pdf"), ["Text"])))
    writer.encrypt("secret")
    writer.write(path)


def scanned(path):

    page = canvas(path)
    page.drawInlineImage(Image.new("L", (60, 80), 200), 0, 0, 600, 800)
    page.save()


def scanned_object(path):

    picture = path.with_name("scan.png")
    Image.new("L", (60, 80), 200).save(picture)
    page = canvas(path)
    page.drawImage(str(picture), 0, 0, 600, 800)
    page.save()


def truncated(path):
    write_text_pdf(path, [f"Line {number} of a long page" for number in range(50)])
    path.write_bytes(path.read_bytes()[:-400])


def truncated_docx(path):
    make_docx(path)
    path.write_bytes(path.read_bytes()[:-2000])


def no_word_package(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")


def bomb(path):
    make_docx(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/document.xml"] = b"<a>" + b" " * 70_000_000 + b"</a>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def raw(content):
    return lambda path: path.write_bytes(content)


BAD_FILES = {
    "encrypted.pdf": (encrypted, "encrypted.pdf is encrypted; remove the password and try again"),
    "empty.pdf": (raw(b""), "empty.pdf is empty; check that it was saved completely"),
    "scan.pdf": (scanned, "scan.pdf is scanned, without a text layer from page 1 on; run text recognition (OCR) on it"),
    "scan2.pdf": (scanned_object, "scan2.pdf is scanned, without a text layer from page 1 on; run text recognition"),
    "cut.pdf": (truncated, "cut.pdf is truncated; fetch or save it again"),
    "note.pdf": (raw(b"Just a note"), "note.pdf is not a PDF but plain text; rename it to end in .txt and try again"),
    "junk.pdf": (raw(b"%PDF-1.7\n" + bytes(range(256)) * 9 + b"\nstartxref\n9\n%%EOF"), "junk.pdf is "),
    "note.docx": (raw(b"Just a note"), "note.docx is not a Word document but plain text"),
    "cut.docx": (truncated_docx, "cut.docx is truncated or damaged; fetch or save it again"),
    "files.zip.docx": (no_word_package, "files.zip.docx is an archive; unpack it and name the documents in it"),
    "bomb.docx": (bomb, "bomb.docx unpacks to 70 MB and was not opened"),
    "old.doc": (
        raw(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600),
        "old.doc is in an old Office format; save it as",
    ),
    "locked.docx": (
        raw(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")),
        "locked.docx is encrypted; remove the password and try again",
    ),
    "rich.txt": (raw(b"{\\rtf1 text}"), "rich.txt is in Rich Text Format; save it as DOCX or PDF"),
    "photo.pdf": (raw(b"\xff\xd8\xff\xe0" + b"\0" * 90), "photo.pdf is an image without text"),
    "program.txt": (raw(b"\x7fELF" + bytes(range(32)) * 40), "program.txt is not a document of a supported kind"),
    "spaces.txt": (raw(b" \n\t\n"), "spaces.txt holds no text; check that it is the right file"),
    "empty.html": (raw(b"<html><body><script>x</script></body></html>"), "empty.html holds no text"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_gets_one_clear_sentence(tmp_path, name, capfd, caplog):
    make, sentence = BAD_FILES[name]
    path = tmp_path / name
    make(path)
    with pytest.raises(DocumentError) as caught:
        load(path)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_pdf_without_any_text_is_not_called_scanned(tmp_path):
    page = canvas(tmp_path / "blank.pdf")
    page.showPage()
    page.save()
    with pytest.raises(DocumentError, match=r"blank\.pdf holds no text; check that it is the right file"):
        load(tmp_path / "blank.pdf")


def test_a_pdf_locked_only_for_changes_is_read(tmp_path):
    write_text_pdf(tmp_path / "open.pdf", ["Readable by everybody"])
    writer = PdfWriter(clone_from=PdfReader(tmp_path / "open.pdf"))
    writer.encrypt("", owner_password="owner", algorithm="AES-256")
    writer.write(tmp_path / "locked.pdf")
    assert load(tmp_path / "locked.pdf").text == "Readable by everybody"


def test_the_content_decides_not_the_suffix(tmp_path):
    path = write_text_pdf(tmp_path / "contract.txt", ["A PDF all the same"])
    assert load(path).text == "A PDF all the same"


def test_paths_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(DocumentError, match=r"nowhere\.pdf does not exist; check the path"):
        load(tmp_path / "nowhere.pdf")
    with pytest.raises(DocumentError, match="is a folder; name a file in it"):
        load(tmp_path)
    path = tmp_path / "mine.txt"
    path.write_text("text")
    with pytest.raises(DocumentError, match="cannot be read"):
        load(path / "below.txt")

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DocumentError, match=r"mine\.txt may not be read; change its permissions"):
        load(path)


def test_a_page_that_draws_absurdly_much_is_refused(tmp_path):
    content = b"BT /F1 9 Tf " + b"(a) Tj " * 210_000 + b"ET"
    page = canvas(tmp_path / "small.pdf")
    page.drawString(72, 700, "x")
    page.save()
    writer = PdfWriter(clone_from=PdfReader(tmp_path / "small.pdf"))
    stream = DecodedStreamObject()
    stream.set_data(content)
    writer.pages[0][NameObject("/Contents")] = writer._add_object(stream)
    writer.write(tmp_path / "absurd.pdf")
    with pytest.raises(DocumentError, match=r"absurd\.pdf draws too much on one page"):
        load(tmp_path / "absurd.pdf")


def test_the_longest_text_is_read_and_a_longer_one_refused(tmp_path):
    path = tmp_path / "long.txt"
    clause = "12. Interest. The Borrower shall pay interest on the Loan, monthly in arrears.\n\n"
    count = MAX_CHARACTERS // len(clause)
    path.write_text(clause * count)
    assert len(load(path).sections) == count
    path.write_text(clause * (count + 1))
    with pytest.raises(DocumentError, match=r"long\.txt holds more than 5,000,000 characters; split it"):
        load(path)


def test_find_lists_documents_in_order_and_passes_over_the_rest(tmp_path):
    for name in ("b.txt", "a.pdf", "c.xlsx", ".hidden.txt", "~$b.docx", "deep/d.HTML"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_text("x")
    assert [path.relative_to(tmp_path).as_posix() for path in find(tmp_path)] == ["a.pdf", "b.txt", "deep/d.HTML"]
    assert find(tmp_path / "c.xlsx") == [tmp_path / "c.xlsx"]
    with pytest.raises(DocumentError, match="does not exist"):
        find(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DocumentError, match="holds no document"):
        find(tmp_path / "empty")


def test_contracts_nobody_here_wrote(external_data):
    folder = external_data / "loan_thesis" / "contracts"
    paths = find(folder)
    assert len(paths) == 50
    for path in (paths[0], paths[24], paths[49]):
        document = load(path)
        lines = document.text.splitlines()
        amount = next(line for line in lines if line.startswith("Principal Amount:"))
        assert amount.startswith("Principal Amount: USD ")
        assert lines[lines.index("LENDER:") + 1]
        assert document.sections[0].title == "LOAN AGREEMENT"
        assert len(document.pages) >= 1
        signed = document.text[document.text.index("Signatures") :]
        assert signed.index("(Lender)") < signed.index("Date:") < signed.index("(Borrower)")


def test_a_text_made_of_pieces_reads_the_same_again(tmp_path):
    path = write_text_pdf(tmp_path / "twice.pdf", ["One line", "Another line"])
    assert load(path) == load(path)
    with io.BytesIO(path.read_bytes()) as copy:
        (tmp_path / "copy.pdf").write_bytes(copy.read())
    assert load(tmp_path / "copy.pdf").text == load(path).text
