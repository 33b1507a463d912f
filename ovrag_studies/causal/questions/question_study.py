"""The questions of the settings, solved once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ovrag_core.base import QuestionError, Settings, project_file
from ovrag_studies.causal.questions.question_files import Language
from ovrag_studies.causal.questions.question_metrics import QuestionFile, ask
from ovrag_studies.causal.settings import Causal


@dataclass(frozen=True, slots=True)
class QuestionStudy:
    """Questions over rules and questions with numbers."""

    options: Causal
    asked: Mapping[Language, QuestionFile]

    @property
    def files(self) -> Mapping[Language, str]:
        """The names of the two files."""
        return {"rules": self.options.data.counterbench.name, "numbers": self.options.data.cladder.name}


def run_questions(settings: Settings) -> QuestionStudy:
    """Solve the questions of the settings. Raises QuestionError for a file that is missing or of another kind."""
    options = Causal.of(settings)
    data = options.data
    asked = {each.language: each for each in (_asked("rules", data.counterbench), _asked("numbers", data.cladder))}
    return QuestionStudy(options, asked)


def _asked(language: Language, path: Path) -> QuestionFile:
    found = ask(project_file(path))
    if found.language != language:
        raise QuestionError(f"{path} has questions over {found.language}; name a file of questions over {language}")
    return found


def size(study: QuestionStudy) -> list[str]:
    """Describe in lines how much there is, with what is no question."""
    lines = []
    for language, asked in study.asked.items():
        groups = len({each.question.group for each in asked.judged})
        more = f", {len(asked.unlabelled)} without a label" if asked.unlabelled else ""
        lines.append(f"{study.files[language]}: {len(asked.judged)} labelled questions in {groups} groups{more}")
        lines += list(asked.faults)
    return lines
