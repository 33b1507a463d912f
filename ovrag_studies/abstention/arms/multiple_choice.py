"""Multiple-choice questions from other text: whether the licence affirms the right option and denies a wrong one.

The graph is asked about each option by itself. A right option denied, or a wrong one affirmed, is either a question
that was misread or a graph and a text that disagree; each stands here with its reason and proof.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ovrag_core.base.errors import CardError
from ovrag_studies.abstention.arms.adapters import Reply, licensed_reply
from ovrag_studies.abstention.arms.model_replies import Answer
from ovrag_studies.abstention.arms.world import World
from ovrag_studies.abstention.licensing.option_claims import license_choice, read_choice
from ovrag_studies.abstention.settings import Choices

_OPTION = "answer_"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its options; `key` is the place of the right one, `about` the full name of its subject."""

    id: str
    text: str
    options: tuple[str, ...]
    key: int
    about: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is said of one option."""

    question: Question
    place: int
    reply: Reply

    @property
    def option(self) -> str:
        """The text of the option."""
        return self.question.options[self.place]

    @property
    def right(self) -> bool:
        """Whether it is the right option."""
        return self.place == self.question.key


def read_questions(choices: Choices, path: Path) -> tuple[Question, ...]:
    """The questions of a CSV that are to be asked. Raises CardError, with the line, where it cannot be used."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CardError(f"{path} cannot be read ({error}); name a CSV of questions") from None
    try:
        found = [_question(row, choices) for row in rows if choices.only is None or row[choices.only].strip() == "1"]
    except (KeyError, ValueError, AttributeError, TypeError) as error:
        raise CardError(
            f"{path}: a row lacks {error}; it needs question_id, question, answer_1 and on, key, and the columns named"
        ) from None
    if not found:
        raise CardError(f"{path} holds no question to be asked; see choices.only")
    return tuple(found)


def _question(row: dict[str, str], choices: Choices) -> Question:
    options = tuple(value.strip() for name, value in row.items() if name and name.startswith(_OPTION) and value.strip())
    key = int(row["key"])
    if not 0 <= key < len(options):
        raise ValueError(f"a key that is one of its {len(options)} options")
    about = row[choices.title].strip() if choices.title else ""
    return Question(row["question_id"], row["question"], options, key, about)


def judge(world: World, questions: Sequence[Question]) -> tuple[Judged, ...]:
    """What the licence says of every option."""
    return tuple(
        Judged(question, place, _reply(world, question, option))
        for question in questions
        for place, option in enumerate(question.options)
    )


def _reply(world: World, question: Question, option: str) -> Reply:
    reading = read_choice(question.text, option, world.names, world.domain, question.about)
    return licensed_reply(reading, license_choice(reading, world.store, world.domain))


def counts(judged: Iterable[Judged]) -> dict[tuple[bool, Answer], int]:
    """How many right and wrong options got which answer."""
    counted = Counter((each.right, each.reply.answer) for each in judged)
    return {(right, answer): counted[right, answer] for right in (True, False) for answer in Answer}


def surprises(judged: Sequence[Judged]) -> dict[Judged, str]:
    """Right options denied and wrong ones affirmed, each with the reason."""
    against = {True: Answer.NO, False: Answer.YES}
    return {each: _reason(each, judged) for each in judged if each.reply.answer is against[each.right]}


def _reason(surprise: Judged, judged: Sequence[Judged]) -> str:
    if surprise.right:
        return surprise.reply.detail
    right = next(each for each in judged if each.right and each.question == surprise.question)
    if right.reply.evidence == surprise.reply.evidence:
        return f"as far as the graph goes it says the same as the right option, {right.option}"
    return "; ".join(surprise.reply.evidence)
