"""Documents: PDF, plain text, HTML and DOCX read into one `Document` whose offsets count characters of its text.

For plain text that is the file itself, decoded; else it is extracted here, with ligatures, invisible characters and
hyphenated line breaks normalised. The kind of a file is told by its content; the suffix is a hint only.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
