"""The study's parameters: `studies.contract_review` of params.yaml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ovrag_core.base.settings import Part, Positive
from ovrag_core.study.settings import Intervals, Study, StudySettings

Chunker = Literal["fixed-2048", "recursive-2048", "recursive-2048-200", "paragraph", "clause-2048", "clause-1024"]
IN_MEMORY = ":memory:"
Retriever = Literal["minilm", "chroma", "bm25", "sentences", "rrf", "rrf-chunks", "blend", "learned"]
Wording = Literal["description", "question", "rewordings", "vocabulary", "unplaced", "chat"]
AnswerArm = Literal["extractive", "learned", "chat"]
NliArm = Literal["majority", "lexical", "learned", "chat_rag", "chat_document", "chat_five_shot"]
GraphArm = Literal["v1", "v2", "ours"]


class ReviewData(Part):
    """Where the data sets are: the samples, or folders of the same layout or as their publishers give them."""

    cuad: Path = Path("data/samples/contract_review/cuad")
    contractnli: Path = Path("data/samples/contract_review/contractnli")


class ReviewRetrieval(Part):
    """How chunks are cut and found; `threshold` is in the retriever's own scores, None for none.

    `scope`: the asked contract, or all of them, the query then naming the contract; `prefilter` keeps so many contracts
    by the words of their titles, None all. `budget` is the context, in characters, at which arms are compared.
    """

    chunker: Chunker = "recursive-2048"
    retriever: Retriever = "blend"
    wording: Wording = "vocabulary"
    k: Positive = 3
    threshold: float | None = None
    scope: Literal["contract", "pooled"] = "contract"
    prefilter: Positive | None = None
    budget: Positive = 6144


class Rerank(Part):
    """A second look at the first `candidates` chunks; `cache_dir` holds the weights of a cross-encoder."""

    by: Literal["none", "sentences", "cross-encoder"] = "none"
    candidates: Positive = 10
    cache_dir: Path | None = None


class ReviewAnswers(Part):
    """What answers the checklist; present is what has at least `present` as its probability."""

    arm: AnswerArm = "learned"
    present: Annotated[float, Field(ge=0, le=1)] = 0.5


class Nli(Part):
    """What judges the hypotheses."""

    arm: NliArm = "learned"


class Graph(Part):
    """Which walk, and where graphs are written: nowhere (`:memory:`) or into a file of JSON Lines."""

    arm: GraphArm = "ours"
    path: str = IN_MEMORY
    chunker: Chunker = "clause-1024"


class ReviewExperiments(Intervals):
    """How often the setting of two contracts is redrawn, the resamples of intervals, and the seed of both."""

    redraws: Positive = 200


class ContractReview(StudySettings):
    """All parameters of the study. Paths are relative to the project's folder."""

    name: ClassVar[str] = "contract_review"
    data: ReviewData = ReviewData()
    retrieval: ReviewRetrieval = ReviewRetrieval()
    rerank: Rerank = Rerank()
    answers: ReviewAnswers = ReviewAnswers()
    nli: Nli = Nli()
    graph: Graph = Graph()
    experiments: ReviewExperiments = ReviewExperiments()


study = Study(ContractReview, "ovrag_studies.contract_review.cli:app")
