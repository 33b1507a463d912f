"""Measures of what a run is worth: confusion, quality, latency, contamination and their intervals."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
