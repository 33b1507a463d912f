"""Systems that answer cards."""
