"""What a run is worth: confusion, quality, latency, contamination and their intervals."""
