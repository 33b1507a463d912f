"""Causal models: graphs, Boolean and structural equations, and what a graph lets one compute."""
