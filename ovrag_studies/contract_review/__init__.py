"""Contract review: which passages of a contract answer a checklist, and what they entail.

Re-implements, measures and extends the experiments of a master thesis on retrieval-augmented contract review (TU Delft,
November 2024) on CUAD (Hendrycks et al. 2021) and ContractNLI (Koreeda and Manning 2021).
"""
