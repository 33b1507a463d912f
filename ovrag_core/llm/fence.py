"""Texts of others inside a prompt: fenced off, so that nothing in them can pass for the prompt's own words."""

from __future__ import annotations

import hashlib


def fence(*texts: str) -> str:
    """A line to put before and after texts that stands in none of them, nor could be foreseen by who wrote them."""
    return f"-----{hashlib.sha256(chr(0).join(texts).encode('utf-8', 'replace')).hexdigest()[:12]}-----"
