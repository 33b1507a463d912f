"""From text to triples with evidence."""
