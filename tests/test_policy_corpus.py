"""Paragraphs keep their ids and places, and a corpus that was changed is refused."""

import json
from pathlib import Path

import pytest

from ovrag_core.errors import CorpusError
from ovrag_core.studies.policy.corpus import Corpus, read_corpus, text_hash


def _lines(*texts: str, doc: str = "canteen") -> str:
    return "".join(
        json.dumps(
            {
                "doc_id": doc,
                "source_file": f"{doc}.pdf",
                "page": 1,
                "paragraph_index": n,
                "paragraph_id": f"{doc}::p0001::i{n:04}::{text_hash(text)}",
                "text": text,
            }
        )
        + "\n"
        for n, text in enumerate(texts)
    )


def _corpus(tmp_path: Path, content: str) -> Corpus:
    file = tmp_path / "paragraphs.jsonl"
    file.write_text(content, encoding="utf-8")
    return read_corpus(file)


def test_offsets_point_to_the_text_of_each_paragraph(tmp_path: Path) -> None:
    corpus = _corpus(tmp_path, _lines("Trays go back to the rack.", "No glass on the terrace."))
    for paragraph in corpus.paragraphs:
        assert corpus.documents["canteen"].text[paragraph.start : paragraph.end] == paragraph.text


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
    assert {corpus.by_id()[each.id] for each in paragraph.places} == {paragraph}


def test_a_changed_text_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"line 2.*index the document anew"):
        _corpus(tmp_path, _lines("Trays go back.", "No glass.").replace('"No glass."', '"Glass."'))


@pytest.mark.parametrize("content", ["", "{}\n", "no json\n", _lines("Twice.") * 2])
def test_files_that_are_no_corpus_are_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(CorpusError):
        _corpus(tmp_path, content)


def test_the_published_corpus(external_data: Path) -> None:
    corpus = read_corpus(external_data / "policy" / "dev" / "corpus" / "processed" / "paragraphs.jsonl")
    assert (len(corpus.paragraphs), len(corpus.documents)) == (176, 5)
    assert corpus.paragraphs[0].page == 1
