"""Answers that quote for every sentence: made, verified, silent where unsure, kept for an audit."""
