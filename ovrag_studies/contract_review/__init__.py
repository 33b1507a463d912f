"""Contract review on CUAD and ContractNLI: which passages of a contract answer a checklist, and what they entail.

Re-implements, measures and extends the experiments of a master thesis (TU Delft, November 2024).
"""
