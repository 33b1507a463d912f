"""The questions of the settings, solved once."""

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
    files = {f.language: f for f in (_asked("rules", data.counterbench), _asked("numbers", data.cladder))}
    return QuestionStudy(options, files)


def _asked(language: Language, path: Path) -> QuestionFile:
    file = ask(project_file(path))
    if file.language != language:
        raise QuestionError(f"{path} has questions over {file.language}; name a file of questions over {language}")
    return file


def size(study: QuestionStudy) -> list[str]:
    """Describe in lines how much there is, with what is no question."""
    lines = []
    for language, question_file in study.asked.items():
        groups = len({j.question.group for j in question_file.judged})
        more = f", {len(question_file.unlabelled)} without a label" if question_file.unlabelled else ""
        lines.append(
            f"{study.files[language]}: {len(question_file.judged)} labelled questions in {groups} groups{more}"
        )
        lines += list(question_file.faults)
    return lines
