"""The study's parameters: `studies.policy` of params.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from ovrag_core.base.settings import Part, Positive
from ovrag_core.study.settings import Study, StudySettings

SAMPLES = Path("data/samples/policy")
Share = Annotated[float, Field(ge=0, le=1)]
Between = Annotated[float, Field(gt=0, lt=1)]
Way = Literal["lexical", "dense", "sentences", "fused", "ranks"]
RerankBy = Literal["none", "reader", "sentences", "cross-encoder"]
Arm = Literal["b1", "b2", "b3", "ours", "no_verification", "no_silence", "no_conflicts"]
ARMS: tuple[Arm, ...] = get_args(Arm)


class PolicyData(Part):
    """The material: folders of a corpus, that are searched together, golden sets by name, and what else is measured.

    The first golden set is the one that silence is calibrated on. `recorded_b1` is the folder of a recorded run of a
    model alone, replayed where no model is asked.
    """

    corpus: Annotated[tuple[Path, ...], Field(min_length=1)] = (SAMPLES / "corpus",)
    golden: Annotated[dict[str, Path], Field(min_length=1)] = Field(
        default_factory=lambda: {"audited": SAMPLES / "golden_set/golden_set_audited.csv"}
    )
    conflicts: Path | None = SAMPLES / "conflicts/pairs.jsonl"
    critic: Path | None = SAMPLES / "critic"
    recorded_b1: Path | None = None


class PolicyRetrieval(Part):
    """How paragraphs are found, and looked at again. `substitute` names what may replace a reranker that is missing."""

    by: Way = "fused"
    top: Positive = 5
    candidates: Positive = 8
    rerank: RerankBy = "reader"
    cache_dir: Path | None = None
    substitute: RerankBy | None = None


class PolicyAnswers(Part):
    """Who answers: sentences copied from the evidence, or a chat model, and of how many sentences at most."""

    by: Literal["extractive", "chat"] = "extractive"
    sentences: Positive = 3
    close: Share = 0.7


class Verification(Part):
    """Who checks the sentences of a chat model: three rules, or after them a chat model too."""

    by: Literal["rules", "chat"] = "rules"


class Silence(Part):
    """The share of wrong answers among those given that is allowed (alpha), at which risk (delta)."""

    alpha: Between = 0.1
    delta: Between = 0.1


class Conflicts(Part):
    """Whether the later of two documents prevails where no clause says so."""

    later_prevails: bool = False


class Critic(Part):
    """Who criticises: rules and weights, or a chat model."""

    by: Literal["rules", "chat"] = "rules"


class Policy(StudySettings):
    """All parameters of the study. Paths are relative to the project's folder.

    `b1` asks a chat model or replays a run; it is left out where there is neither.
    """

    name: ClassVar[str] = "policy"
    data: PolicyData = PolicyData()
    retrieval: PolicyRetrieval = PolicyRetrieval()
    answers: PolicyAnswers = PolicyAnswers()
    verification: Verification = Verification()
    silence: Silence = Silence()
    conflicts: Conflicts = Conflicts()
    critic: Critic = Critic()
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)] = ARMS


study = Study(Policy, "ovrag_studies.cited.cli:app")
