"""The IRIs of the causal vocabulary, which `data/samples/causal/graph.ttl` declares and uses.

`raises` and `lowers` are signed effects, disjoint, and parts of `affects`, which has no circle; `has no effect on` is
disjoint with all of them. Everything else is unknown: a triple that is missing says nothing.
"""

from collections.abc import Mapping

from pyoxigraph import NamedNode

NAMESPACE = "urn:ovrag:causal#"
FACTOR = NamedNode(NAMESPACE + "Factor")

RAISES = NamedNode(NAMESPACE + "raises")
LOWERS = NamedNode(NAMESPACE + "lowers")
AFFECTS = NamedNode(NAMESPACE + "affects")
NO_EFFECT_ON = NamedNode(NAMESPACE + "noEffectOn")
STATED = (RAISES, LOWERS, AFFECTS, NO_EFFECT_ON)  # what a graph may state of an effect
SIGNS: Mapping[NamedNode, int] = {RAISES: 1, LOWERS: -1}

ALT_LABEL = NamedNode("http://www.w3.org/2004/02/skos/core#altLabel")
RISE_LABEL = NamedNode(NAMESPACE + "riseLabel")  # a name for more of it: "warming" of a temperature
FALL_LABEL = NamedNode(NAMESPACE + "fallLabel")
