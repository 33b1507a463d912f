"""Abstention on a knowledge graph: who answers what a graph supports, rejects what it contradicts, and stays silent.

Re-implements, measures and corrects an experiment of late 2025 on rivers from DBpedia (arXiv 2511.06073).
"""
