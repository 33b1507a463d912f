"""The loan ontology: loading, assertions, reasoning, explanation and shapes."""
