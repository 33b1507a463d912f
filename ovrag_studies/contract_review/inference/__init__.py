"""Judgements of hypotheses about agreements: by cues, by learned weights, by a chat model."""
