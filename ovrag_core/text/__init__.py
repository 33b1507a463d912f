"""Text as such: lines, numerals, passages and quotes. Nothing about any kind of document."""
