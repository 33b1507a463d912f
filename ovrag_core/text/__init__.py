"""Readers of language: lines, sentences, words and stems, numbers, money, dates, negation; word lists beside them."""
