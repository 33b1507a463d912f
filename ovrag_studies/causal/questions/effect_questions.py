"""Questions about an effect in a graph that the text draws: "u -> x -> y, u -> y; u is unobserved. Effect of x on y?".

Edges are arrows in either direction; `x <-> y` stands for U(x, y), an unobserved cause of both. Nothing else is read,
and what is none of these is named.
"""

import re
from itertools import pairwise

from ovrag_core.base import CausalError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.dags import Dag, Edge, make_dag
from ovrag_studies.causal.models.identification import Effect, Estimand, Kind, NotIdentified, identify

MOST = 14  # variables, whose subsets are gone through

_ARROW = re.compile(r"\s*(<-+>|↔|-+>|→|<-+|←)\s*")
_APART = re.compile(r"\s*(?:[.;\n]|,(?:\s*and\b)?)\s*")
_HIDDEN = re.compile(r"(?P<names>.+?)\s+(?:is|are)\s+(?:unobserved|hidden|latent)$", re.IGNORECASE)
_ASKED = re.compile(
    r"(?:.*\b(?P<kind>direct|indirect) )?(?:.*\b)?effect of (?P<cause>.+?) on (?P<effect>.+?)"
    r"(?: (?:through|via) (?P<through>.+?))?(?P<treated> (?:among|for|on) the treated)?(?: be identified)?$",
    re.IGNORECASE,
)


def draws(text: str) -> bool:
    """Return True where a text draws a graph."""
    return _ARROW.search(text) is not None


def answer(text: str) -> tuple[Dag, Effect, Estimand | NotIdentified]:
    """The graph of a text, the effect that its last sentence asks for, and how that follows or why it does not.

    Raises CausalError for what cannot be read, for a variable that the graph does not have, and for a circle.
    """
    drawn, *questions = re.split(r"[.;:\n](?=[^.;:\n]*$)", text.strip().rstrip("?! "))
    if not questions:
        raise CausalError("the question does not stand apart from the graph; write a full stop between them")
    dag = _graph(drawn)
    effect = _effect(" ".join(questions[0].split()), dag)
    return dag, effect, identify(dag, effect)


def _graph(text: str) -> Dag:
    edges: list[Edge] = []
    hidden: dict[str, None] = {}
    for clause in filter(None, map(str.strip, _APART.split(text))):
        if match := _HIDDEN.match(clause):
            hidden |= dict.fromkeys(map(_name, re.split(r"\s+and\s+", match["names"])))
            continue
        if not draws(clause):
            raise CausalError(f"“{one_line(clause, 80)}” is no edge; write “x -> y”, “x <-> y” or “u is unobserved”")
        tokens = _ARROW.split(clause)
        for (left, right), arrow in zip(pairwise(map(_name, tokens[::2])), tokens[1::2], strict=True):
            if arrow == "↔" or (arrow.startswith("<") and arrow.endswith(">")):
                both = f"U({left}, {right})"
                hidden[both] = None
                edges += [(both, left), (both, right)]
            else:
                edges.append((right, left) if arrow[0] in "<←" else (left, right))
    dag = make_dag(edges, hidden)
    if len(dag.nodes) > MOST:
        raise CausalError(f"the graph has {len(dag.nodes)} variables, and at most {MOST} are read; leave some out")
    return dag


def _name(words: str) -> str:
    """A name in lower case, without an article."""
    name = re.sub(r"^(?:the|an?)\s+", "", " ".join(words.split()), flags=re.IGNORECASE)
    if not name:
        raise CausalError("an arrow leads from or to nothing; write a name on either side")
    return name.lower()


def _effect(asked: str, dag: Dag) -> Effect:
    match = _ASKED.match(asked)
    if match is None:
        raise CausalError(f"“{one_line(asked, 80)}” asks for no effect; write “Effect of x on y?”")
    cause, effect = _name(match["cause"]), _name(match["effect"])
    if not match["kind"] and not match["through"]:
        return Effect("ett" if match["treated"] else "ate", cause, effect)
    kind: Kind = "nde" if (match["kind"] or "").lower() == "direct" else "nie"
    if match["through"]:
        through = tuple(map(_name, re.split(r"\s*,\s*|\s+and\s+", match["through"])))
    else:
        both_in_graph = {cause, effect} <= set(dag.nodes)
        between = dag.descendants([cause]) & dag.ancestors([effect]) if both_in_graph else ()
        through = tuple(node for node in dag.observed if node in between and node not in (cause, effect))
    return Effect(kind, cause, effect, through)
