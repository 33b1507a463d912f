"""Graphs of contracts: how they are made, summed up and walked."""
