"""Documents unlike those of the calibration: told by a p-value, and answered without a certificate or not at all."""

from pathlib import Path

import numpy
import pytest

from ovrag_core.base.errors import SettingsError
from ovrag_core.retrieval import minilm
from ovrag_studies.cited.answering.likeness import SIZES, UNLIKE, Likeness, load_likeness
from ovrag_studies.cited.answering.silence import BUNDLED, read_calibration
from ovrag_studies.cited.arms import ArmParts, ask
from ovrag_studies.cited.corpus.policies import FileParagraph, assemble, read_corpus
from ovrag_studies.cited.corpus.retrieval import CorpusIndex
from ovrag_studies.cited.records import PolicyRecord
from ovrag_studies.cited.settings import Policy, Silence

SAMPLES = Path("data/samples/policy/corpus/processed/paragraphs.jsonl")
LOAN = [
    "This Facility Agreement is made between Ardent Credit plc as Lender and Bellweather Mills Limited as Borrower.",
    "The Lender shall make available to the Borrower a term loan facility in a principal amount of GBP 400,000.",
    "Interest shall accrue on the Loan at the rate of 6.2 per cent. per annum and shall be payable quarterly.",
    "The Borrower shall repay the Loan in full on the Termination Date, together with all interest accrued.",
    "As security for the Loan the Borrower charges by way of first legal mortgage its premises at 9 Mill Lane.",
    "An Event of Default occurs where the Borrower fails to pay any sum on its due date.",
]


def answered(unlike: str) -> PolicyRecord:
    read = [FileParagraph("loan", "loan.txt", 1, row, text) for row, text in enumerate(LOAN)]
    index = CorpusIndex(assemble(read, {"loan": "0" * 64}))
    policy = Policy(silence=Silence.model_validate({"unlike": unlike}))
    parts = ArmParts(policy, index, read_calibration(BUNDLED))
    assert set(parts.unlike) == {"loan"}
    return ask(parts, "ours", "At which rate does interest accrue on the loan?")


def test_a_loan_agreement_is_unlike_and_bodies_of_rules_are_not() -> None:
    likeness, embed = load_likeness(), minilm().embed
    assert likeness.p_value(embed(LOAN)) <= UNLIKE
    corpus = read_corpus(SAMPLES)
    for document in corpus.documents:
        own = [each.text for each in corpus.paragraphs if each.places[0].doc_id == document]
        assert likeness.p_value(embed(own)) > UNLIKE, document


def test_an_answer_from_an_unlike_document_says_that_no_certificate_is_for_it() -> None:
    given = answered("noted")
    assert not given.silent and any("6.2 per cent" in each.text for each in given.sentences)
    (note,) = given.notices
    assert note.startswith("loan is unlike the documents that silence was calibrated on (p = 0.0")


def test_it_is_not_given_where_the_settings_say_so() -> None:
    given = answered("silent")
    assert given.silent and "unlike the documents" in given.reason


def test_documents_are_compared_with_as_many_paragraphs_of_the_known_ones() -> None:
    known = numpy.tile(numpy.arange(99, dtype=numpy.float32), (len(SIZES), 1)) + numpy.arange(len(SIZES))[:, None]
    likeness = Likeness(numpy.ones(1, numpy.float32), known)
    for count, row in ((2, None), (3, 0), (7, 1), (30, 3)):
        below = likeness.p_value(numpy.full((count, 1), -1, numpy.float32))
        assert below == (1.0 if row is None else 0.01)
        assert row is None or likeness.p_value(numpy.full((count, 1), row, numpy.float32)) == 0.02


def test_weights_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot be read; make it anew with tools/train_policy_likeness\.py"):
        load_likeness(tmp_path / "none.safetensors")
