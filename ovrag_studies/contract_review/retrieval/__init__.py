"""Chunks of contracts found: what to look for, rankings, and a second look at the best."""
