"""The loop of an answer: retrieve, answer, extract, check, correct; arms, causes and identity of documents."""
