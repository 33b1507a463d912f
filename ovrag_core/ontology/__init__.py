"""The ontology: loading, assertions, reasoning, explanation and shapes. What is true of loans is in `ontologies/`."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
