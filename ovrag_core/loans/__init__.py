"""Loan agreements: the generator, the reader, review, deals and replies. Only `app` stands above it."""
