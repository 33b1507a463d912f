"""Read what sentences of policies say: quantities, forces, actors, and words that mean the same."""
