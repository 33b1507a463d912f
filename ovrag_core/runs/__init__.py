"""Runs of an experiment: arms × documents × questions, resumable, with their files and ground truth."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
