"""The study's parameters: `studies.epistemic` of params.yaml."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from ovrag_core.base import NotNegative, Part, Positive
from ovrag_core.study import Study, StudySettings

SAMPLES = Path("data/samples/epistemic")
DOMAINS = Path("ontologies/domains")
SourceName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Share = Annotated[float, Field(ge=0, le=1)]
Arm = Literal["oracle", "similarity", "weights", "claim", "licence", "chat", "chat_licence"]
ARMS: tuple[Arm, ...] = get_args(Arm)


class GraphSource(Part):
    """A graph (a file, or an endpoint's address) with its domain; without a file of `cards` they are made from it.

    `hidden` is a file with the IRIs of subjects whose facts are left out.
    """

    graph: Annotated[str, Field(min_length=1)]
    domain: Path
    hidden: Path | None = None
    cards: Path | None = None


class Cards(Part):
    """Cards made from a graph: so many for each label and predicate, `chains` of them on chains.

    `hidden` is the share of subjects whose facts are hidden.
    """

    each: Positive = 100
    seed: NotNegative = 42
    hidden: Share = 0.125
    chains: Share = 0.25


_SAMPLES = {
    "rivers": GraphSource(graph=str(SAMPLES / "hasMouth_facts.tsv"), domain=DOMAINS / "rivers.yaml"),
    "loans": GraphSource(graph=str(SAMPLES / "loans_facts.tsv"), domain=DOMAINS / "loans.yaml"),
}


class Epistemic(StudySettings):
    """All parameters of the study; paths are relative to the project's folder, the first source is the main one."""

    name: ClassVar[str] = "epistemic"
    sources: Annotated[dict[SourceName, GraphSource], Field(min_length=1)] = Field(default_factory=_SAMPLES.copy)
    cards: Cards = Cards()
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)] = ARMS


study = Study(Epistemic, "ovrag_studies.abstention.cli:app")
