"""Norms of policies that cannot both be kept, and which of them prevails."""
