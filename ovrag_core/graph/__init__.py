"""A store of triples behind one small interface: in this process (pyoxigraph), or a SPARQL 1.1 endpoint.

Terms are pyoxigraph's own. They are bound to the variables of a query and never pasted into its text, `SERVICE` is
refused, and a question that got no answer raises `Unchecked`: it is never taken for a no.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
