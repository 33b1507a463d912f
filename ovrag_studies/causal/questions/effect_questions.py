"""Questions about an effect in a graph that the text draws: "u -> x -> y, u -> y; u is unobserved. Effect of x on y?".

Edges are arrows in either direction; `x <-> y` stands for U(x, y), an unobserved cause of both. Nothing else is read,
and what is none of these is named.
"""

from __future__ import annotations

import re

from ovrag_core.base import CausalError
from ovrag_core.text import one_line
from ovrag_studies.causal.models.dags import Dag, Edge, make_dag
from ovrag_studies.causal.models.identification import Effect, Estimand, Kind, NotIdentified, identify

MOST = 14  # variables, whose subsets are gone through

_ARROW = re.compile(r"\s*(<-+>|↔|-+>|→|<-+|←)\s*")
_APART = re.compile(r"\s*(?:[.;\n]|,(?:\s*and\b)?)\s*")
_HIDDEN = re.compile(
    r"(?P<names>.+?)\s+(?:is|are)\s+(?:unobserved|hidden|latent|unmeasured|not observed|not measured)$", re.IGNORECASE
)
_ASKED = (
    re.compile(
        r"(?:.*\b(?P<kind>direct|indirect)\s+)?(?:.*\b)?effect of (?P<cause>.+?) on (?P<effect>.+?)"
        r"(?:\s+(?:through|via) (?P<through>.+?))?(?P<treated>\s+(?:among|for|on) the treated)?"
        r"(?:\s+(?:be )?identifi\w+)?$",
        re.IGNORECASE | re.DOTALL,
    ),
    re.compile(
        r"(?:does|do|will|would|can) (?P<cause>.+?) (?:affect|influence|change|cause|raise|lower|increase|decrease)"
        r" (?P<effect>.+)$",
        re.IGNORECASE | re.DOTALL,
    ),
)


def draws(text: str) -> bool:
    """Whether a text draws a graph."""
    return _ARROW.search(text) is not None


def answer(text: str) -> tuple[Dag, Effect, Estimand | NotIdentified]:
    """The graph of a text, the effect that its last sentence asks for, and how that follows or why it does not.

    Raises CausalError for what cannot be read, for a variable that the graph does not have, and for a circle.
    """
    drawn, _, asked = text.strip().rstrip("?! ").rpartition(_last_mark(text))
    dag = _graph(drawn)
    effect = _effect(asked, dag)
    return dag, effect, identify(dag, effect)


def _last_mark(text: str) -> str:
    """The mark behind which the question stands."""
    marks = re.findall(r"[.;:\n]", text.strip().rstrip("?! "))
    if not marks:
        raise CausalError("the question does not stand apart from the graph; write a full stop between them")
    return str(marks[-1])


def _graph(text: str) -> Dag:
    edges: list[Edge] = []
    hidden: list[str] = []
    spelt: dict[str, str] = {}
    for part in filter(None, map(str.strip, _APART.split(text))):
        if match := _HIDDEN.match(part):
            hidden += [_name(each, spelt) for each in re.split(r"\s+and\s+", match["names"])]
        elif _ARROW.search(part):
            drawn, apart = _edges(part, spelt)
            edges += drawn
            hidden += apart
        else:
            raise CausalError(f"“{one_line(part, 80)}” is no edge; write “x -> y”, “x <-> y” or “u is unobserved”")
    dag = make_dag(edges, dict.fromkeys(hidden))
    if len(dag.nodes) > MOST:
        raise CausalError(f"the graph has {len(dag.nodes)} variables, and at most {MOST} are read; leave some out")
    return dag


def _edges(part: str, spelt: dict[str, str]) -> tuple[list[Edge], list[str]]:
    """The edges of a row of arrows, and the unobserved causes that it draws."""
    edges: list[Edge] = []
    hidden: list[str] = []
    names = _ARROW.split(part)
    for left, arrow, right in zip(names[::2], names[1::2], names[2::2], strict=False):
        one, other = _name(left, spelt), _name(right, spelt)
        if arrow == "↔" or (arrow.startswith("<") and arrow.endswith(">")):
            hidden.append(f"U({one}, {other})")
            edges += [(hidden[-1], one), (hidden[-1], other)]
        else:
            edges.append((other, one) if arrow[0] in "<←" else (one, other))
    return edges, hidden


def _name(words: str, spelt: dict[str, str]) -> str:
    """A name as it was spelt first."""
    name = re.sub(r"^(?:the|an?)\s+", "", " ".join(words.split()).strip("\"'“”‘’()"), flags=re.IGNORECASE)
    if not name:
        raise CausalError("an arrow leads from or to nothing; write a name on either side")
    return spelt.setdefault(name.casefold(), name)


def _effect(asked: str, dag: Dag) -> Effect:
    match = next(filter(None, (pattern.match(asked.strip()) for pattern in _ASKED)), None)
    if match is None:
        raise CausalError(f"“{one_line(asked, 80)}” asks for no effect; write “Effect of x on y?”")
    spelt = {node.casefold(): node for node in dag.nodes}
    cause, effect = (_name(match[side], spelt) for side in ("cause", "effect"))
    groups = match.groupdict()
    if groups.get("kind") or groups.get("through"):
        kind: Kind = "nie" if (groups.get("kind") or "indirect").lower() == "indirect" else "nde"
        return Effect(kind, cause, effect, _through(groups.get("through"), dag, cause, effect, spelt))
    return Effect("ett" if groups.get("treated") else "ate", cause, effect)


def _through(given: str | None, dag: Dag, cause: str, effect: str, spelt: dict[str, str]) -> tuple[str, ...]:
    """The mediators that are named, or all that were observed between the two."""
    if given:
        return tuple(_name(each, spelt) for each in re.split(r"\s*,\s*|\s+and\s+", given))
    if cause not in dag.nodes or effect not in dag.nodes:
        return ()
    between = (dag.descendants([cause]) & dag.ancestors([effect])) - {cause, effect}
    return tuple(node for node in dag.observed if node in between)
