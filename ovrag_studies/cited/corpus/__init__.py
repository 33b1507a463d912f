"""Policies as paragraphs: read from files, indexed, searched, and the golden queries about them."""
