"""Parts that studies share: settings, commands, scores, and the book of tables and figures."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
