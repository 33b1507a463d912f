"""From a question to the claim that it makes."""
