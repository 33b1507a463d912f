"""From results to a thesis: where each comes from, and how it gets into LaTeX.

Apart from `report`, which makes the results, so that a change here leaves the stages that made them up to date.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
