"""A small causal graph and one chain along it, for tests."""

from pyoxigraph import Literal, NamedNode, Triple

from ovrag_core.graph import LABEL, TYPE
from ovrag_core.graph.triple_store import EmbeddedStore
from ovrag_studies.causal.chains.causal_chains import CausalChain, ChainStep, Contradiction, Paraphrase
from ovrag_studies.causal.graphs.causal_terms import FACTOR, LOWERS, NO_EFFECT_ON, RAISES

NAMES = ("rain", "river flow", "flood damage", "insurance cost", "demand for housing", "tide", "fish stock", "birdsong")
IRIS = {name: NamedNode(f"urn:t#{name.replace(' ', '_')}") for name in NAMES}


def edge(subject: str, predicate: NamedNode, object_: str) -> Triple:
    return Triple(IRIS[subject], predicate, IRIS[object_])


STEPS = (
    edge("rain", RAISES, "river flow"),
    edge("river flow", RAISES, "flood damage"),
    edge("flood damage", RAISES, "insurance cost"),
    edge("insurance cost", LOWERS, "demand for housing"),
)
CONCLUSION = edge("rain", LOWERS, "demand for housing")
SAID = (
    "Rain raises river flow.",
    "River flow raises flood damage.",
    "Flood damage raises insurance cost.",
    "Insurance cost lowers demand for housing.",
)
FALSE = "River flow raises rain."
RIGHT = "\n".join([*SAID, "Rain lowers demand for housing."])
STORE = EmbeddedStore(
    [
        *(Triple(node, TYPE, FACTOR) for node in IRIS.values()),
        *(Triple(node, LABEL, Literal(name)) for name, node in IRIS.items()),
        *STEPS,
        edge("tide", RAISES, "fish stock"),
        edge("rain", NO_EFFECT_ON, "birdsong"),
    ]
)
QUESTION = "What follows for demand for housing?"
PROMPT = "\n".join(["Given: rain rises.", *SAID, QUESTION])


def chain(number: int = 0, *, false: bool = False) -> CausalChain:
    """The chain; `number` gives it an id of its own, `false` puts a sentence into the prompt that the graph denies."""
    prompt = PROMPT.replace(QUESTION, f"{FALSE}\n{QUESTION}") if false else PROMPT
    at = prompt.find(FALSE)
    wrong = (Contradiction("reversed", FALSE, (at, at + len(FALSE))),) if false else ()
    return CausalChain(
        id=f"rain-{number}",
        domain="climate",
        premises=tuple(_step(triple, said) for triple, said in zip(STEPS, SAID, strict=True)),
        conclusion=_step(CONCLUSION, "Rain lowers demand for housing."),
        prompt=prompt,
        paraphrases=(
            Paraphrase("order", "\n".join(["Given: rain rises.", *reversed(SAID), QUESTION])),
            Paraphrase("relation", prompt.replace(" raises ", " increases ")),
        ),
        contradictions=wrong,
    )


def _step(triple: Triple, said: str) -> ChainStep:
    assert isinstance(triple.subject, NamedNode) and isinstance(triple.object, NamedNode)
    return ChainStep(triple.subject, triple.predicate, triple.object, said)
