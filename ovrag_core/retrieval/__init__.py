"""Embedding and search of chunks."""
