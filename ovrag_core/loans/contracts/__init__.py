"""The synthetic corpus: terms, seeded sampling, wording, PDFs, and ground truth."""

from ovrag_core.loans.contracts.contract_truth import ContractTruth, load_truth
from ovrag_core.loans.contracts.generator import Wording, generate

__all__ = ["ContractTruth", "Wording", "generate", "load_truth"]
