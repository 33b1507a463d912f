"""Measures of chains and questions, and their tables and figures."""
