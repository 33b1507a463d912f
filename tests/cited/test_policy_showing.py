"""An answer and its trace as HTML: nothing of a document or question is markup, and marks stand where findings are."""

from hypothesis import given
from hypothesis import strategies as st

from ovrag_studies.cited import showing
from ovrag_studies.cited.answering.quotations import CitedAnswer, CitedSentence, Removed, cite
from ovrag_studies.cited.arms import ArmParts
from ovrag_studies.cited.corpus.policies import FileParagraph, assemble
from ovrag_studies.cited.corpus.retrieval import CorpusIndex, RankedParagraph
from ovrag_studies.cited.critic.critic_rules import CriticFinding
from ovrag_studies.cited.records import PolicyRecord, record_of
from ovrag_studies.cited.settings import Policy

TEXT = "Dogs must be kept on a lead <b>at all times</b>."
CORPUS = assemble([FileParagraph("park", "park.txt", 2, 0, TEXT, None)], {"park": "0" * 64})


def result(*, silent: bool = False) -> PolicyRecord:
    paragraph = CORPUS.paragraphs[0]
    said = () if silent else (CitedSentence(TEXT, (cite(paragraph, 0, len(TEXT)),)),)
    made = CitedAnswer(
        "May dogs <i>run</i>?",
        said,
        (Removed("Cats may run.", "nothing in the evidence is like it"),),
        silent,
        "score 0.100 is below the certified threshold 0.700" if silent else "",
        0.1 if silent else 0.9,
    )
    components = {"requested": {"rerank": "cross-encoder"}, "ran": {"rerank": "sentences"}}
    evidence = [RankedParagraph(paragraph, 1.5, "sentences", 1)]
    return record_of("ours", made, evidence, made.confidence, threshold=0.7, **components)


PARTS = ArmParts(Policy(), CorpusIndex(CORPUS))


def test_an_answer_is_shown_with_its_quotation_what_ran_and_what_was_removed() -> None:
    page = showing.answer_html(result(), PARTS)
    assert "park, page 2, [0:48]" in page
    assert "<td>cross-encoder</td><td>sentences</td>" in page, "what was asked for stands beside what ran"
    assert "Removed: Cats may run." in page and "Score 0.900, answered from 0.700" in page
    assert "not calibrated" in page and "1.500" in page


def test_silence_is_shown_with_its_reason_and_without_checks() -> None:
    page = showing.answer_html(result(silent=True), PARTS)
    assert "Silent: score 0.100 is below the certified threshold 0.700" in page
    assert "Support" not in page and "park, page 2, [" not in page


def test_nothing_of_a_document_or_a_question_is_markup() -> None:
    page = showing.style() + showing.answer_html(result(), PARTS) + showing.message("<script>", "bad")
    assert type(page) is str and page.count("<style>") == 1, "joining does not escape what is HTML already"
    assert "<b>" not in page and "<i>" not in page and "<script>" not in page
    assert "&lt;b&gt;at all times" in page and '<p class="say bad">&lt;script&gt;' in page


def test_a_passage_is_marked_where_its_findings_are() -> None:
    text = "Everybody knows it is <so>."
    page = showing.criticism_html(text, [CriticFinding("L1", 0, 15, "appeals to all")])
    assert "<mark>Everybody knows<sup>L1</sup></mark> it is &lt;so&gt;." in page and "appeals to all" in page
    assert "Nothing found." in showing.criticism_html(text, [])


def test_what_turns_the_direction_of_text_stands_as_a_sign() -> None:
    page = showing.criticism_html("Pay \u202e001 EUR.", [])
    assert "Pay \ufffd001 EUR." in page


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=5))
def test_pieces_joined_are_the_text(text: str, spans: list[tuple[int, int]]) -> None:
    ends = [(min(one, other, len(text)), min(max(one, other), len(text))) for one, other in spans]
    findings = [CriticFinding("L3", start, end, "") for start, end in ends]
    cut = showing.pieces(text, findings)
    assert "".join(piece for piece, _ in cut) == text
    marked = sum(len(piece) for piece, labels in cut if labels)
    assert marked == len({at for start, end in ends for at in range(start, end)})
