"""Causal chains: statements verified against a graph, effects computed by a real causal model."""
