"""The study's parameters: `studies.policy` of params.yaml."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from ovrag_core.base import Part
from ovrag_core.study import Study, StudySettings

SAMPLES = Path("data/samples/policy")
Between = Annotated[float, Field(gt=0, lt=1)]
Arm = Literal["b1", "b2", "b3", "ours", "no_verification", "no_silence", "no_conflicts"]
ARMS: tuple[Arm, ...] = get_args(Arm)


class PolicyData(Part):
    """The material: folders of a corpus, that are searched together, golden sets by name, and what else is measured.

    The first golden set is the one that silence is calibrated on.
    """

    corpus: Annotated[tuple[Path, ...], Field(min_length=1)] = (SAMPLES / "corpus",)
    golden: Annotated[dict[str, Path], Field(min_length=1)] = Field(
        default_factory=lambda: {"audited": SAMPLES / "golden_set/golden_set_audited.csv"}
    )
    conflicts: Path | None = SAMPLES / "conflicts/pairs.jsonl"
    critic: Path | None = SAMPLES / "critic"


class PolicyAnswers(Part):
    """Source of answers: sentences copied from the evidence, or a chat model."""

    by: Literal["extractive", "chat"] = "extractive"


class Checks(Part):
    """Check of a chat model's sentences, or critic: by rules, or by a chat model too."""

    by: Literal["rules", "chat"] = "rules"


class Silence(Part):
    """The share of wrong answers among those given that is allowed (alpha), at which risk (delta)."""

    alpha: Between = 0.1
    delta: Between = 0.1


class Policy(StudySettings):
    """All parameters of the study. Paths are relative to the project's folder.

    `b1` asks a chat model; it is left out where there is none.
    """

    name: ClassVar[str] = "policy"
    data: PolicyData = PolicyData()
    answers: PolicyAnswers = PolicyAnswers()
    verification: Checks = Checks()
    silence: Silence = Silence()
    critic: Checks = Checks()
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)] = ARMS


study = Study(Policy, "ovrag_studies.cited.cli:app")
