"""Cited or silent: answers about company policies with a quotation for every sentence, or none at a controlled risk.

Re-implements, measures and extends the experiments of a bachelor dissertation on questions about company policies
(COMP3931, University of Leeds, 2026).
"""
