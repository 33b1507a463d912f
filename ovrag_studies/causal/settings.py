"""The study's parameters: `studies.causal` of params.yaml."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from ovrag_core.base import NotNegative, Part, Positive
from ovrag_core.study import Study, StudySettings

SAMPLES = Path("data/samples/causal")
Share = Annotated[float, Field(ge=0, le=1)]
Arm = Literal["vanilla", "cot", "rag", "rag_cot", "best_of_t", "caf", "random_verdicts"]
ARMS: tuple[Arm, ...] = get_args(Arm)
LoopPart = Literal["feedback", "gaps", "score", "linking", "partial", "scm"]
ErrorKind = Literal["reversed", "negated", "opposite", "wrong_target", "invented", "dropped"]
ERRORS: tuple[ErrorKind, ...] = get_args(ErrorKind)


class CausalData(Part):
    """The material: a causal graph with chains along it, and questions of the two benchmarks, one JSON object a line.

    `recorded` is a file of recorded chains that run as a second set; None for none.
    """

    graph: Path = SAMPLES / "graph.ttl"
    chains: Path = SAMPLES / "chains.jsonl"
    counterbench: Path = SAMPLES / "questions.jsonl"
    cladder: Path = SAMPLES / "cladder.jsonl"
    recorded: Path | None = None


class StoreOptions(Part):
    """Place to check statements: `embedded` (the graph, in this process), or the address of a SPARQL endpoint.

    An endpoint is asked so many `attempts` at most. `coverage` is the share of the causal edges that the embedded store
    knows; the rest is taken out by `studies.causal.experiments.seed`.
    """

    at: str = "embedded"
    attempts: Positive = 3
    coverage: Share = 1.0


class LoopOptions(Part):
    """The loop: how verdicts are scored, when a draft is accepted, and when to give up.

    The score is (verified + `alpha` · partial - `beta` · contradictions) / n, held to [0, 1]. A draft is accepted at a
    score of at least `theta`, for at most `rounds` drafts. `epsilon` is the most by which the effect may differ between
    two contexts (Jensen-Shannon distance, 0 to 1).
    """

    alpha: Share = 0.5
    beta: Share = 0.5
    theta: Share = 0.8
    rounds: Positive = 5
    epsilon: Share = 0.2


class Drift(Part):
    """The declared simulator of drafts: the share of statements it gets wrong, and how (`kinds`: weights, of which only
    the ratio counts).

    `obedience` is the chance that a constraint is obeyed, `reading` that a fact beside the question is copied,
    `credulity` that a false sentence of the prompt is repeated, `slips` that a revision spoils what nobody objected to.
    All are assumptions, not findings.
    """

    rate: Share = 0.3
    kinds: dict[ErrorKind, Annotated[float, Field(ge=0)]] = dict.fromkeys(ERRORS, 1.0)
    obedience: Share = 0.9
    reading: Share = 0.5
    credulity: Share = 0.5
    slips: Share = 0.02
    seed: NotNegative = 42


class Causal(StudySettings):
    """All parameters of the study. Paths are relative to the project's folder.

    Without `paraphrases` each chain is asked in its prompt's own words alone.
    """

    name: ClassVar[str] = "causal"
    data: CausalData = CausalData()
    store: StoreOptions = StoreOptions()
    loop: LoopOptions = LoopOptions()
    drift: Drift = Drift()
    arms: tuple[Arm, ...] = ARMS
    paraphrases: bool = True
    drafts: Literal["drift", "chat"] = "drift"


study = Study(Causal, "ovrag_studies.causal.cli:app")
