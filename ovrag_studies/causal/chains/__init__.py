"""Chains of causes: prompts, drafts and the simulator that stands in for a model, the loop, arms and sweeps."""
