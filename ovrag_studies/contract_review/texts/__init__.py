"""Data sets, their folds, and what the text of a contract shows: clauses, structure, chunks."""
