"""What evidence says is accepted in other words; a changed number, rule or source is not."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest
from faulty_server import KEY, MODEL, FaultyServer, scripted

from ovrag_core.llm import ChatModel
from ovrag_core.llm.openai import OpenAIBackend
from ovrag_core.retrieval.embedding import Vectors
from ovrag_studies.cited.answering.verification import SentenceVerifier, find_objection
from ovrag_studies.cited.corpus.policies import read_corpus
from ovrag_studies.cited.language.forces import find_cues, find_opposed
from ovrag_studies.cited.language.quantities import find_missing, find_quantities
from ovrag_studies.cited.measuring.perturbations import EACH, Perturbed, change_numbers, misplace, perturb, swap_must

SAID: dict[str, list[str]] = {
    "Boats must be returned to the boathouse by 18:00, and members must wear a life jacket at all times.": [
        "Life jackets are mandatory for members at all times.",
        "Every member has to bring the boat back by 6 pm.",
    ],
    "Open flames are prohibited in laboratories. Hot plates may be used only under supervision.": [
        "You may not use open flames in the laboratory.",
        "The use of hot plates requires supervision.",
        "There is a ban on open flames in laboratories.",
    ],
    "Parents need not notify the nursery of absences shorter than one day.": [
        "Parents are not required to report absences shorter than a day to the nursery.",
    ],
    "Volunteers under 18 are exempt from night shifts.": [
        "Volunteers under 18 do not have to work night shifts.",
    ],
    "Claims are paid within ten working days of receipt; claims above £250 need the treasurer's signature.": [
        "Claims are paid within 10 business days after receipt.",
        "A claim of more than 250 GBP must be signed by the treasurer.",
    ],
    "Fridge temperatures are recorded twice a day and kept between 2 and 5 degrees Celsius.": [
        "Fridges are kept at 2-5 degrees Celsius.",
    ],
    "Fire drills take place quarterly. The warden keeps the log for two years.": [
        "A fire drill is held every three months.",
        "The log must be kept for 24 months by the warden.",
    ],
    "No member may lend a key to a guest.": [
        "Lending keys to guests is not allowed.",
        "Members must not lend keys to guests.",
    ],
    "Only trained staff may operate the lift.": [
        "The lift may be operated by trained staff only.",
    ],
    "Photographs of children can be published only with written consent of a parent.": [
        "Publishing photographs of children requires a parent's written consent.",
    ],
    "The minimum PIN length is 6 digits (previously 4 digits).": [
        "PINs must have at least six digits.",
        "The PIN was previously 4 digits long.",
    ],
    "Up to 3 guests per member are admitted each day.": [
        "Members can bring at most three guests a day.",
    ],
    "A deposit of 20% is due on booking, the balance 14 days before arrival.": [
        "On booking a 20 percent deposit has to be paid.",
        "The balance must be paid two weeks before arrival.",
    ],
    "Staff are permitted to park on site from 1 March 2026 until 30 June 2026.": [
        "Parking on site is allowed for staff from March 1, 2026 to June 30, 2026.",
    ],
    "It is forbidden to feed the animals.": [
        "Visitors must not feed the animals.",
        "Feeding the animals is never permitted.",
    ],
    "Smoking is not permitted anywhere on the premises, including balconies.": [
        "Smoking on balconies is prohibited.",
    ],
    "Overtime has to be approved in advance by the shift leader.": [
        "Overtime requires prior approval from the shift leader.",
    ],
    "Employees should report near misses to the safety officer within 24 hours.": [
        "Near misses must be reported within one day to the safety officer.",
    ],
    "Samples are destroyed after 90 days unless the client objects in writing.": [
        "Samples are destroyed 90 days later unless the client objects in writing.",
    ],
}
NOT_SAID: dict[str, list[str]] = {
    "Boats must be returned to the boathouse by 18:00, and members must wear a life jacket at all times.": [
        "Members need not wear a life jacket.",
        "Boats must be returned to the boathouse by 20:00.",
    ],
    "Open flames are prohibited in laboratories. Hot plates may be used only under supervision.": [
        "Open flames are permitted in laboratories.",
        "Hot plates must not be used under supervision.",
        "Open flames may be used in laboratories.",
        "Hot plates are forbidden.",
    ],
    "Parents need not notify the nursery of absences shorter than one day.": [
        "Parents must notify the nursery of absences shorter than one day.",
    ],
    "Volunteers under 18 are exempt from night shifts.": [
        "Volunteers under 18 must work night shifts.",
        "Volunteers under 21 are exempt from night shifts.",
    ],
    "Claims are paid within ten working days of receipt; claims above £250 need the treasurer's signature.": [
        "Claims are paid within ten days of receipt.",
        "Claims above 250 euros need the treasurer's signature.",
        "Claims below £250 need the treasurer's signature.",
    ],
    "Fire drills take place quarterly. The warden keeps the log for two years.": [
        "Fire drills take place monthly.",
        "The warden keeps the log for two months.",
    ],
    "No member may lend a key to a guest.": [
        "A member may lend a key to a guest.",
        "Members must lend a key to a guest.",
    ],
    "Only trained staff may operate the lift.": [
        "Trained staff must not operate the lift.",
    ],
    "The minimum PIN length is 6 digits (previously 4 digits).": [
        "PINs must have at least 4 digits.",
        "The maximum PIN length is 6 digits.",
    ],
    "Up to 3 guests per member are admitted each day.": [
        "At least 3 guests per member are admitted each day.",
        "Up to 3 guests per member are admitted each month.",
    ],
    "A deposit of 20% is due on booking, the balance 14 days before arrival.": [
        "A deposit of 20 pounds is due on booking.",
    ],
    "Staff are permitted to park on site from 1 March 2026 until 30 June 2026.": [
        "Staff are not permitted to park on site.",
        "Staff must park on site from 1 March 2026.",
        "Staff are permitted to park on site until 30 July 2026.",
    ],
    "It is forbidden to feed the animals.": [
        "It is allowed to feed the animals.",
    ],
    "Smoking is not permitted anywhere on the premises, including balconies.": [
        "Smoking is permitted on balconies.",
    ],
    "Overtime has to be approved in advance by the shift leader.": [
        "Overtime does not have to be approved in advance.",
    ],
    "Employees should report near misses to the safety officer within 24 hours.": [
        "Employees should not report near misses to the safety officer.",
    ],
    "Samples are destroyed after 90 days unless the client objects in writing.": [
        "Samples are not destroyed after 90 days.",
    ],
    "The alarm is mandatory in every room; cameras are optional.": [
        "The alarm is optional in every room.",
        "Cameras are mandatory in every room.",
    ],
    "Guests are allowed on weekdays but are banned at weekends.": [
        "Guests are allowed at weekends.",
        "Guests are banned on weekdays.",
    ],
    "Interns cannot sign contracts.": [
        "Interns can sign contracts.",
    ],
    "Form HR-12 must be completed.": [
        "Form HR-21 must be completed.",
    ],
}

PARAGRAPHS = [*SAID, *NOT_SAID]


@pytest.fixture(scope="module")
def verifier() -> SentenceVerifier:
    return SentenceVerifier()


@pytest.mark.parametrize(("evidence", "sentence"), [(text, each) for text, said in SAID.items() for each in said])
def test_other_words_for_the_same_are_accepted(verifier: SentenceVerifier, evidence: str, sentence: str) -> None:
    assert verifier.objection(sentence, [evidence]) == ""


@pytest.mark.parametrize(("evidence", "sentence"), [(text, each) for text, said in NOT_SAID.items() for each in said])
def test_what_the_evidence_does_not_say_is_refused(verifier: SentenceVerifier, evidence: str, sentence: str) -> None:
    assert verifier.objection(sentence, [evidence])


def test_each_sentence_supports_itself_and_not_its_perturbations(verifier: SentenceVerifier) -> None:
    assert all(not verifier.objection(text, [text]) for text in PARAGRAPHS)
    wrong = list(perturb(PARAGRAPHS))
    assert {each.kind for each in wrong} == {"must", "number"}
    assert [each for each in wrong if not verifier.objection(each.sentence, each.evidence)] == []


def test_evidence_of_another_subject_is_refused(verifier: SentenceVerifier) -> None:
    wrong = list(misplace([Perturbed("unchanged", text, (text,)) for text in SAID], list(SAID)))
    assert len(wrong) == EACH * len(SAID)
    assert [each for each in wrong if not verifier.objection(each.sentence, each.evidence)] == []


def test_several_texts_support_a_sentence_together(verifier: SentenceVerifier) -> None:
    texts = ["The pool opens at 07:00.", "The pool closes at 21:30.", "Dogs must be kept on a lead."]
    sentence = "The pool opens at 7 am and closes at 9:30 pm."
    assert not verifier.objection(sentence, texts)
    assert verifier.objection(sentence, texts[:1])


def test_a_sentence_without_evidence_is_not_supported(verifier: SentenceVerifier) -> None:
    assert verifier.objection("Dogs must be led.", []) == verifier.objection("Dogs must be led.", [" "]) != ""


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("a 12-character password", 12, ""),
        ("twenty-five staff", 25, ""),
        ("within two weeks", 20160, "minute"),
        ("every quarter", 3, "month"),
        ("quarterly", 3, "month"),
        ("twice a year", 6, "month"),
        ("five working days", 5, "working day"),
        ("80 per cent", 80, "%"),
        ("up to £1,500", 1500, "GBP"),
        ("1.5 million euros", 1500000, "EUR"),
        ("by 9.30 pm", 21 * 60 + 30, "time"),
        ("on 3 May 2026", "2026-05-03", "date"),
        ("on May 3", "????-05-03", "date"),
        ("Form HR-12", "HR12", "code"),
        ("2. Scope", 2, "item"),
    ],
)
def test_quantities_in_one_form(text: str, value: int | str, unit: str) -> None:
    (found,) = find_quantities(text)
    assert (found.value, found.unit) == (value, unit)


@pytest.mark.parametrize(
    ("sentence", "evidence", "missing"),
    [
        ("20 to 22 degrees", "kept at 20-22 degrees Celsius", False),
        ("at least 5 words", "at most 5 words", True),
        ("every 3 months", "quarterly", False),
        ("3 days per week", "3 days per month", True),
        ("7 days a week", "3 days per week", True),
        ("4 signatures", "Section 4 and 2 signatures", True),
        ("on 1 March", "from 1 March 2026", False),
        ("annual leave of 25 days", "25 days of leave", False),
        ("3 years, then 3 years", "3 months, then 3 years", True),
        ("30 days", "reduced to 14 days (previously 30 days)", True),
        ("14 days, previously 30 days", "reduced to 14 days (previously 30 days)", False),
    ],
)
def test_quantities_of_a_sentence_in_its_evidence(sentence: str, evidence: str, missing: bool) -> None:
    assert bool(find_missing(sentence, evidence)) == missing


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("You must pay.", "duty"),
        ("Payment is compulsory.", "duty"),
        ("You must not fail to pay.", "duty"),
        ("You may pay.", "may"),
        ("It is not prohibited to pay.", "may"),
        ("You shall never pay.", "ban"),
        ("Nobody is allowed to pay.", "ban"),
        ("There is a ban on paying.", "ban"),
        ("You need not pay.", "waived"),
        ("No payment is required.", "waived"),
        ("Payment is optional.", "waived"),
        ("You don't have to pay.", "waived"),
        ("You pay.", "is"),
        ("You do not pay.", "not"),
    ],
)
def test_forces(text: str, force: str) -> None:
    assert [each.force for each in find_cues(text)] == [force]


def test_perturbed_sentences() -> None:
    assert swap_must("Dogs must be led and must never bark.") == "Dogs must not be led and must bark."
    assert change_numbers("Form HR-7: 2 dogs, 1.5 hours") == [
        "Form HR-7: 5 dogs, 1.5 hours",
        "Form HR-7: 2 dogs, 4.0 hours",
    ]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({"supported": True, "quote": "kept on a lead"}, ""),
        ({"supported": True, "quote": "kept on a chain"}, "quotes what is not in the evidence"),
        ({"supported": True, "quote": ""}, "quotes what is not in the evidence"),
        ({"supported": False, "quote": "kept on a lead"}, "does not find it"),
    ],
)
def test_a_model_judges_only_with_words_of_the_evidence(reply: dict[str, object], why: str) -> None:
    with FaultyServer(scripted(lambda call: reply)) as server:
        chat = ChatModel(OpenAIBackend(base_url=server.base_url, key=KEY), MODEL)
        objection = find_objection("Dogs must be led.", ["Dogs are to be kept on a lead."], chat)
    assert bool(objection) == bool(why)
    assert why in objection


def test_perturbations_of_a_published_corpus_are_rejected_by_numbers_and_polarity_alone(external_data: Path) -> None:
    corpus = read_corpus(external_data / "policy" / "dev" / "corpus" / "processed" / "paragraphs.jsonl")
    wrong = list(perturb([each.text for each in corpus.paragraphs]))
    for kind, count in (("must", 137), ("number", 230)):
        of_kind = [each for each in wrong if each.kind == kind]
        passed = [each for each in of_kind if not _refused(each.sentence, each.evidence)]
        assert len(of_kind) == count
        assert len(passed) <= 0.02 * count
    assert not any(_refused(each.text, [each.text]) for each in corpus.paragraphs)


def _refused(sentence: str, evidence: Sequence[str]) -> bool:
    return bool(find_missing(sentence, "\n\n".join(evidence)) or find_opposed(sentence, evidence))


@pytest.mark.parametrize("text", ["AB-" * 5000, "no " + "word " * 5000, "is not " + "quickly " * 5000, "1" * 20000])
def test_endless_texts_are_read_in_time(text: str) -> None:
    start = time.process_time()
    find_missing(text, text)
    find_opposed(text, [text])
    assert time.process_time() - start < 10


def test_vectors_that_were_made_before_are_not_made_again() -> None:
    asked: list[str] = []

    class Counting:
        name = "counting"

        def embed(self, texts: Sequence[str]) -> Vectors:
            asked.extend(texts)
            return numpy.ones((len(texts), 1), dtype=numpy.float32)

    verifier = SentenceVerifier(Counting(), {"Dogs bark.": numpy.ones(1, dtype=numpy.float32)})
    assert [verifier.likeness("Do dogs bark?", ["Dogs bark."]) for _ in range(2)] == [[1], [1]]
    assert asked == ["Do dogs bark?"]
