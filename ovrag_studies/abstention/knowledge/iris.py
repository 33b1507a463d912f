"""Tests of whether a text is an IRI."""

from __future__ import annotations

import re

_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
# A scheme that was written into the path of another IRI, and what no IRI may hold (RFC 3987).
_SECOND_SCHEME = re.compile(r"(?<=.)https?_//", re.DOTALL)
_NOT_IN_AN_IRI = re.compile(r'[\x00-\x20<>"{}|\\^`]')


def malformed(iri: str) -> bool:
    """Return True where a text begins as an IRI but cannot be one, or holds the scheme of a second."""
    if not re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", iri):
        return False
    return bool(_SECOND_SCHEME.search(iri) or _NOT_IN_AN_IRI.search(iri))


def is_iri(text: str) -> bool:
    """Return True for an IRI with an authority, such as `http://host/path`; any other text is a literal."""
    return bool(_IRI.fullmatch(text)) and not malformed(text)
