"""A model's reply is read strictly: what it does not say in words that are known is unparsed, never an abstention."""

import pytest
from growth import LINEAR, growth

from ovrag_studies.abstention.arms.model_replies import UNSURE, CardAnswer, CardReply, read_reply

YES = [
    "YES",
    "yes.",
    "**Yes**",
    "Ｙｅｓ",
    "Yes it does.",
    "Answer: YES",
    "[YES]",
    "true",
    '{"answer": "yes"}',
    "Yes: by 5 km",
]
NO = [
    "no",
    "No, it ends in the Ohio River.",
    "No. It ends in the Ohio River.",
    "The answer is no.",
    "Based on the facts, no.",
    "It ends in the Ohio River. The answer is NO.",
    "No, not enough water reaches it.",
    "<think>perhaps yes</think>NO",
    '```json\n{"answer": "NO"}\n```',
    '{"answer": false}',
]
UNKNOWN = [
    "UNKNOWN",
    "I do not know",
    "I don’t know.",
    "Not enough information",
    "Cannot be determined",
    "It cannot be confirmed from the text",
    "No information available.",
    "No idea",
    "No evidence supports this",
    "No one knows",
    "There is insufficient information to answer.",
    "The passages do not say.",
    "I'm not certain",
    "Not sure",
    "“Unknown.”",
    "Sorry, I cannot answer that.",
    "I am unable to determine this.",
    "unknown whether it does",
    "Answer: I do not know",
    "It's impossible to say.",
]
UNPARSED = [
    "",
    " \n",
    "Yesterday",
    "Nothing",
    "Nobody",
    "North Fork",
    "Not",
    "Maybe",
    "It depends",
    "A",
    "Yes and no",
    "YES/NO",
    "Yes\nNo",
    "Answer: yes\nAnswer: no",
    "Yes, but I am not sure",
    "No doubt it does",
    "No river runs uphill",
    "Unknown River is the one",
    "I don't think so",
    "Error: rate limit",
    "<think>it may well be. Yes",
    '{"answer": 1}',
    '{"reply": "yes"}',
    "[" * 100_000,
    "yes " * 10_000,
]


@pytest.mark.parametrize(
    ("text", "answer"),
    [(text, CardAnswer.YES) for text in YES]
    + [(text, CardAnswer.NO) for text in NO]
    + [(text, CardAnswer.UNKNOWN) for text in UNKNOWN]
    + [(text, CardAnswer.UNPARSED) for text in UNPARSED],
)
def test_reads_what_is_said_and_no_more(text: str, answer: CardAnswer) -> None:
    assert read_reply(text).answer is answer


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("YES\n95", 0.95),
        ("YES\nConfidence: 80%", 0.8),
        ("YES\nconfidence is 0.7", 0.7),
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


@pytest.mark.parametrize("piece", ["based on ", "not enough ", "answer: ", "the answer is ", "yes. ", "{", "no\n"])
def test_time_grows_with_the_length_of_a_hostile_reply(piece: str) -> None:
    assert growth(read_reply, lambda size: (piece * size)[:size], 4_750) < LINEAR
