"""Readers of language: lines, sentences, words and stems, numbers, money, dates, negation; word lists beside them."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
