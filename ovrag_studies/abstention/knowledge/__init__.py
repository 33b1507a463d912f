"""Knowledge of a graph: its domain, what is known of a thing, what is alike."""
