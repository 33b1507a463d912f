"""Circles in a directed graph, found in time that is linear in its edges and without recursion."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def on_circles(edges: Mapping[Node, Iterable[Node]]) -> set[Node]:
    """The nodes from which a way leads back to themselves, by the strong components of the graph (Gabow, 2000)."""
    found: set[Node] = set()
    number: dict[Node, int] = {}  # of nodes in the order in which they are entered
    done: set[Node] = set()  # nodes of components that are whole
    for root in edges:
        if root in number:
            continue
        number[root] = len(number)
        ways: list[tuple[Node, Iterator[Node]]] = [(root, iter(edges[root]))]
        waiting, firsts = [root], [root]  # nodes of no whole component, and those of them that may begin one
        while ways:
            node, onward = ways[-1]
            for other in onward:
                if other not in number:
                    number[other] = len(number)
                    ways.append((other, iter(edges.get(other, ()))))
                    waiting.append(other)
                    firsts.append(other)
                    break
                if other == node:
                    found.add(node)
                while other not in done and number[firsts[-1]] > number[other]:
                    firsts.pop()
            else:
                ways.pop()
                if firsts[-1] == node:
                    firsts.pop()
                    whole = _taken(waiting, node)
                    done |= whole
                    found |= whole if len(whole) > 1 else set()
    return found


def _taken(waiting: list[Node], first: Node) -> set[Node]:
    """What waits from a node on, which then waits no more."""
    taken = {waiting.pop()}
    while first not in taken:
        taken.add(waiting.pop())
    return taken
