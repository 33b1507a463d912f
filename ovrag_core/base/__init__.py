"""Types, errors, settings, progress and the project's places, on which every room stands."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
