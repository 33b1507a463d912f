"""From results to a thesis: where each comes from, and how it gets into LaTeX.

Apart from `thesis`, which makes the results, so that a change here leaves the stages that made them up to date.
"""
