"""The ontology: loading, assertions, reasoning, explanation and shapes. Loan knowledge is in `ontologies/`, none is here."""
