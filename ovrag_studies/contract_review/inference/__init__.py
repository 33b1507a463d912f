"""What agreements say of hypotheses: by cues, by learned weights, by a chat model."""
