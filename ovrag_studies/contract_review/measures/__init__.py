"""How good chunks, answers and judgements are, and files of them scored."""
