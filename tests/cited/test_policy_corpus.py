"""Paragraphs keep their ids and places, and a corpus that was changed is refused."""

import json
from pathlib import Path

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from ovrag_core.base.errors import CorpusError, DocumentError
from ovrag_studies.cited.corpus.policies import PolicyCorpus, read_corpus, require_known
from ovrag_studies.cited.corpus.sources import text_digest


def _lines(*texts: str, doc: str = "canteen") -> str:
    return "".join(
        json.dumps(
            {
                "doc_id": doc,
                "source_file": f"{doc}.pdf",
                "page": 1,
                "paragraph_index": n,
                "paragraph_id": f"{doc}::p0001::i{n:04}::{text_digest(text)[:12]}",
                "text": text,
            }
        )
        + "\n"
        for n, text in enumerate(texts)
    )


def _corpus(tmp_path: Path, content: str) -> PolicyCorpus:
    file = tmp_path / "paragraphs.jsonl"
    file.write_text(content, encoding="utf-8")
    return read_corpus(file)


def test_offsets_point_to_the_text_of_each_paragraph(tmp_path: Path) -> None:
    given = ["Trays go back to the rack.", "No glass on the terrace."]
    corpus = _corpus(tmp_path, _lines(*given))
    texts = [corpus.documents["canteen"].text[each.start : each.end] for each in corpus.paragraphs]
    assert texts == [each.text for each in corpus.paragraphs] == given


def test_ids_survive_an_inserted_paragraph(tmp_path: Path) -> None:
    before = _corpus(tmp_path, _lines("Trays go back to the rack.", "No glass on the terrace."))
    after = _corpus(
        tmp_path, _lines("Opening hours are posted.", "Trays go back to the rack.", "No glass on the terrace.")
    )
    assert {each.id for each in before.paragraphs} < {each.id for each in after.paragraphs}


def test_the_same_paragraph_in_two_documents_is_one_piece_of_evidence(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, _lines("No glass.", "No glass.") + _lines("No glass.", doc="garden"))
    (paragraph,) = corpus.paragraphs
    assert [(each.doc_id, each.index) for each in paragraph.places] == [("canteen", 0), ("canteen", 1), ("garden", 0)]
    assert len({each.id for each in paragraph.places}) == 3
    assert {corpus.by_id[each.id] for each in paragraph.places} == {paragraph}


def test_a_changed_text_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"line 2.*was made for"):
        _corpus(tmp_path, _lines("Trays go back.", "No glass.").replace('"No glass."', '"Glass."'))


@pytest.mark.parametrize("content", ["", "{}\n", "no json\n", _lines("Twice.") * 2])
def test_files_that_are_no_corpus_are_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(CorpusError):
        _corpus(tmp_path, content)


def test_the_published_corpus(external_data: Path) -> None:
    corpus = read_corpus(external_data / "policy" / "dev" / "corpus" / "processed" / "paragraphs.jsonl")
    assert (len(corpus.paragraphs), len(corpus.documents)) == (176, 5)
    assert corpus.paragraphs[0].page == 1


def test_documents_give_the_paragraphs_that_were_published_of_them() -> None:
    folder = Path("data/samples/policy/corpus")
    made = {
        (place.doc_id, place.page, each.text)
        for each in read_corpus(folder / "raw").paragraphs
        for place in each.places
    }
    given = {(place.doc_id, place.page, each.text) for each in read_corpus(folder).paragraphs for place in each.places}
    assert made == given
    assert len(made) == 95


def test_the_published_documents_give_the_published_paragraphs(external_data: Path) -> None:
    folder = external_data / "policy" / "dev" / "corpus"
    made, given = read_corpus(folder / "raw"), read_corpus(folder)
    assert {(each.id, each.page, each.index, each.start) for each in made.paragraphs} == {
        (each.id, each.page, each.index, each.start) for each in given.paragraphs
    }


def _house(folder: Path) -> Path:
    folder.mkdir()
    (folder / "house.txt").write_text("House Rules\n\n1. Doors\n\nThe door is locked at ten at night.\n\nNo dogs.")
    (folder / "yard.txt").write_text("Rules of the yard\n\nThe door is locked at ten at night.\n")
    return folder


def test_headings_stand_with_what_follows_and_scraps_are_left_out(tmp_path: Path) -> None:
    corpus = read_corpus(_house(tmp_path / "house") / "house.txt")
    assert [each.text for each in corpus.paragraphs] == ["1. Doors The door is locked at ten at night."]


def test_long_paragraphs_are_cut_at_the_ends_of_sentences(tmp_path: Path) -> None:
    sentence = "The keeper of the gate writes down who comes and who goes at night."
    file = tmp_path / "gate.txt"
    file.write_text("Gate book\n\n" + " ".join([sentence] * 14))
    placed = sorted((place.index, each.text) for each in read_corpus(file).paragraphs for place in each.places)
    assert [len(text) for _, text in placed] == [339, 339, 271], "at most 400 characters"
    assert " ".join(text for _, text in placed) == " ".join([sentence] * 14), "nothing is lost"


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="both make a document house"):
        read_corpus(_house(tmp_path / "one"), _house(tmp_path / "two"))


def test_pages_that_are_images_are_named_and_documents_of_nothing_else_refused(tmp_path: Path) -> None:
    def draw(name: str, pages: list[str | None]) -> Path:
        page = Canvas(str(tmp_path / name), invariant=1)
        for text in pages:
            if text is None:
                page.drawInlineImage(Image.new("L", (60, 80), 200), 0, 0, 600, 800)
            else:
                page.drawString(72, 700, text)
            page.showPage()
        page.save()
        return tmp_path / name

    mixed = read_corpus(draw("mixed.pdf", ["Visitors sign the book at the desk.", None, "", "Keys are kept there."]))
    assert mixed.documents["mixed"].scanned == (2,)
    assert [each.page for each in mixed.paragraphs] == [1]
    with pytest.raises(DocumentError, match=r"scan\.pdf is scanned, without a text layer from page 1 on"):
        read_corpus(draw("scan.pdf", [None]))


def test_ids_that_the_corpus_lacks_are_listed(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, _lines("Trays go back to the rack."))
    require_known([corpus.paragraphs[0].id], corpus, "the run")
    with pytest.raises(CorpusError, match=r"the run names 2 paragraphs .*: a::1, b::2; "):
        require_known(["b::2", "a::1", corpus.paragraphs[0].id], corpus, "the run")
