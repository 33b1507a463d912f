"""Match each phrase of a question to a variable of the graph: by shared words, and by what the numbers allow."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from ovrag_core.base import UnreadError
from ovrag_studies.causal.models.dags import Dag
from ovrag_studies.causal.models.identification import instruments, is_back_door_set, is_front_door_set
from ovrag_studies.causal.questions.cladder_estimates import Parts, Shape
from ovrag_studies.causal.questions.cladder_text import name
from ovrag_studies.causal.questions.phrases import likeness

FITTING = 0.5
"""What it is worth, in units of likeness, that an assignment lets the printed numbers answer the question."""
FORWARDS = 0.05
"""What it is worth that the effect does not come before the cause."""


@dataclass(frozen=True)
class Roles:
    """The variable of each part, whether the numbers then suffice, and whether a chained table is adjusted for.

    `vague` says that words speak for fewer than all but one of the variables, so that the graph had to tell.
    """

    variables: Mapping[str, str]
    fits: bool
    adjusted: bool = False
    vague: bool = False


def named(dag: Dag, phrase: str) -> str:
    """The variable of this name. Raises UnreadError."""
    node = name(phrase)
    if node in dag.nodes:
        return node
    raise UnreadError(f"“{phrase}” is not in the causal graph; it has {', '.join(dag.nodes)}")


def mediators(dag: Dag, phrase: str) -> tuple[str, ...]:
    """`A and B` as two variables, unless the whole is one. Raises UnreadError."""
    if name(phrase) in dag.nodes:
        return (name(phrase),)
    return tuple(named(dag, variable) for variable in phrase.replace(", ", " and ").split(" and ") if variable.strip())


def assign(dag: Dag, shape: Shape, parts: Parts, fixed: Mapping[str, str]) -> Roles:
    """The best reading of who is who; `fixed` are the parts that the question calls by their names.

    Raises UnreadError for a cause that has no word in common with what is printed.
    """
    role_phrases = {role: phrases for role, phrases in parts.items() if role not in fixed}
    free = [node for node in dag.observed if node not in fixed.values()]
    best, best_score = None, -1.0
    for nodes in permutations(free, len(role_phrases)):
        chosen = dict(zip(role_phrases, nodes, strict=True))
        variables = {**fixed, **chosen}
        fits, adjusted = _fits(dag, shape, variables)
        words = [_named_likeness(role_phrases[role], node) for role, node in chosen.items()]
        forwards = variables.get("x") not in dag.descendants([variables["y"]])
        score = sum(words) + FITTING * fits + FORWARDS * forwards
        if score > best_score + 1e-9:
            best, best_score = Roles(variables, fits, adjusted, words.count(0.0) > 1), score
    if best is None:
        raise UnreadError(f"the graph has {len(free)} variables for {len(role_phrases)} that the text speaks of")
    cause, *printed = role_phrases.get("x", ("",))
    if printed and not any(likeness(cause, phrase) for phrase in (*printed, best.variables["x"])):
        raise UnreadError(f"“{cause}” is nothing that the text speaks of; it has {', '.join(dag.nodes)}")
    return best


@lru_cache(maxsize=65536)
def _named_likeness(phrases: tuple[str, ...], node: str) -> float:
    return max(likeness(phrase, node) for phrase in phrases)


def _fits(dag: Dag, shape: Shape, variables: Mapping[str, str]) -> tuple[bool, bool]:
    """Tell whether the shape of the tables identifies the effect of x on y, and whether by adjusting for the middle."""
    x, y = variables.get("x", ""), variables["y"]
    match shape:
        case "direct":
            return _may_adjust(dag, x, y, ()), False
        case "weighted":
            return _may_adjust(dag, x, y, (variables["z"],)), False
        case "chained" if is_front_door_set(dag, x, y, [variables["m"]]):
            return True, False
        case "chained":
            return _may_adjust(dag, x, y, (variables["m"],)), True
        case "instrument":
            return variables["z"] in instruments(dag, x, y), False
    return True, False


def _may_adjust(dag: Dag, x: str, y: str, covariates: tuple[str, ...]) -> bool:
    return y in dag.descendants([x]) and is_back_door_set(dag, x, y, covariates)
