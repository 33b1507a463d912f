"""The synthetic corpus: terms, seeded sampling, wording, PDFs, and ground truth."""
