"""The loop of an answer: retrieve, answer, extract, check, correct; arms, causes and identity of documents."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
