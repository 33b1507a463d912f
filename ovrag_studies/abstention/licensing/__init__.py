"""Licences: what a graph says of a claim, with its proof, and the proof checked again."""
