"""The synthetic corpus of loan contracts and its ground truth."""
