"""Workbench for ontology-validated retrieval-augmented generation (OV-RAG)."""

__version__ = "1.1.0"
