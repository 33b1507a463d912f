"""A store of triples behind one small interface: in this process (pyoxigraph), or a SPARQL 1.1 endpoint.

Terms are pyoxigraph's own. They are bound to the variables of a query and never pasted into its text, `SERVICE` is
refused, and a question that got no answer raises `Unchecked`: it is never taken for a no.
"""

from ovrag_core.base.errors import Unchecked
from ovrag_core.graph.loading import LABEL, TYPE, FactTable, LoadReport
from ovrag_core.graph.store import EmbeddedStore, Store, Term, load_graph, open_graph

__all__ = [
    "LABEL",
    "TYPE",
    "EmbeddedStore",
    "FactTable",
    "LoadReport",
    "Store",
    "Term",
    "Unchecked",
    "load_graph",
    "open_graph",
]
