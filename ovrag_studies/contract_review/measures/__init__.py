"""Measures of chunks, answers and judgements, and the scoring of files of them."""
