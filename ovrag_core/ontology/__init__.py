"""The ontology: loading, assertions, reasoning, explanation and shapes. What is true of loans is in `ontologies/`."""
