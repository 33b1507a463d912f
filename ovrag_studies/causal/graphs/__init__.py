"""Statements checked against a causal graph: its vocabulary and store, names linked, verdicts."""
