"""Causal English read: sentences, the words that relate a cause and an effect, and mentions taken apart."""
