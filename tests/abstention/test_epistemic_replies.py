"""A model's reply is read strictly: anything but the words that were asked for is unparsed, never an abstention."""

import pytest

from ovrag_studies.abstention.records import UNSURE, CardAnswer, CardReply, read_reply

WORDS = {
    CardAnswer.YES: ["YES", "yes.", "**Yes**", "[YES]", "<think>perhaps no</think>YES"],
    CardAnswer.NO: ["no", "No.\n90", "`NO`"],
    CardAnswer.UNKNOWN: ["UNKNOWN", '"Unknown."', "unknown\nNot recorded."],
    CardAnswer.UNPARSED: [
        *("", " \n", "Yesterday", "Nobody", "North Fork", "Not", "Maybe", "Yes and no", "YES/NO", "Yes\nNo"),
        *(
            "No idea",
            "I do not know",
            "Error: rate limit",
            "<think>it may well be. Yes",
            "[" * 100_000,
            "yes " * 10_000,
        ),
    ],
}


@pytest.mark.parametrize(("answer", "text"), [(answer, text) for answer, texts in WORDS.items() for text in texts])
def test_reads_what_is_said_and_no_more(text: str, answer: CardAnswer) -> None:
    assert read_reply(text).answer is answer


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("YES\n95", 0.95),
        ("YES\nConfidence: 80%", 0.8),
        ("YES\n100", 1.0),
        ("YES\n1", 0.01),
        ("YES\n250", UNSURE),
        ("YES", UNSURE),
    ],
)
def test_reads_the_confidence_beside_the_answer(text: str, confidence: float) -> None:
    assert read_reply(text) == CardReply(CardAnswer.YES, confidence)


def test_an_answer_is_the_string_that_records_hold() -> None:
    assert [str(each) for each in CardAnswer] == ["YES", "NO", "UNKNOWN", "unparsed", "failed"]
