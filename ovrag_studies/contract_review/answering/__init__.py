"""Learned answers to the checklist: what is seen of a contract, scored, and picked as spans."""
