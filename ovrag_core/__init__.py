"""Workbench for ontology-validated retrieval-augmented generation (OV-RAG)."""

__version__ = "0.1.0"
