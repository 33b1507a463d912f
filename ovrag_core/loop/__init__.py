"""The loop of a query: answer, read, check, correct."""
