"""Answers to the checklist: what is learned and saved, what a chat model quotes, and what bad input does."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from safetensors.numpy import save_file
from sklearn.ensemble import GradientBoostingClassifier

from ovrag_core.base.errors import CorpusError, QuestionError
from ovrag_core.base.types import Document, Usage
from ovrag_core.llm.chat import ChatModel, Completion, Request
from ovrag_core.retrieval.embedding import Vectors, minilm
from ovrag_core.text.passages import find_passages
from ovrag_studies.contract_review.answering.candidates import SpanCandidate, matches
from ovrag_studies.contract_review.answering.features import ContractReading, find_shorts, hashed_words, read
from ovrag_studies.contract_review.answering.learned import (
    ClauseModel,
    Trainer,
    default_model,
    digest,
    load_model,
    save_model,
)
from ovrag_studies.contract_review.answering.scorers import ABSENT, LearningSettings
from ovrag_studies.contract_review.answering.span_answers import (
    STATED,
    CategoryAnswers,
    by_chat,
    extractive,
    is_abstention,
    learned,
)
from ovrag_studies.contract_review.answering.trees import fit_trees, probabilities
from ovrag_studies.contract_review.retrieval.expansion import vocabulary
from ovrag_studies.contract_review.texts.datasets import ChecklistQuestion, Contract, load_cuad

LAW = "This Agreement shall be governed by the laws of the State of {}."
INSURANCE = "The Supplier shall keep insurance against all risks of {} at its own cost."
FILLER = (
    "The parties shall meet once in every month to talk about the work.",
    "The Supplier delivers the goods to the place that the Customer names.",
    "Invoices are paid within thirty days after they are received.",
    "Words in the singular include the plural.",
)
CATEGORIES = ("Governing Law", "Insurance", "Agreement Date", "Source Code Escrow")


class WordVectors:
    """Stands in for the sentence embedder: hashed words, folded to its width."""

    name = "words"

    def embed(self, texts: list[str]) -> Vectors:
        vectors = hashed_words(texts).toarray().reshape(len(texts), -1, 384 // 3 * 2).sum(axis=1)
        vectors = numpy.hstack([vectors, numpy.zeros((len(texts), 384 - vectors.shape[1]))])
        return (vectors / numpy.maximum(1e-9, numpy.linalg.norm(vectors, axis=1, keepdims=True))).astype(numpy.float32)


def make(number: int, *, insured: bool) -> Contract:
    place = ("Texas", "Ohio", "Iowa", "Utah", "Maine", "Nevada", "Oregon")[number % 7]
    day = f"March {number + 1}, 2019"
    law, insurance = LAW.format(place), INSURANCE.format(("fire", "flood", "theft")[number % 3])
    parts = [
        f"SUPPLY AGREEMENT {number}",
        f'This Supply Agreement is made as of {day} by and between Firm {number} Inc. ("Supplier") '
        'and Bay Ltd. ("Customer").',
    ]
    parts += [f"1. Work. {FILLER[number % 4]}", f"2. Payment. {FILLER[(number + 1) % 4]}"]
    parts += [f"3. Cover. {insurance}"] if insured else []
    parts += [f"4. Law. {law}", FILLER[3]]
    text = "\n\n".join(parts)

    def gold(piece: str) -> tuple[tuple[int, int], ...]:
        start = text.find(piece)
        return ((start, start + len(piece)),) if start >= 0 else ()

    wanted = {"Governing Law": gold(law), "Insurance": gold(insurance), "Agreement Date": gold(day)}
    questions = tuple(ChecklistQuestion(f"{number}-{each}", each, wanted.get(each, ())) for each in CATEGORIES)
    return Contract(Document(f"Filer {number:02d}_supply", text), questions)


@pytest.fixture(autouse=True)
def _no_shared_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def trainer(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("learned"))
        contracts = [make(number, insured=number % 2 == 0) for number in range(15)]
        return Trainer(contracts, CATEGORIES, WordVectors(), LearningSettings(iterations=15, answer_trees=30), 3)


@pytest.fixture(scope="module")
def model(trainer: Trainer) -> ClauseModel:
    return trainer.fit()


def answers_for(text: str, model: ClauseModel) -> dict[str, CategoryAnswers]:
    return {each.category: each for each in learned(read(text, WordVectors()), CATEGORIES, model)}


def test_a_new_contract_is_answered_with_spans_of_its_text(model: ClauseModel) -> None:
    contract = make(40, insured=True)
    found = answers_for(contract.document.text, model)
    law = found["Governing Law"].answers[0]
    assert "governed by the laws" in law.text
    assert contract.document.text[law.start : law.end] == law.text
    assert law.section == "4 Law"
    assert all(
        contract.document.text[each.start : each.end] == each.text for one in found.values() for each in one.answers
    )


def test_presence_tells_a_contract_with_the_clause_from_one_without(model: ClauseModel) -> None:
    insured, bare = (answers_for(make(40, insured=each).document.text, model) for each in (True, False))
    assert insured["Insurance"].present > bare["Insurance"].present


def test_a_date_is_answered_by_the_date_and_not_by_its_sentence(model: ClauseModel) -> None:
    found = answers_for(make(20, insured=True).document.text, model)["Agreement Date"]
    assert found.answers[0].text == "March 21, 2019"


def test_a_category_without_a_positive_is_scored_and_never_found(trainer: Trainer, model: ClauseModel) -> None:
    column = model.column("Source Code Escrow")
    assert (model.score(trainer.readings[0]).passages[:, column] == ABSENT).all()
    assert answers_for(make(40, insured=True).document.text, model)["Source Code Escrow"].present < 0.2


def test_an_unknown_category_is_refused_with_the_known_ones(model: ClauseModel) -> None:
    with pytest.raises(QuestionError, match="'Weather' is no category of the model; known are Governing Law"):
        learned(read("Some text.", WordVectors()), ["Weather"], model)


@pytest.mark.parametrize("text", ["", "   \n\n  ", "One line.", "\ufeff\f\x0c", "x" * 5000])
def test_contracts_of_hardly_a_line_are_answered(text: str, model: ClauseModel) -> None:
    found = answers_for(text, model)
    assert set(found) == set(CATEGORIES)
    assert all(0 <= each.present <= 1 for each in found.values())
    if not text.strip():
        assert all(not each.answers and each.present == 0 for each in found.values())


def test_out_of_fold_models_have_not_seen_the_contract_they_score(trainer: Trainer) -> None:
    measured = list(trainer.out_of_fold())
    assert len(measured) == len(trainer.contracts)
    for contract, _, model in measured:
        assert not model.was_trained_on(contract.document)
        assert contract.document.id not in dict(model.trained_on)


def test_a_contract_of_the_training_is_known_also_under_another_name(model: ClauseModel) -> None:
    seen = make(3, insured=False)
    renamed = replace(
        seen, document=replace(seen.document, id="renamed", text=seen.document.text.replace("\n\n", "\n"))
    )
    assert model.was_trained_on(seen.document) and model.was_trained_on(renamed.document)
    assert not model.was_trained_on(make(40, insured=True).document)


def test_a_saved_model_answers_as_before_and_holds_no_text(model: ClauseModel, tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    save_model(model, path)
    again = load_model(path)
    text = make(40, insured=True).document.text
    first, second = answers_for(text, model), answers_for(text, again)
    assert again.trained_on == model.trained_on
    for category in CATEGORIES:
        assert [each.text for each in second[category].answers][:1] == [each.text for each in first[category].answers][
            :1
        ]
        assert second[category].present == pytest.approx(first[category].present, abs=0.05)
    assert b"governed" not in path.read_bytes()
    other = tmp_path / "again.safetensors"
    save_model(again, other)
    assert other.read_bytes() == path.read_bytes()


def test_weights_of_another_layout_are_refused_in_one_line(model: ClauseModel, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    save_file({"a": numpy.zeros(1)}, other, metadata={"notes": '{"layout": "something else"}'})
    broken = tmp_path / "broken.safetensors"
    broken.write_bytes(b"no weights")
    short = tmp_path / "short.safetensors"
    save_file({"a": numpy.zeros(1)}, short, metadata={"notes": '{"layout": "contract-review clauses 2"}'})
    for path, message in ((other, "has the layout"), (broken, "cannot be read"), (short, "cannot be read")):
        with pytest.raises(CorpusError, match=message) as error:
            load_model(path)
        assert "\n" not in str(error.value)
    with pytest.raises(CorpusError, match="is missing"):
        load_model(tmp_path / "none.safetensors")


def test_one_contract_alone_cannot_be_learned_out_of_fold() -> None:
    trainer = Trainer([make(1, insured=True)], CATEGORIES, WordVectors(), LearningSettings(iterations=2))
    with pytest.raises(CorpusError, match="no contract is left to learn from"):
        trainer.fit()


def test_short_spans_are_dates_quotes_names_brackets_and_lines() -> None:
    text = "CONSULTING AGREEMENT\n\nThis Agreement is made this 3rd day of May, 2017 between Delta Works, Inc. "
    text += '("Delta") and Ann Poe.'
    reading = read(text, WordVectors())
    found = {(each.kind, text[each.start : each.end]) for each in find_shorts(text, reading.passages)}
    assert {
        ("date", "3rd day of May, 2017"),
        ("quoted", "Delta"),
        ("name", "Delta Works, Inc."),
        ("name", "Ann Poe."),
        ("name", "CONSULTING AGREEMENT"),
    } <= found


def test_a_passage_answers_for_parties_where_it_names_one_in_full() -> None:
    text = "This lease is made between Delta Works, Inc. and Ann Poe on the terms that are set out below."
    whole, name = SpanCandidate(0, len(text), 0), (text.index("Ann"), text.index("Ann") + 7)
    assert matches(text, whole, "Parties", [name])
    assert not matches(text, whole, "Document Name", [name])


def test_trees_in_arrays_give_what_scikit_learn_gives() -> None:
    generator = numpy.random.default_rng(1)
    rows = generator.normal(size=(400, 6)).astype(numpy.float32)
    truth = rows[:, 0] * rows[:, 1] + 0.3 * generator.normal(size=400) > 0
    known = GradientBoostingClassifier(
        n_estimators=30,
        max_depth=3,
        min_samples_leaf=5,
        learning_rate=0.06,
        subsample=0.5,
        max_features=0.33,
        random_state=42,
    ).fit(rows, truth)
    assert probabilities(fit_trees(rows, truth, 30, 3, 5), rows) == pytest.approx(
        known.predict_proba(rows)[:, 1], abs=1e-6
    )


def test_trees_of_one_class_give_its_share() -> None:
    rows = numpy.zeros((9, 2), dtype=numpy.float32)
    assert probabilities(fit_trees(rows, numpy.zeros(9, dtype=bool), 5, 2, 1), rows) == pytest.approx([0.05] * 9)


def test_without_training_the_passage_most_like_a_drafted_clause_comes_first() -> None:
    contract = make(2, insured=True)
    law = extractive(read(contract.document.text, WordVectors()), ["Governing Law"], WordVectors())[0]
    assert "governed by the laws" in law.answers[0].text
    with pytest.raises(QuestionError):
        extractive(read("Text.", WordVectors()), ["Weather"], WordVectors())


class Replies:
    """A backend that gives the same reply to everything, and keeps what it was asked."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Request] = []

    async def send(self, request: Request, *, anew: bool = False) -> Completion:
        self.asked.append(request)
        return Completion(text=self.text, usage=Usage(prompt_tokens=1, completion_tokens=1), seconds=0.0, model="m")


def chatted(text: str, reading: ContractReading) -> CategoryAnswers:
    scores = numpy.arange(len(reading.passages), dtype=numpy.float32)
    return by_chat(reading, ["Governing Law"], ChatModel(Replies(text), "m"), lambda _: scores)[0]


@pytest.fixture(scope="module")
def reading(trainer: Trainer) -> ContractReading:
    return trainer.readings[0]


def test_quotes_are_found_in_the_text_and_invented_ones_dropped_and_counted(reading: ContractReading) -> None:
    quotes = ["This Agreement  shall be governed\nby the laws of the State of Texas.", "The moon is made of cheese."]
    found = chatted(json.dumps({"quotes": quotes, "confidence": 0.9}), reading)
    assert [each.text for each in found.answers] == [LAW.format("Texas")]
    assert (found.present, found.dropped, found.error) == (0.9, 1, None)


@pytest.mark.parametrize("said", ["I don't know.", "N/A", "none", "", "I do not know whether it does."])
def test_i_do_not_know_is_no_answer_and_no_invention(said: str, reading: ContractReading) -> None:
    found = chatted(json.dumps({"quotes": [said], "confidence": 0.7}), reading)
    assert (found.answers, found.dropped, found.present) == ((), 0, 0.0)


@pytest.mark.parametrize("reply", ["not json", '{"quotes": "one", "confidence": 2}', "I don't know"])
def test_a_reply_that_cannot_be_used_is_a_recorded_error(reply: str, reading: ContractReading) -> None:
    found = chatted(reply, reading)
    assert (found.answers, found.present) == ((), 0.0)
    assert found.error
    assert "\n" not in found.error


def test_the_chat_model_sees_the_passages_fenced_and_nothing_for_an_empty_contract(trainer: Trainer) -> None:
    backend = Replies('{"quotes": [], "confidence": 0}')
    reading = trainer.readings[0]
    by_chat(reading, ["Insurance"], ChatModel(backend, "m"), lambda _: numpy.ones(len(reading.passages)))
    asked = backend.asked[0].messages[1].content
    assert asked.count("-----") >= 4
    assert reading.text[slice(*reading.passages[0])] in asked
    empty = by_chat(read("", WordVectors()), ["Insurance"], ChatModel(backend, "m"), lambda _: numpy.zeros(0))
    assert empty[0].answers == ()
    assert len(backend.asked) == 1


def test_a_clause_that_begins_with_none_is_no_abstention() -> None:
    assert is_abstention("I don't know")
    assert not is_abstention("None of the parties may assign this Agreement.")


def test_digests_do_not_depend_on_white_space() -> None:
    assert digest("a  b\n c") == digest("a b c ")
    assert digest("a b") != digest("ab")


def test_the_weights_of_the_study_know_the_checklist_and_refuse_their_own_contracts(external_data: Path) -> None:
    model = load_model()
    contracts = load_cuad(external_data / "contract_review" / "cuad")
    assert len(model.categories) == 41
    assert model.was_trained_on(contracts[0].document)


LOAN_LETTER = """Loan from Ingrid Sandoval to Peter Okello

1. Ingrid Sandoval of Malmö ("Ingrid") lends Peter Okello of Lund ("Peter") 40,000 kronor for a van.

2. Peter pays 1,000 kronor on the first of each month. Ms Marta Lindqvist, who keeps the books for both, is not a party
to this letter and owes nothing under it.

3. No interest is due. Notices go by post.

{law}
"""


@pytest.fixture(scope="module", params=["learned", "extractive"])
def arm(request: pytest.FixtureRequest) -> Callable[[str, str], CategoryAnswers]:
    """The two arms without a chat model, with the weights and the embedder that come with the study."""

    def answered(text: str, category: str) -> CategoryAnswers:
        reading = read(text, minilm())
        if request.param == "learned":
            return learned(reading, [category], default_model(), least=0.0)[0]
        return extractive(reading, [category], minilm())[0]

    return answered


def test_who_is_said_not_to_be_a_party_answers_for_no_party(arm: Callable[[str, str], CategoryAnswers]) -> None:
    answers = arm(LOAN_LETTER.format(law="4. We both sign."), "Parties").answers
    assert answers and not any("Lindqvist" in each.text for each in answers)
    assert any("Ingrid" in each.text for each in answers[:3])


@pytest.mark.parametrize(
    "law",
    [
        "4. Swedish law governs.",
        "4. The law of Sweden applies to this letter.",
        "4. This letter is under Swedish law.",
        "4. Law\n\nSwedish law; the district court of Lund.",
        "4. This letter, and whatever follows from it, is governed by the law of the Kingdom of Sweden.",
    ],
)
def test_one_sentence_that_states_the_law_is_enough(law: str, arm: Callable[[str, str], CategoryAnswers]) -> None:
    text = LOAN_LETTER.format(law=law)
    found = arm(text, "Governing Law")
    assert found.present >= STATED
    assert "Swed" in found.answers[0].text
    assert all(text[each.start : each.end] == each.text for each in found.answers)
    assert [each.score for each in found.answers] == sorted((each.score for each in found.answers), reverse=True)


@pytest.mark.parametrize(
    "law",
    [
        "4. Peter keeps to the law when he drives the van.",
        "4. Compliance with Laws.",
        "4. Governing law",
        "4. The van was bought from Skåne Bilar AB, a company under Swedish law.",
        "4. No law of Sweden is named in this letter on purpose.",
    ],
)
def test_a_law_that_does_not_govern_is_not_stated(law: str) -> None:
    words = vocabulary()["Governing Law"]
    assert not any(pattern.search(line) for pattern in words.states for line in law.split("\n"))


def test_what_is_stated_or_denied_outright_agrees_with_the_marks_of_cuad(external_data: Path) -> None:
    folder = external_data / "contract_review" / "cuad"
    if not folder.is_dir():
        pytest.skip("no CUAD")
    law, denial = vocabulary()["Governing Law"].states, vocabulary()["Parties"].denies
    marked, matched, found, stated = 0, 0, 0, 0
    for contract in load_cuad(folder):
        text, gold = contract.document.text, {each.category: each.gold for each in contract.questions}
        hits = []
        for start, end in find_passages(text):
            sentence = " ".join(text[start:end].split())
            if any(pattern.search(sentence) for pattern in law):
                hits.append(any(min(end, last) > max(start, first) for first, last in gold["Governing Law"]))
            if any(pattern.search(sentence) for pattern in denial):
                assert not any(min(end, last) > max(start, first) for first, last in gold["Parties"]), sentence
        marked, matched = marked + sum(hits), matched + len(hits)
        found, stated = found + any(hits), stated + bool(gold["Governing Law"])
        assert gold["Governing Law"] or not hits, contract.document.id
    assert marked / matched >= 0.95
    assert found / stated >= 0.95
