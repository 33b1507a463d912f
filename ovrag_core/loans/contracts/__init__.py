"""The synthetic corpus: terms, seeded sampling, wording, PDFs, and ground truth."""

from ovrag_core.loans.contracts.corpus import Wording, generate
from ovrag_core.loans.contracts.truth import ContractTruth, load_truth

__all__ = ["ContractTruth", "Wording", "generate", "load_truth"]
