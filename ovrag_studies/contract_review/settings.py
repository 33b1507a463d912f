"""The study's parameters: `studies.contract_review` of params.yaml."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ovrag_core.base import Part, Positive
from ovrag_core.study import Intervals, Study, StudySettings

Chunker = Literal["fixed-2048", "recursive-2048", "recursive-2048-200", "paragraph", "clause-1024"]
Retriever = Literal["minilm", "bm25", "sentences", "rrf", "blend", "learned"]
Wording = Literal["description", "rewordings", "vocabulary"]
AnswerArm = Literal["extractive", "learned", "chat"]
NliArm = Literal["majority", "lexical", "learned", "chat_rag", "chat_five_shot"]
GraphArm = Literal["v1", "v2", "ours"]


class ReviewData(Part):
    """Places of the data sets: the samples, or folders of the same layout or as their publishers give them."""

    cuad: Path = Path("data/samples/contract_review/cuad")
    contractnli: Path = Path("data/samples/contract_review/contractnli")


class ReviewRetrieval(Part):
    """Settings for cutting and finding chunks; `budget` is the context, in characters, at which arms are compared."""

    chunker: Chunker = "recursive-2048"
    retriever: Retriever = "blend"
    wording: Wording = "vocabulary"
    k: Positive = 3
    budget: Positive = 6144


class ReviewAnswers(Part):
    """Arm that answers the checklist; an item is present if its probability is at least `present`."""

    arm: AnswerArm = "learned"
    present: Annotated[float, Field(ge=0, le=1)] = 0.5


class Nli(Part):
    """Arm that judges the hypotheses."""

    arm: NliArm = "learned"


class Graph(Part):
    """Walk, and the chunks that it goes over."""

    arm: GraphArm = "ours"
    chunker: Chunker = "clause-1024"


class ReviewExperiments(Intervals):
    """Number of redraws of the setting of two contracts, resamples of intervals, and the seed of both."""

    redraws: Positive = 200


class ContractReview(StudySettings):
    """All parameters of the study. Paths are relative to the project's folder."""

    name: ClassVar[str] = "contract_review"
    data: ReviewData = ReviewData()
    retrieval: ReviewRetrieval = ReviewRetrieval()
    answers: ReviewAnswers = ReviewAnswers()
    nli: Nli = Nli()
    graph: Graph = Graph()
    experiments: ReviewExperiments = ReviewExperiments()


study = Study(ContractReview, "ovrag_studies.contract_review.cli:app")
